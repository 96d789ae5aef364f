#include "db/report/printers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/util/error.h"
#include "core/util/nearest.h"

namespace ablate::db {

const Printer& printer_of(Format format) {
  static constexpr const Printer* kAll[] = {
#define ABLATE_FORMAT(format, file, ...) &printers::file,
      ABLATE_FORMATS(ABLATE_FORMAT)
#undef ABLATE_FORMAT
  };
  const auto at = static_cast<std::size_t>(format);
  if (at >= std::size(kAll))
    throw Error(fmt::format("format {} is none of {}", static_cast<int>(format), fmt::join(format_names(), ", ")));
  return *kAll[at];
}

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names = {
#define ABLATE_FORMAT(format, file, name, help) name,
      ABLATE_FORMATS(ABLATE_FORMAT)
#undef ABLATE_FORMAT
  };
  return names;
}

std::string formats_help() {
  static const std::vector<std::string> all = {
#define ABLATE_FORMAT(format, file, name, help) name " (" help ")",
      ABLATE_FORMATS(ABLATE_FORMAT)
#undef ABLATE_FORMAT
  };
  return fmt::format("{}", fmt::join(all, ", "));
}

Format format_from_name(const std::string& name) {
  const auto& names = format_names();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) throw Error(fmt::format("no format \"{}\"{}", name, hint(name, names)));
  return static_cast<Format>(at - names.begin());
}

std::string to_text(const Table& table, Format format) { return printer_of(format).table(table); }

}  // namespace ablate::db
