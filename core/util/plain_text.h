// Texts that are safe to show in a terminal.
#pragma once

#include <string>
#include <string_view>

namespace ablate {

/// Returns the number of bytes of the control character at the start of a text; 0 if there is none. Control characters are the
/// bytes below the blank, DEL, and U+0080 to U+009F in two bytes: U+009B steers a terminal as ESC [ does.
constexpr std::size_t control_at(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < ' ' || byte(0) == 0x7F) return 1;
  return text.size() > 1 && byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F ? 2 : 0;
}

/// Returns the bytes of the invisible character at the start of a text; 0 if there is none. Invisible are Unicode's format
/// characters (Cf) and the separators of lines and paragraphs. Some of them (U+061C, U+200E, U+202E, U+2066, ...) change the
/// order of the characters that follow.
std::size_t invisible_at(std::string_view text);

/// Shows each invisible character as "<U+202E>": names that differ look different, and no name is read backwards.
std::string with_invisible_shown(std::string_view text);

/// Returns why a text cannot be in a line of output: "holds a control character, but must be one line", "is no UTF-8"; else "".
std::string line_refusal(std::string_view text);

/// Returns why an empty text is no value of an option; "" for any other text. A shell passes "" for a variable that is not set,
/// and "" must not mean "all" or the default.
std::string empty_refusal(const std::string& text);

/// Returns why a text cannot be the name of an experiment, which is a word of commands: "is empty", ...; "" if it can.
std::string name_refusal(const std::string& name);

}  // namespace ablate
