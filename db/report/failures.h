// The trials of a cell that are not done, in words.
#pragma once

#include <string>

#include "db/types/table.h"

namespace ablate::db {

/// "failed 2/3: signal 11, missing 1/3"; "" where all trials are done. first_line shortens the reasons.
std::string failure_text(const Cell& cell);

}  // namespace ablate::db
