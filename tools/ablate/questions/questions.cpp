#include "tools/ablate/questions/questions.h"

namespace ablate {

void add_questions(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  add_table(app, database, exit_code);
  add_runs(app, database, exit_code);
  add_show(app, database, exit_code);
  add_query(app, database, exit_code);
}

std::string refuse_empty(const std::string& name) {
  return name.empty() ? "found an empty name, expected one of an experiment; without any all are meant" : "";
}

}  // namespace ablate
