// Commands that maintain the run history. Torch-free; no plugin is loaded.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "tools/ablate/questions/questions.h"

namespace ablate {

inline constexpr const char* kKeeping = "Keep the run history";  ///< group in `ablate --help`

/// "1 trial", "3 trials".
inline std::string counted(std::int64_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

/// The callbacks print to stdout, set exit_code and throw ablate::Error.
/// @param database returns the file after options are parsed; the objects that it refers to, and exit_code, must outlive app
void add_db(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_experiment(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_import(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_merge(CLI::App& app, const DatabaseFile& database, int& exit_code);

}  // namespace ablate
