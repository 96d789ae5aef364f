#include "tools/ablate/completion/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "core/registry/scan.h"
#include "core/util/nearest.h"
#include "db/history/reader.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/completion/complete.h"
#include "tools/ablate/completion/scripts.h"
#include "tools/ablate/offers.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

db::Reader reader_of(const NameSources::Asked& asked) {
  Options options;
  options.database = asked.database;
  return db::Reader(options.database_file());
}

std::vector<std::string> paths_of(const NameSources::Asked& asked) {
  std::vector<std::string> names;
  for (const auto& [path, id] : reader_of(asked).paths()) names.push_back(path);
  return names;
}

std::vector<std::string> metrics_of(const NameSources::Asked& asked) {
  std::vector<std::string> names;
  for (const auto& metric : reader_of(asked).metrics()) names.push_back(metric.name);
  return names;
}

std::vector<PluginInfo> plugins_of(const NameSources::Asked& asked) {
  const auto cache = cache_folder();
  if (cache.empty()) return {};
  return remembered(plugin_folders({asked.folders.begin(), asked.folders.end()}), ABLATE_TORCH_VERSION, cache / "plugins.json");
}

std::string text_of(const std::string& file) {
  constexpr std::uintmax_t kMost = 1 << 20;  ///< bytes of a study
  std::error_code none;
  if (!fs::is_regular_file(file, none) || fs::file_size(file, none) > kMost) return "";
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> shells() {
  std::vector<std::string> names;
  for (const auto& script : completion_scripts()) names.push_back(script.shell);
  return names;
}

std::string refuse_shell(const std::string& text) {
  const auto names = shells();
  if (std::find(names.begin(), names.end(), text) != names.end()) return "";
  return fmt::format("found {}, expected bash, zsh or fish{}", text, hint(text, names));
}

}  // namespace

bool is_question(const std::vector<std::string>& words) {
  return words.size() > 2 && words[0] == "complete" && words[1] == "--";
}

void answer_question(CLI::App& app, const std::vector<std::string>& words) {
  const NameSources sources{.experiments = [](const auto& asked) { return reader_of(asked).experiments(); },
                            .metrics = metrics_of,
                            .paths = paths_of,
                            .plugins = plugins_of,
                            .text = text_of};
  try {
    const auto found = complete(app, {words.begin() + 2, words.end()}, sources);
    for (const auto& [word, about] : found.candidates) print("{}\t{}\n", db::one_row(word), db::first_line(about));
    if (!found.files.empty()) print(":{}\n", found.files);
  } catch (const std::exception&) {  // no history, or none that can be read: nobody has asked for an answer but the shell
  }
}

void add_completion(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("completion", "Print a script that completes ablate's words in a shell")->group("Help");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish; where it goes stands in its first lines")
      ->required()
      ->check(CLI::Validator(refuse_shell, "", ""))
      ->check(offers(shells()))
      ->type_name("");
  command->footer(
      "The script completes commands, options, plugins that a command has found before, paths of --set, and names of the "
      "history.\nExample:\n  ablate completion bash > ~/.local/share/bash-completion/completions/ablate");
  command->callback([shell, &exit_code] {
    for (const auto& script : completion_scripts())
      if (script.shell == *shell) print("{}", script.text);
    exit_code = 0;
  });
}

}  // namespace ablate
