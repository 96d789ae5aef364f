// ListOps expressions (Nangia and Bowman 2018) as sequences of symbols.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::listops {

/// A symbol's id in the model's input. Fixed for good: stored data and trained models rest on them. 0 is padding.
using Symbol = std::uint8_t;
inline constexpr Symbol kDigit = 1;  ///< of 0; the digit d is kDigit + d
inline constexpr Symbol kMin = 11;
inline constexpr Symbol kMax = 12;
inline constexpr Symbol kMed = 13;  ///< median, truncated to an integer
inline constexpr Symbol kSm = 14;   ///< sum modulo 10
inline constexpr Symbol kEnd = 15;
inline constexpr Symbol kLastSymbol = kEnd;

/// "7", "[MAX", "]", as in the published files.
std::string_view to_text(Symbol symbol);
/// Nothing where the text is none of the 15 symbols.
std::optional<Symbol> to_symbol(std::string_view text);
/// Symbols separated by spaces, cut to about `most` characters, with " ..." where cut.
std::string to_text(std::span<const Symbol> symbols, std::size_t most = static_cast<std::size_t>(-1));

/// An operator's value over digits 0 to 9, at least one. Sorts them in place.
int apply(Symbol op, std::span<std::uint8_t> digits);

/// Evaluates expressions one after the other, keeping its memory. Nesting is limited by memory only.
class Evaluator {
 public:
  /// @return 0 to 9. Throws std::invalid_argument saying what is wrong with the expression and at which symbol (from 1).
  int operator()(std::span<const Symbol> symbols);

 private:
  struct Open {
    Symbol op;
    std::size_t first;  ///< its first argument in digits_
  };
  std::vector<Open> open_;
  std::vector<std::uint8_t> digits_;
};

}  // namespace ablate::listops
