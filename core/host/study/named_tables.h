// The [table.NAME] of a study: tables that a researcher named, asked of the history by `ablate table EXPERIMENT --table NAME`.
// No part of a trial or a key.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/host/study/study.h"

namespace ablate {

struct Node;
class Diagnostics;

/// Reads [table] into tables: what a key may be is not known here. Errors go to diagnostics.
void read_tables(const Node& table, std::vector<NamedTable>& tables, Diagnostics& diagnostics);

/// Those of a study's text, which was right when it ran; none where the text is no TOML any more. @param file for locations
std::vector<NamedTable> named_tables(const std::string& text, const std::string& file);

}  // namespace ablate
