#include "core/util/plain_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace ablate {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< 0: the text does not begin with a UTF-8 character beyond ASCII
};

Character character_at(std::string_view text) {
  if (text.empty()) return {};
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  char32_t code = first & (0xFF >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {};
    code = code << 6 | (next & 0x3F);
  }
  return {code, bytes};
}

/// Unicode 15: general category Cf, and U+2028 and U+2029.
constexpr std::pair<char32_t, char32_t> kInvisible[] = {
    {0xAD, 0xAD},       {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
    {0x890, 0x891},     {0x8E2, 0x8E2},     {0x180E, 0x180E},   {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F},   {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
    {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE007F},
};

bool is_invisible(char32_t code) {
  return std::any_of(std::begin(kInvisible), std::end(kInvisible),
                     [&](const auto& range) { return code >= range.first && code <= range.second; });
}

}  // namespace

std::size_t invisible_at(std::string_view text) {
  const auto [code, bytes] = character_at(text);
  return bytes > 0 && is_invisible(code) ? bytes : 0;
}

std::string with_invisible_shown(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size();) {
    const auto [code, bytes] = character_at(text.substr(i));
    if (bytes > 0 && is_invisible(code)) {
      std::array<char, 16> name{};
      std::snprintf(name.data(), name.size(), "<U+%04X>", static_cast<unsigned>(code));
      shown += name.data();
      i += bytes;
    } else {
      shown += text[i++];
    }
  }
  return shown;
}

std::string line_refusal(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (control_at(text.substr(i)) > 0) return "holds a control character, but must be one line";
  // nlohmann::json::dump throws on text that is not UTF-8.
  try {
    static_cast<void>(nlohmann::json(text).dump());
  } catch (const nlohmann::json::exception&) {
    return "is no UTF-8";
  }
  return "";
}

std::string empty_refusal(const std::string& text) {
  return text.empty() ? "found an empty text, perhaps from an unset variable; give a value, or leave the argument out" : "";
}

std::string name_refusal(const std::string& name) {
  if (name.empty()) return "is empty";
  if (name.front() == '-') return "begins with '-', as an option of a command does";
  return line_refusal(name);
}

}  // namespace ablate
