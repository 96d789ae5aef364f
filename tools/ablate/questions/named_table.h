// Tables that studies name, [table.NAME].
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/questions/make_table.h"

namespace ablate {

/// Asks what the table of that name asks, as the study of one of the request's experiments (of the only one of the history
/// where it names none) has it, but for the options in `instead` and those that they exclude. Throws Error where no study, or
/// several, have it.
void ask_as_named(const db::Reader& reader, const std::string& name,
                  const std::map<std::string, std::vector<std::string>>& instead, db::TableRequest& request);

}  // namespace ablate
