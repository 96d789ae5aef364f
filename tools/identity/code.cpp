#include "tools/identity/code.h"

#include <algorithm>
#include <cctype>

namespace ablate::identity {
namespace {

/// Represents a backslash and a line's end, which join two lines except in a raw string.
constexpr char kSplice = '\1';

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || (c & 0x80) != 0; }

/// Returns the name or number at the end of a text.
std::string last_word(const std::string& text) {
  return {std::find_if_not(text.rbegin(), text.rend(), [](char c) { return is_word(c) || c == '.' || c == '\''; }).base(),
          text.end()};
}

/// True if white space between two characters may change the code: between two words, between characters that can form one
/// operator, between a literal and its prefix, suffix or sign, and between a macro's name and its parenthesis.
bool divides(const std::string& before, char next, bool is_directive) {
  static const std::string kPairs = ":: -> ++ -- << >> <= >= == != && || += -= *= /= %= &= |= ^= ## => >* .. ";
  const auto binds = [](char c) { return is_word(c) || c == '"' || c == '\'' || c == '.'; };
  const char last = before.empty() ? '\n' : before.back();
  const bool is_exponent = (next == '+' || next == '-') && std::string("eEpP").find(last) != std::string::npos;
  return (binds(last) && binds(next)) || (is_directive && next == '(') || kPairs.find({last, next, ' '}) != std::string::npos ||
         (is_exponent && is_digit(last_word(before)[0]));
}

}  // namespace

std::string read_code(std::string_view file) {
  std::string text, code;
  for (std::size_t i = 0; i < file.size(); ++i) {
    const std::size_t joined = file.substr(i).starts_with("\\\r\n") ? 2 : file.substr(i).starts_with("\\\n") ? 1 : 0;
    text += joined > 0 ? kSplice : file[i];
    i += joined;
  }
  bool starts_line = true, is_directive = false, is_apart = false;
  const auto after = [&](std::size_t at) { return std::min(text.find_first_not_of(kSplice, at + 1), text.size()); };
  const auto fits = [&](std::size_t at, const char* pair) { return text[at] == pair[0] && text[after(at)] == pair[1]; };
  for (auto at = after(std::string::npos); at < text.size();) {
    const char c = text[at];
    if (fits(at, "//")) {
      at = std::min(text.find('\n', at), text.size()), is_apart = true;
    } else if (fits(at, "/*")) {
      for (at = after(after(at)); at < text.size() && !fits(at, "*/");) at = after(at);
      at = after(after(at)), is_apart = true;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (c == '\n' && is_directive) code += c;
      if (c == '\n') starts_line = true, is_directive = false;
      at = after(at), is_apart = true;
    } else {
      if (is_apart && divides(code, c, is_directive)) code += ' ';
      is_directive |= starts_line && c == '#';
      starts_line = is_apart = false;
      const auto word = last_word(code);
      const bool is_raw = c == '"' && (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R");
      if (const auto open = is_raw ? text.find('(', at) : std::string::npos; open != std::string::npos) {
        const auto end = ')' + text.substr(at + 1, open - at - 1) + '"';
        const auto close = std::min(text.find(end, open), text.size());
        // The size is written before a raw string, which may contain anything.
        code += std::to_string(close - open) + text.substr(open, close - open) + '"';
        at = after(close + end.size() - 1);
      } else if (c == '"' || (c == '\'' && (word.empty() || !is_digit(word[0])))) {
        // An unclosed literal ends with its line, for example an apostrophe in the text of an #error.
        std::string literal(1, c);
        for (at = after(at); at < text.size() && text[at] != c && text[at] != '\n'; at = after(at)) {
          literal += text[at];
          if (text[at] == '\\' && after(at) < text.size()) literal += text[at = after(at)];
        }
        if (at < text.size() && text[at] == c) literal += c, at = after(at);
        if (!literal.starts_with("\"/") || !code.ends_with("#include ")) code += literal;
      } else {
        code += c, at = after(at);
      }
    }
  }
  return code;
}

}  // namespace ablate::identity
