#include "tools/ablate/questions/questions.h"

#include "db/history/reader.h"
#include "tools/ablate/streams.h"

namespace ablate {

void add_questions(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  add_table(app, database, exit_code);
  add_power(app, database, exit_code);
  add_attempts(app, database, exit_code);
  add_watch(app, database, exit_code);
  add_show(app, database, exit_code);
  add_diff(app, database, exit_code);
  add_query(app, database, exit_code);
  add_export(app, database, exit_code);
}

void warn_of_left_out(const db::Reader& reader) {
  for (const auto& line : reader.left_out()) say("warning: {}\n", line);
}

}  // namespace ablate
