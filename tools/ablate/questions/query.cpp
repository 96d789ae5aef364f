#include "db/questions/exports/query.h"

#include <fmt/format.h>

#include <memory>
#include <system_error>

#include "tools/ablate/output_format.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace ablate {

void add_query(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    std::vector<std::string> sql;  ///< one word, or several if the shell has split it
    db::Format format = db::Format::kText;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("query", "Query the history in SQL, read-only");
  command->group(kQuestions);
  command->add_option("SQL", arguments->sql, "one SELECT, in quotes; without it the views and their columns are listed")
      ->type_name("");
  add_format(command, arguments->format, db::format_names(), db::formats_help() + "; default: text");
  command->footer(
      "Views: trials (a column for each parameter and metric), attempts, curves, parameters, metrics, plugins, verdicts, "
      "audits, floors, experiments, tags, notes, members, published, proofs; without SQL they are listed with their columns. "
      "Names with a dot or a slash need double quotes.\n"
      "Example:\n"
      "  ablate query 'SELECT attention, avg(\"dev/accuracy\") FROM trials GROUP BY attention'");
  command->callback([arguments, database, &exit_code] {
    const auto& [sql, format] = *arguments;
    if (sql.size() > 1)
      throw Error(fmt::format("found SQL in {} words, split by the shell; put all of it in quotes: ablate query 'SELECT ...'",
                              sql.size()));
    exit_code = 0;
    if (sql.empty()) return print("{}", db::list_views(database(), format));
    try {
      db::run_query(
          database(), sql.front(), format, [](std::string_view part) { print("{}", part); }, stdout_is_read);
    } catch (const std::system_error&) {
      if (stdout_is_read()) throw;
      exit_code = kNoReader;
    }
  });
}

}  // namespace ablate
