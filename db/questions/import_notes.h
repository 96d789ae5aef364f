// What a table says of trials that ran elsewhere. Internal to db/.
#pragma once

#include <string>
#include <vector>

#include "db/questions/selection.h"

namespace ablate::db {

/// A note for each file that trials were imported from, in the trials' order; none where all ran here.
std::vector<std::string> import_notes(const Reader& reader, const std::vector<SelectedTrial>& trials);

}  // namespace ablate::db
