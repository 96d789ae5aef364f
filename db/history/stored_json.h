// Parses JSON from a file that anybody may have written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ablate::db {

/// Parses a text as JSON (json or ordered_json). Another program may have written any text, nested to any depth.
/// @return a discarded value (is_discarded()) if the text is not valid or is too deep
template <class Json = nlohmann::json>
Json stored_json(const std::string& text) {
  constexpr int kDeepest = 100;
  bool is_too_deep = false;
  auto value = Json::parse(
      text,
      [&](int depth, typename Json::parse_event_t, Json&) {
        is_too_deep = is_too_deep || depth > kDeepest;
        return !is_too_deep;
      },
      false);
  return is_too_deep ? Json(Json::value_t::discarded) : value;
}

/// Returns a member that is a text; "" if there is none.
inline std::string text_at(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace ablate::db
