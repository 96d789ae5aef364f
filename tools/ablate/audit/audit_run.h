// Audits the data of one task, or of each task of a study, keeps what was found in the history, and prints it.
#pragma once

#include <string>
#include <vector>

#include "db/report/printers.h"
#include "tools/ablate/commands.h"

namespace ablate {

struct AuditArguments {
  std::string what;                       ///< a task's id, the path of its library, or a study's file (.toml)
  std::vector<std::string> set;           ///< NAME=VALUE of a task, PATH=VALUE of a study
  bool again = false;                     ///< also where the history has what was found
  int timeout_s = 600;                    ///< for the audit of one data set, once it is loaded
  db::Format format = db::Format::kText;  ///< or kJson
};

/// What was found in the data of this digest by this suite, and which floors these predictors gave, is told, and not looked for
/// again. What is not the data's doing, as a time limit, is told and not kept. @return the exit code. Throws Error where there
/// is no such task, parameter or study, where the data cannot be loaded, or where the history cannot be written.
int run_audit(const AuditArguments& arguments, const Options& options);

}  // namespace ablate
