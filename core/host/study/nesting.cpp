#include "core/host/study/nesting.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ablate {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<Location> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'')
        skip_string(c);
      else if (c == '#')
        while (at_ < text_.size() && text_[at_] != '\n') advance();
      else {
        take(c);
        if (depth_ > kMostLevels) return where_;
        advance();
      }
    }
    return std::nullopt;
  }

 private:
  void take(char c) {
    if (c == '.') {
      ++dots_.back(), ++depth_;
    } else if (c == '[' || c == '{') {
      dots_.push_back(0), ++depth_;
    } else if (c == ']' || c == '}') {
      end_key();
      if (dots_.size() > 1) dots_.pop_back(), --depth_;
    } else if (c == ',' || c == '\n') {
      end_key();
    }
  }

  /// The parts of a dotted key hold its value, which ends at a comma, a bracket or the line's end.
  void end_key() {
    depth_ -= dots_.back();
    dots_.back() = 0;
  }

  void skip_string(char quote) {
    const auto triple = text_.substr(at_, 3) == std::string(3, quote);
    for (int i = 0; i < (triple ? 3 : 1); ++i) advance();
    while (at_ < text_.size()) {
      if (!triple && text_[at_] == '\n') return;  // no TOML: the parser ends here
      if (quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') {
        advance(), advance();
      } else if (triple && text_.substr(at_, 3) == std::string(3, quote)) {
        // One or two quotes may stand before the three that end it.
        for (int i = 0; i < 5 && at_ < text_.size() && text_[at_] == quote; ++i) advance();
        return;
      } else if (!triple && text_[at_] == quote) {
        return advance();
      } else {
        advance();
      }
    }
  }

  void advance() {
    const auto byte = static_cast<unsigned char>(text_[at_++]);
    if (byte == '\n')
      ++where_.line, where_.column = 1;
    else if ((byte & 0xC0) != 0x80)
      ++where_.column;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Location where_{"", 1, 1};
  std::vector<int> dots_ = {0};  ///< of the key at hand, by bracket
  int depth_ = 0;
};

}  // namespace

std::optional<Location> nested_too_deeply(std::string_view toml) { return Scanner(toml).run(); }

}  // namespace ablate
