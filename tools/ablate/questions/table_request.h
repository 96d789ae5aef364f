// Table requests of commands: the parts that depend on the machine, and the tables that studies name ([table.NAME]).
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

/// Returns a request with today's verdicts, the suite, and the options by which a command finds the same plugins and history.
/// @param command,reader must outlive the request
db::TableRequest usual_request(const CLI::App* command, const db::Reader& reader, const std::filesystem::path& database);

/// Applies a named table to the request. The study of one of the request's experiments defines it; if the request names none,
/// all experiments of the history are searched. Options of `instead` replace the table's options, and remove the options that
/// they exclude. Throws Error if no study or several studies define the table.
void ask_as_named(const db::Reader& reader, const std::string& name,
                  const std::map<std::string, std::vector<std::string>>& instead, db::TableRequest& request);

/// Returns the verdict in the user's cache, else this suite's verdict in the history; nullopt if both have none.
std::optional<PluginVerdict> verdict_today(const db::Reader& history, const UsedPlugin& plugin);

}  // namespace ablate
