#include "tools/ablate/questions/questions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/util/error.h"
#include "db/history/reader.h"
#include "db/report/format.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/streams.h"

namespace ablate {

void add_questions(CLI::App& app, const DatabaseFile& database, const SharesStanding& shares, int& exit_code) {
  add_table(app, database, exit_code);
  add_verify(app, database, exit_code);
  add_power(app, database, exit_code);
  add_effects(app, database, exit_code);
  add_claims(app, database, exit_code);
  add_windows(app, database, exit_code);
  add_attempts(app, database, exit_code);
  add_watch(app, database, shares, exit_code);
  add_show(app, database, exit_code);
  add_diff(app, database, exit_code);
  add_query(app, database, exit_code);
  add_export(app, database, exit_code);
}

void add_questions(CLI::App& app, const DatabaseFile& database, int& exit_code) { add_questions(app, database, {}, exit_code); }

void add_experiments(CLI::App* command, std::vector<std::string>& experiments) {
  command
      ->add_option("EXPERIMENT", experiments,
                   "only the trials of these experiments' latest grids; required if the history has several experiments")
      ->type_name("")
      ->check(not_empty());
}

void add_as_of_table(CLI::App* command, const char* name, std::vector<std::string>& values, const char* type, char delimiter) {
  auto* option = command->add_option(name, values, "the same as for `ablate table`")->check(not_empty())->type_name(type);
  option->allow_extra_args(false);
  if (delimiter != '\0') option->delimiter(delimiter);
}

void refuse_several(const db::Reader& reader, const std::string& remedy) {
  auto names = reader.experiments();
  for (auto& name : names) name = db::one_row(name);
  if (names.size() > 1)
    throw Error(
        fmt::format("{} has {} experiments: {}; {}", reader.file().string(), names.size(), fmt::join(names, ", "), remedy));
}

void warn_of_left_out(const db::Reader& reader) {
  for (const auto& line : reader.left_out()) say("warning: {}\n", line);
}

}  // namespace ablate
