#include "core/util/plain_text.h"

#include <nlohmann/json.hpp>

namespace ablate {

std::string line_refusal(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]),
               next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte < ' ' || byte == 0x7F || (byte == 0xC2 && next >= 0x80 && next <= 0x9F))
      return "holds a control character, and is to be one line";
  }
  // nlohmann::json::dump throws on what is no UTF-8.
  try {
    static_cast<void>(nlohmann::json(text).dump());
  } catch (const nlohmann::json::exception&) {
    return "is no UTF-8";
  }
  return "";
}

}  // namespace ablate
