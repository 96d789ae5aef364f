// Audits the data of one task, keeps what was found in the history, and prints it.
#pragma once

#include <string>
#include <vector>

#include "db/report/printers.h"
#include "tools/ablate/commands.h"

namespace ablate {

struct AuditArguments {
  std::string task;                       ///< an id, or the path of a library
  std::vector<std::string> parameters;    ///< NAME=VALUE
  bool again = false;                     ///< also where the history has what was found
  int timeout_s = 600;                    ///< for the audit, once the data are loaded
  db::Format format = db::Format::kText;  ///< or kJson
};

/// What was found in the data of this digest by this suite is told, and not looked for again. What is not the data's doing, as
/// a time limit, is told and not kept. @return the exit code. Throws Error where there is no such task or parameter, where the
/// data cannot be loaded, or where the history cannot be written.
int run_audit(const AuditArguments& arguments, const Options& options);

}  // namespace ablate
