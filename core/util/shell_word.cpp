#include "core/util/shell_word.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <string_view>

#include "core/util/plain_text.h"

namespace ablate {

std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("._-/=+,:@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string word = "$'";
  bool is_hidden = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest(text.data() + i, text.size() - i);
    auto hidden = std::max(control_at(rest), invisible_at(rest));
    is_hidden = is_hidden || hidden > 0;
    if (hidden == 0) {
      if (text[i] == '\'' || text[i] == '\\') word += '\\';
      word += text[i++];
    }
    for (; hidden > 0; --hidden) {
      std::array<char, 8> byte{};
      std::snprintf(byte.data(), byte.size(), "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(text[i++])));
      word += byte.data();
    }
  }
  if (is_hidden) return word + "'";
  word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace ablate
