// JSON that a terminal shows as it is.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ablate {

/// A json or an ordered_json as text. All but printable ASCII stands as \uXXXX, so that no text in it steers a terminal and
/// none is lost; what is no UTF-8 as U+FFFD.
/// @param indent blanks a level; -1: one line
template <class Json>
std::string plain_json(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace ablate
