#include "tools/ablate/questions/table_request.h"

#include "core/host/study/grid_match.h"
#include "core/shared/versions.h"
#include "core/util/shell_word.h"
#include "tools/ablate/plugin_options.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/questions/verdict_today.h"

namespace ablate {
namespace {

/// --plugins of the program whose command it is: a history alone has none.
std::vector<std::string> named_folders(const CLI::App* command) {
  const auto* option = command->get_parent() == nullptr ? nullptr : command->get_parent()->get_option_no_throw("--plugins");
  return option == nullptr ? std::vector<std::string>() : option->results();
}

}  // namespace

db::TableRequest usual_request(const CLI::App* command, const db::Reader& reader, const std::filesystem::path& database) {
  db::TableRequest request;
  request.verdict_today = [&reader](const UsedPlugin& plugin) { return verdict_today(reader, plugin); };
  request.matched_by = [&reader](const std::string& experiment) {
    return match_of(reader.study_text(experiment), reader.study_file(experiment), reader.study_overrides(experiment));
  };
  request.check_options = [command](const auto& libraries) { return plugin_options(named_folders(command), libraries); };
  if (const auto file = database.string(); file != kDefaultDatabase)  // another shell may have no ABLATE_DB
    request.database_option = " --db " + shell_word(file);
  request.suite = kSuiteVersion;
  request.floors_version = kFloorsVersion;
  return request;
}

}  // namespace ablate
