#include "db/questions/repeat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "core/util/rate_text.h"
#include "core/util/shell_word.h"
#include "db/history/schema.h"

namespace ablate::db {
namespace {

using nlohmann::ordered_json;

/// Whether a parameter's text looks like one; "1/2,1/4" does not.
bool is_relative_path(const ordered_json& value) {
  if (!value.is_string()) return false;
  const auto text = value.get<std::string>();
  return text.find('/') != std::string::npos && text.front() != '/' && !parse_rate(text.substr(0, text.find(',')));
}

}  // namespace

Repeat repeat_of(const StoredStudy& study, const std::string& key, const std::vector<std::string>& folders,
                 const ordered_json& parameters, const std::vector<std::string>& changed) {
  // A trial that is done is not run again in the same history, so the repetition has one of its own.
  Repeat repeat{"ABLATE_DB=repeat.db ablate run " + shell_word(study.file), ""};
  for (const auto& folder : folders) repeat.command += " --plugins " + shell_word(folder);
  for (const auto& override_ : study.overrides) repeat.command += " --set " + shell_word(override_.get<std::string>());
  repeat.command += " --only " + shell_word(key.substr(0, 12));
  std::ifstream in;
  if (std::error_code none; std::filesystem::is_regular_file(study.file, none)) in.open(study.file, std::ios::binary);
  const bool same = in.is_open() && std::string(std::istreambuf_iterator<char>(in), {}) == study.text;
  if (!study.listed)
    repeat.note = "the study has changed since: its latest grid does not have this trial";
  else if (!in.is_open())
    repeat.note = "the study is no longer there";
  else if (!same)
    repeat.note = "the study has changed since: its file is not what was run";
  const auto add = [&](const std::string& note) { repeat.note += (repeat.note.empty() ? "" : "; ") + note; };
  if (!changed.empty())
    add(fmt::format("the code of {} has changed since, and with it the key: --dry-run shows today's",
                    fmt::join(changed, ", ")));
  if (std::any_of(parameters.begin(), parameters.end(), is_relative_path))
    add("relative paths are meant from where the study was run");
  return repeat;
}

std::vector<std::string> named_folders(const Reader& reader, std::int64_t experiment,
                                       const std::vector<std::filesystem::path>& default_folders) {
  std::vector<std::string> folders;
  const auto canonical = [](const std::filesystem::path& folder) {
    std::error_code none;
    const auto found = std::filesystem::weakly_canonical(folder, none);
    return found.empty() ? folder.lexically_normal() : found;
  };
  SQLite::Statement libraries(
      reader.database(),
      "SELECT DISTINCT p.path FROM experiment_trial m JOIN attempt a ON a.trial = m.trial JOIN plugin_of_set u "
      "ON u.plugin_set = a.plugin_set JOIN plugin p ON p.id = u.plugin WHERE m.experiment = ? ORDER BY p.id");
  libraries.bind(1, experiment);
  while (libraries.executeStep()) {
    const auto folder = std::filesystem::path(libraries.getColumn(0).getString()).parent_path();
    const bool is_default = std::any_of(default_folders.begin(), default_folders.end(),
                                        [&](const auto& other) { return canonical(other) == canonical(folder); });
    if (!folder.empty() && !is_default && std::find(folders.begin(), folders.end(), folder.string()) == folders.end())
      folders.push_back(folder.string());
  }
  return folders;
}

}  // namespace ablate::db
