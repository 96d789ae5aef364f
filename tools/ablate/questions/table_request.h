// What every table of a command knows of this machine, whatever it is asked for.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>

#include "db/questions/make_table.h"

namespace ablate {

/// A request with the verdicts of today, the options that find plugins and this history again, and the suite.
/// @param command,reader outlive the request
db::TableRequest usual_request(const CLI::App* command, const db::Reader& reader, const std::filesystem::path& database);

}  // namespace ablate
