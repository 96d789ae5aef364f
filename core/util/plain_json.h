// JSON that is safe to show in a terminal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ablate {

/// Returns a json or an ordered_json as text. All but printable ASCII is written as \uXXXX, so no text can steer a terminal,
/// and no text is lost. Bytes that are not UTF-8 become U+FFFD.
/// @param indent blanks for each level; -1: one line
template <class Json>
std::string plain_json(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace ablate
