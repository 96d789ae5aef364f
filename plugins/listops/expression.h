// ListOps expressions (Nangia and Bowman 2018) as sequences of symbols.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::listops {

/// A symbol's id in the model's input. Never changes, because stored data and trained models depend on it. 0 is padding.
using Symbol = std::uint8_t;
inline constexpr Symbol kDigit = 1;  ///< the digit 0; the digit d is kDigit + d
inline constexpr Symbol kMin = 11;
inline constexpr Symbol kMax = 12;
inline constexpr Symbol kMed = 13;  ///< median, truncated to an integer
inline constexpr Symbol kSm = 14;   ///< sum modulo 10
inline constexpr Symbol kEnd = 15;
inline constexpr Symbol kLastSymbol = kEnd;

/// Returns a symbol's text as in the published files: "7", "[MAX", "]".
std::string_view to_text(Symbol symbol);
/// Returns nullopt if the text is not one of the 15 symbols.
std::optional<Symbol> to_symbol(std::string_view text);
/// Joins symbols by spaces. Cuts the text after about `most` characters and then ends it with " ...".
std::string to_text(std::span<const Symbol> symbols, std::size_t most = static_cast<std::size_t>(-1));

/// Applies an operator to one or more digits 0 to 9. Sorts the digits in place.
int apply(Symbol op, std::span<std::uint8_t> digits);

/// Evaluates expressions and reuses its memory. Nesting is limited only by memory.
class Evaluator {
 public:
  /// @return 0 to 9. Throws std::invalid_argument with the fault and the number of the faulty symbol (from 1).
  int operator()(std::span<const Symbol> symbols);

 private:
  struct Open {
    Symbol op;
    std::size_t first;  ///< index of its first argument in digits_
  };
  std::vector<Open> open_;
  std::vector<std::uint8_t> digits_;
};

}  // namespace ablate::listops
