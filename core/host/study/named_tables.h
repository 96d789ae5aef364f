// The [table.NAME] sections of a study: named tables for `ablate table EXPERIMENT --table NAME`. Not a part of a trial or a
// key.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/host/study/study.h"

namespace ablate {

struct Node;
class Diagnostics;

/// Reads [table] into tables, without a check of the keys. Errors go to diagnostics.
void read_tables(const Node& table, std::vector<NamedTable>& tables, Diagnostics& diagnostics);

/// Returns the tables in a study's text, which was valid when it ran, or none if it is not TOML any more. @param file for
/// locations
std::vector<NamedTable> named_tables(const std::string& text, const std::string& file);

}  // namespace ablate
