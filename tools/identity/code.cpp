#include "tools/identity/code.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace ablate::identity {
namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

/// Longest first: the first that fits is the token.
constexpr std::array<std::string_view, 26> kPunctuators = {"...", "<=>", "->*", "<<=", ">>=", "::", "->", "++", "--",
                                                           "<<",  ">>",  "<=",  ">=",  "==",  "!=", "&&", "||", "+=",
                                                           "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "##"};

/// Reads characters as a compiler does: a backslash at a line's end joins it with the next.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) { skip_splices(); }

  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  char peek_second() const {
    Cursor ahead = *this;
    ahead.take();
    return ahead.peek();
  }
  bool fits(std::string_view expected) const {
    Cursor ahead = *this;
    return std::all_of(expected.begin(), expected.end(), [&](char c) { return ahead.take() == c; });
  }
  char take() {
    const char c = peek();
    jump(1);
    return c;
  }

  /// What is left, as it stands: in raw strings lines are not joined.
  std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
  void jump(std::size_t characters) {
    at_ += characters;
    skip_splices();
  }

 private:
  void skip_splices() {
    for (;;) {
      if (rest().starts_with("\\\n"))
        at_ += 2;
      else if (rest().starts_with("\\\r\n"))
        at_ += 3;
      else
        return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : in_(text) {}

  Code read() {
    while (!in_.at_end()) {
      const char c = in_.peek();
      if (c == '\n') {
        in_.take(), line_starts_ = true;
      } else if (!skip_blank()) {
        const bool is_directive = c == '#' && line_starts_;
        line_starts_ = false;
        is_directive ? directive() : token();
      }
    }
    return std::move(code_);
  }

 private:
  /// One blank or comment; the end of a line is left where it is.
  bool skip_blank() {
    const char c = in_.peek();
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      in_.take();
    } else if (in_.fits("//")) {
      while (!in_.at_end() && in_.peek() != '\n') in_.take();
    } else if (in_.fits("/*")) {
      in_.take(), in_.take();
      while (!in_.at_end() && !in_.fits("*/")) in_.take();
      in_.take(), in_.take();
    } else {
      return false;
    }
    return true;
  }

  void emit(std::string_view token) { (code_.tokens += token) += '\n'; }

  std::string name() {
    std::string name;
    while (continues_name(in_.peek())) name += in_.take();
    return name;
  }

  void token() {
    const char c = in_.peek();
    if (starts_name(c)) {
      const auto word = name();
      const auto prefix = word.empty() || word.back() != 'R' ? word : word.substr(0, word.size() - 1);
      const bool is_prefix = prefix.empty() || prefix == "L" || prefix == "u" || prefix == "U" || prefix == "u8";
      if (is_prefix && in_.peek() == '"' && word != prefix)
        raw_string(word);
      else if (is_prefix && (in_.peek() == '"' || in_.peek() == '\''))
        literal(word);
      else
        emit(word);
    } else if (is_digit(c) || (c == '.' && is_digit(in_.peek_second()))) {
      number();
    } else if (c == '"' || c == '\'') {
      literal("");
    } else {
      for (const auto punctuator : kPunctuators)
        if (in_.fits(punctuator)) {
          for (std::size_t i = 0; i < punctuator.size(); ++i) in_.take();
          return emit(punctuator);
        }
      emit(std::string(1, in_.take()));
    }
  }

  void number() {
    std::string text;
    for (;;) {
      const char c = in_.peek(), last = text.empty() ? '\0' : text.back();
      const bool is_sign = (c == '+' || c == '-') && (last == 'e' || last == 'E' || last == 'p' || last == 'P');
      const bool is_separator = c == '\'' && continues_name(in_.peek_second());
      if (!continues_name(c) && c != '.' && !is_sign && !is_separator) return emit(text);
      text += in_.take();
    }
  }

  /// One that is not closed ends with its line: an apostrophe in the text of an #error.
  void literal(std::string text) {
    const char quote = in_.take();
    text += quote;
    while (!in_.at_end() && in_.peek() != '\n') {
      const char c = in_.take();
      text += c;
      if (c == quote) break;
      if (c == '\\' && !in_.at_end()) text += in_.take();
    }
    emit(text + name());  // "1"s
  }

  void raw_string(const std::string& prefix) {
    const auto text = in_.rest();
    const auto open = text.find('(');
    if (open == std::string_view::npos) return literal(prefix);
    const auto end = ")" + std::string(text.substr(1, open - 1)) + '"';
    const auto close = text.find(end, open);
    const auto content = text.substr(open + 1, close == std::string_view::npos ? close : close - open - 1);
    in_.jump(close == std::string_view::npos ? text.size() : close + end.size());
    // Its size before it: it may hold anything, the ends of lines too.
    emit(prefix + std::to_string(content.size()) + '"' + std::string(content) + '"' + name());
  }

  void skip_blanks() {
    while (!in_.at_end() && skip_blank()) {
    }
  }

  void directive() {
    in_.take();
    skip_blanks();
    const auto what = name();
    emit("#" + what);
    skip_blanks();
    if (what == "include" || what == "include_next" || what == "import") {
      include(what == "include_next");
    } else if (what == "define") {
      const auto defined = name();
      emit(in_.peek() == '(' ? defined + '(' : defined);
    }
    for (skip_blanks(); !in_.at_end() && in_.peek() != '\n'; skip_blanks()) token();
    emit("#end");
  }

  void include(bool is_next) {
    const char open = in_.peek();
    if (open != '<' && open != '"') {
      code_.includes.push_back({});
      return;
    }
    in_.take();
    Include include{.name = "", .is_quoted = open == '"', .is_next = is_next};
    const char close = include.is_quoted ? '"' : '>';
    while (!in_.at_end() && in_.peek() != '\n' && in_.peek() != close) include.name += in_.take();
    in_.take();
    if (!include.name.starts_with('/')) emit(open + include.name);
    code_.includes.push_back(std::move(include));
  }

  Cursor in_;
  bool line_starts_ = true;
  Code code_;
};

}  // namespace

Code read_code(std::string_view text) { return Lexer(text).read(); }

}  // namespace ablate::identity
