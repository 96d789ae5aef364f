// Trials of a cell that did not get done, in words.
#pragma once

#include <string>

#include "db/types/table.h"

namespace ablate::db {

/// "failed 2/3: signal 11, missing 1/3"; "" where all trials are done. Reasons as first_line has them.
std::string failure_text(const Cell& cell);

}  // namespace ablate::db
