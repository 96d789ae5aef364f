// The [table.NAME] sections of a study: tables for `ablate table EXPERIMENT --table NAME`. Not a part of a trial or a key.
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

/// Returns the tables in the text of a study that has run, or none if the text is not valid TOML. Locations name `file`.
std::vector<NamedTable> named_tables(const std::string& text, const std::string& file);

}  // namespace ablate
