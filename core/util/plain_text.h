// Texts that a terminal shows as they are.
#pragma once

#include <string>
#include <string_view>

namespace ablate {

/// How many bytes the control character has that a text begins with; 0 where it begins with none. Those of UTF-8 are the bytes
/// below the blank, DEL, and U+0080 to U+009F in two bytes: U+009B steers a terminal as ESC [ does.
constexpr std::size_t control_at(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < ' ' || byte(0) == 0x7F) return 1;
  return text.size() > 1 && byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F ? 2 : 0;
}

/// How many bytes the character has that a text begins with and that is not seen itself: Unicode's format characters (Cf), of
/// which those of direction (U+061C, U+200E, U+202E, U+2066, ...) show what follows in another order, and the separators of
/// lines and paragraphs. 0 where it begins with none.
std::size_t invisible_at(std::string_view text);

/// The text with each of these as "<U+202E>": two names that differ look different, and no name is read backwards.
std::string with_invisible_shown(std::string_view text);

/// Why a text cannot stand in a line of output: "holds a control character, and is to be one line", "is no UTF-8"; "" where it
/// can.
std::string line_refusal(std::string_view text);

/// Why an empty text is no value of an option; "" for any other. A shell writes it for a variable that is not set, and it must
/// not mean "all" or the default.
std::string empty_refusal(const std::string& text);

/// Why a text cannot be the name of an experiment, which commands take as a word: "is empty", ...; "" where it can.
std::string name_refusal(const std::string& name);

}  // namespace ablate
