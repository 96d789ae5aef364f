#include "tools/ablate/questions/questions.h"

namespace ablate {

void add_questions(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  add_table(app, database, exit_code);
  add_attempts(app, database, exit_code);
  add_show(app, database, exit_code);
  add_query(app, database, exit_code);
}

}  // namespace ablate
