#include "core/host/study/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/util/nearest.h"

namespace ablate {
namespace {

std::string joined(const std::vector<Diagnostic>& diagnostics) {
  std::string all;
  for (const auto& d : diagnostics) {
    if (!all.empty()) all += '\n';
    all += d.where.file == kOverrideFile ? fmt::format("{} {}", kOverrideFile, d.message)
                                         : fmt::format("{}: {}", to_text(d.where), d.message);
  }
  return all;
}

ExitCode code_of(const std::vector<Diagnostic>& diagnostics) {
  const auto is_plugin = [](const Diagnostic& d) { return d.code == ExitCode::kPlugin; };
  return std::any_of(diagnostics.begin(), diagnostics.end(), is_plugin) ? ExitCode::kPlugin : ExitCode::kUsage;
}

}  // namespace

ConfigError::ConfigError(std::vector<Diagnostic> diagnostics)
    : Error(joined(diagnostics), code_of(diagnostics)), diagnostics_(std::move(diagnostics)) {}

void Diagnostics::add(const Location& where, const std::string& message, ExitCode code) {
  const bool from_command_line = where.file == kOverrideFile;
  std::string text = message;
  if (from_command_line && where.line >= 1 && static_cast<std::size_t>(where.line) <= overrides_.size())
    text = overrides_[where.line - 1] + ": " + message;
  found_.emplace(from_command_line, where.file, where.line, where.column, std::move(text), code);
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> result;
  for (const auto& [from_command_line, file, line, column, message, code] : found_)
    result.push_back({{file, line, column}, message, code});
  return result;
}

std::string to_text(const Location& where) {
  if (where.file == kOverrideFile || where.line == 0) return where.file;
  return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

std::string show(const nlohmann::json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return fmt::format("{}", value.get<double>());
  // Bytes from the command line may not be UTF-8.
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  if (const auto text = hint(name, candidates); !text.empty() || candidates.empty()) return text;
  return fmt::format(" (known: {})", fmt::join(candidates, ", "));
}

}  // namespace ablate
