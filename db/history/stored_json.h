// JSON of a file that anybody may have written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ablate::db {

/// A text that is to be JSON. Of a file that another program has written it may be anything, as deep as it likes.
/// @param Json json or ordered_json @return discarded (is_discarded()) where it is none
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
