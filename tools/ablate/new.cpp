// ablate new: creates a folder with a plugin that builds, passes `ablate check` and runs in a grid unchanged.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/host/client/start_worker.h"
#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/shell_word.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/streams.h"
#include "tools/ablate/templates/templates.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

struct NewArguments {
  std::string kind, name, in = ".";
  bool cuda = false;
};

/// Splits a name at capitals, blanks, underscores and hyphens.
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool starts = std::isupper(c) != 0 && i > 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if ((starts || std::isalnum(c) == 0) && !words.back().empty()) words.emplace_back();
    if (std::isalnum(c) != 0) words.back() += static_cast<char>(std::tolower(c));
  }
  if (words.back().empty() && words.size() > 1) words.pop_back();
  return words;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string camel_case(std::vector<std::string> words) {
  for (auto& word : words) word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  return joined(words, "");
}

void check_kind(const std::string& kind) {
  const std::vector<std::string> kinds = {"attention", "compression", "task"};
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
    throw Error(fmt::format("found the kind {}, expected attention, compression or task{}", kind, hint(kind, kinds)));
}

void check_name(const std::string& name) {
  const auto words = words_of(name);
  const auto kebab = joined(words, "-");
  const bool can_be_one = !kebab.empty() && std::isalpha(static_cast<unsigned char>(kebab[0])) != 0;
  if (name != kebab || !can_be_one || name.size() > 64)
    throw Error(
        fmt::format("found the name {}, expected at most 64 lower-case letters and digits in words joined by '-', the "
                    "first a letter{}",
                    name, can_be_one && kebab != name && kebab.size() <= 64 ? " (did you mean " + kebab + "?)" : ""));
  // CMake reserves these target names, and the library's target has the plugin's name.
  for (const char* taken : {"all", "clean", "help", "install", "package", "preinstall", "test"})
    if (name == taken) throw Error(fmt::format("the name {0} is taken by CMake's own target; try my-{0}", name));
}

/// Returns the files of a new folder. If several templates have the same file name, the most specific template is used.
std::vector<Template> files_of(const NewArguments& arguments) {
  std::vector<Template> files;
  std::vector<std::string> sets = {arguments.kind, ""};
  if (arguments.cuda) sets.insert(sets.begin(), arguments.kind + "-cuda");
  for (const auto& set : sets)
    for (const auto& file : kTemplates)
      if (file.kind == set && std::none_of(files.begin(), files.end(), [&](const auto& one) { return one.name == file.name; }))
        files.push_back(file);
  return files;
}

void check_cuda(const NewArguments& arguments) {
  if (arguments.cuda && arguments.kind != to_text(Kind::kAttention))
    throw Error(
        fmt::format("--cuda: found the kind {}, expected attention, whose template has a kernel; "
                    "ablate_add_plugin(... CUDA_SOURCES ...) adds a kernel to any plugin",
                    arguments.kind));
}

/// Throws Error if `ablate plugins` already lists a plugin of this kind and id, because ablate refuses a second such plugin.
void check_free(const NewArguments& arguments, const Options& options) {
  auto executors = local_workers();
  for (const auto& library : find_libraries(options, executors))
    if (library.refusal.empty() && library.info.id == arguments.name && to_text(library.info.kind) == arguments.kind)
      throw Error(
          fmt::format("the {} {} exists, in {}; choose another name", arguments.kind, arguments.name, library.path.string()));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// Throws Error if the folder exists or cannot be made.
fs::path make_folder(const NewArguments& arguments) {
  std::error_code failed;
  if (!fs::is_directory(arguments.in, failed))
    throw Error(fmt::format("--in {}: no such folder; expected the folder to make the new folder in", arguments.in));
  auto folder = (fs::path(arguments.in) / arguments.name).lexically_normal();
  if (fs::exists(folder, failed))
    throw Error(fmt::format("{} already exists and was not changed; choose another name, or another folder with --in",
                            folder.string()));
  if (!fs::create_directory(folder, failed))
    throw Error(fmt::format("{} cannot be made: {}", folder.string(), failed.message()));
  return folder;
}

int make(const NewArguments& arguments, const Options& options) {
  check_kind(arguments.kind);
  check_cuda(arguments);
  check_name(arguments.name);
  check_free(arguments, options);
  const auto folder = make_folder(arguments);
  const auto words = words_of(arguments.name);
  const auto fill = [&](std::string_view text) {
    auto filled = replaced(std::string(text), "my-method", arguments.name);
    filled = replaced(filled, "my_method", joined(words, "_"));
    return replaced(replaced(filled, "MyMethod", camel_case(words)), "KIND", arguments.kind);
  };
  print("{}/\n", path_text(folder));
  for (const auto& file : files_of(arguments)) {
    const auto name = fill(file.name);
    std::ofstream stream(folder / name, std::ios::binary);
    if (!(stream << fill(file.text)).flush()) throw Error(fmt::format("{} cannot be written", (folder / name).string()));
    print("  {}\n", name);
  }
  // ablate's CMake package is in the program's prefix, both after an installation and in a build tree.
  const auto prefix = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  print(
      "\nNext:\n  cd {}\n  cmake -B build -G Ninja -DCMAKE_PREFIX_PATH={}\n  cmake --build build && ctest --test-dir build\n"
      "  ablate --plugins build run study.toml && ablate table {}\n",
      shell_word(folder.string()), shell_word(prefix.string()), arguments.name);
  return 0;
}

}  // namespace

void add_new(CLI::App& app, const Options& options, int& exit_code) {
  auto* command = app.add_subcommand("new", "Write a folder for a new plugin, ready to build: source, test and a study")
                      ->group("Write plugins");
  auto arguments = std::make_shared<NewArguments>();
  command->add_option("KIND", arguments->kind, "attention, compression or task")->required()->type_name("");
  command->add_option("NAME", arguments->name, "the plugin's id, and the name of its library and folder: my-attention")
      ->required()
      ->type_name("");
  command->add_option("--in", arguments->in, "make the new folder in DIR; default: here")->type_name("DIR");
  command->add_flag("--cuda", arguments->cuda, "an attention with a CUDA kernel, and a test of it on a CPU");
  command->footer("Example:\n  ablate new attention my-attention");
  command->callback([=, &options, &exit_code] { exit_code = make(*arguments, options); });
}

}  // namespace ablate
