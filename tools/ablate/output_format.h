// --format: the format of a command's answer.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "db/report/printers.h"
#include "tools/ablate/offers.h"

namespace ablate {

/// Adds --format. `format` must outlive the command.
/// @param names subset of db::format_names() that the command writes; the parser throws Error for other names
/// @param help text beyond the names
inline CLI::Option* add_format(CLI::App* command, db::Format& format, const std::vector<std::string>& names,
                               const std::string& help) {
  return command
      ->add_option_function<std::string>(
          "--format",
          [command = command->get_name(), &format, names](const std::string& name) {
            if (std::find(names.begin(), names.end(), name) == names.end())
              throw Error(fmt::format("no format \"{}\" of {}{}", name, command, hint(name, names)));
            format = db::format_from_name(name);
          },
          help)
      ->check(offers(names))
      ->type_name("FORMAT");
}

}  // namespace ablate
