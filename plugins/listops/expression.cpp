#include "expression.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

namespace ablate::listops {
namespace {

constexpr std::array<std::string_view, kLastSymbol + 1> kTexts = {"",  "0", "1", "2",    "3",    "4",    "5",   "6",
                                                                  "7", "8", "9", "[MIN", "[MAX", "[MED", "[SM", "]"};

[[noreturn]] void refuse(const std::string& what, std::size_t index) {
  throw std::invalid_argument(what + " at symbol " + std::to_string(index + 1));
}

}  // namespace

std::string_view to_text(Symbol symbol) { return kTexts.at(symbol); }

std::optional<Symbol> to_symbol(std::string_view text) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') return static_cast<Symbol>(kDigit + (text[0] - '0'));
  for (Symbol symbol = kMin; symbol <= kLastSymbol; ++symbol)
    if (kTexts[symbol] == text) return symbol;
  return std::nullopt;
}

std::string to_text(std::span<const Symbol> symbols, std::size_t most) {
  std::string text;
  for (const Symbol symbol : symbols) {
    if (!text.empty()) text += ' ';
    if (text.size() >= most) return text + "...";
    text += to_text(symbol);
  }
  return text;
}

int apply(Symbol op, std::span<std::uint8_t> digits) {
  if (digits.empty()) throw std::invalid_argument("an operator without arguments");
  std::sort(digits.begin(), digits.end());
  const auto middle = digits.size() / 2;
  switch (op) {
    case kMin:
      return digits.front();
    case kMax:
      return digits.back();
    case kMed:
      return digits.size() % 2 == 1 ? digits[middle] : (digits[middle - 1] + digits[middle]) / 2;
    case kSm:
      return static_cast<int>(std::accumulate(digits.begin(), digits.end(), std::uint64_t{0}) % 10);
    default:
      throw std::invalid_argument("not an operator: symbol id " + std::to_string(op));
  }
}

int Evaluator::operator()(std::span<const Symbol> symbols) {
  open_.clear();
  digits_.clear();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const Symbol symbol = symbols[i];
    if (i > 0 && open_.empty()) refuse("the expression has ended, but goes on with '" + std::string(to_text(symbol)) + "'", i);
    if (symbol >= kDigit && symbol < kMin) {
      digits_.push_back(static_cast<std::uint8_t>(symbol - kDigit));
    } else if (symbol >= kMin && symbol < kEnd) {
      open_.push_back({symbol, digits_.size()});
    } else if (symbol == kEnd) {
      if (open_.empty()) refuse("']' closes nothing", i);
      const auto [op, first] = open_.back();
      open_.pop_back();
      if (first == digits_.size()) refuse("'" + std::string(to_text(op)) + "' without arguments ends", i);
      const int value = apply(op, std::span(digits_).subspan(first));
      digits_.resize(first);
      digits_.push_back(static_cast<std::uint8_t>(value));
    } else {
      refuse("id " + std::to_string(symbol) + " is no symbol", i);
    }
  }
  if (symbols.empty()) throw std::invalid_argument("the expression is empty");
  if (!open_.empty()) throw std::invalid_argument("the expression ends with " + std::to_string(open_.size()) + " ']' missing");
  return digits_.front();
}

}  // namespace ablate::listops
