#include "core/util/plain_text.h"

#include <nlohmann/json.hpp>

namespace ablate {

std::string line_refusal(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (control_at(text.substr(i)) > 0) return "holds a control character, and is to be one line";
  // nlohmann::json::dump throws on what is no UTF-8.
  try {
    static_cast<void>(nlohmann::json(text).dump());
  } catch (const nlohmann::json::exception&) {
    return "is no UTF-8";
  }
  return "";
}

}  // namespace ablate
