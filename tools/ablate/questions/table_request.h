// Requests of commands for tables: the parts that depend on this machine, and tables that studies name, [table.NAME].
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/history/reader.h"
#include "db/questions/tables/make_table.h"

namespace ablate {

/// A request with the verdicts of today, the options that find plugins and this history again, and the suite.
/// @param command,reader outlive the request
db::TableRequest usual_request(const CLI::App* command, const db::Reader& reader, const std::filesystem::path& database);

/// Asks what the table of that name asks, as the study of one of the request's experiments (of the only one of the history
/// where it names none) has it, but for the options in `instead` and those that they exclude. Throws Error where no study, or
/// several, have it.
void ask_as_named(const db::Reader& reader, const std::string& name,
                  const std::map<std::string, std::vector<std::string>>& instead, db::TableRequest& request);

/// The verdict in the user's cache, else what this suite's version told the history; nothing where neither knows that code.
std::optional<PluginVerdict> verdict_today(const db::Reader& history, const UsedPlugin& plugin);

}  // namespace ablate
