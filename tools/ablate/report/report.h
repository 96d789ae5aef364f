// The command that makes a page of the run history. Torch-free.
#pragma once

#include "tools/ablate/questions/questions.h"

namespace ablate {

/// As add_questions.
void add_report(CLI::App& app, const DatabaseFile& database, int& exit_code);

}  // namespace ablate
