#include "db/report/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/util/error.h"
#include "core/util/nearest.h"

namespace ablate::db {
namespace {

using Numbers = std::vector<double>;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kLongest = 1000;
constexpr int kDeepest = 100;  ///< nested parentheses

Numbers numbers_of(const Numbers& x) {
  auto numbers = x;
  std::erase_if(numbers, [](double value) { return std::isnan(value); });
  return numbers;
}

double least(const Numbers& x) {
  const auto all = numbers_of(x);
  return all.empty() ? kNothing : *std::min_element(all.begin(), all.end());
}

double most(const Numbers& x) {
  const auto all = numbers_of(x);
  return all.empty() ? kNothing : *std::max_element(all.begin(), all.end());
}

double mean(const Numbers& x) {
  const auto all = numbers_of(x);
  return all.empty() ? kNothing : std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

Numbers constant(const Numbers& x, double value) { return Numbers(x.size(), value); }

/// Returns NaN if all rows are equal, because they have no spread to scale by.
Numbers scaled(const Numbers& x) {
  const double low = least(x), high = most(x);
  auto result = x;
  for (auto& value : result) value = high > low ? (value - low) / (high - low) : kNothing;
  return result;
}

/// True if two numbers differ only by rounding, as sums of the same numbers in another order do.
bool ties(double a, double b) { return a == b || std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b)); }

Numbers ranks(const Numbers& x) {
  auto result = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) continue;
    const auto equal = std::count_if(x.begin(), x.end(), [&](double other) { return ties(other, x[i]); });
    const auto below = std::count_if(x.begin(), x.end(), [&](double other) { return other < x[i] && !ties(other, x[i]); });
    result[i] = static_cast<double>(below) + static_cast<double>(equal + 1) / 2;
  }
  return result;
}

struct Function {
  const char* name;
  Numbers (*run)(const Numbers& x);
  bool over_rows;
};

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"min", [](const Numbers& x) { return constant(x, least(x)); }, true},
      {"max", [](const Numbers& x) { return constant(x, most(x)); }, true},
      {"mean", [](const Numbers& x) { return constant(x, mean(x)); }, true},
      {"minmax", scaled, true},
      {"rank", ranks, true},
      {"log",
       [](const Numbers& x) {
         auto result = x;
         for (auto& value : result) value = value > 0 ? std::log(value) : kNothing;
         return result;
       },
       false},
  };
  return all;
}

constexpr const char* kRound = "round";

}  // namespace

struct Expression::Term {
  enum class Kind { kNumber, kMetric, kFunction, kRound, kSum, kDifference, kProduct, kQuotient };
  Kind kind = Kind::kNumber;
  double number = 0;  ///< decimals for kRound
  std::string metric = {};
  Numbers (*run)(const Numbers& x) = nullptr;  ///< for kFunction
  std::unique_ptr<Term> left = {}, right = {};

  Numbers values(std::size_t rows, const Lookup& of) const {
    if (kind == Kind::kNumber) return Numbers(rows, number);
    if (kind == Kind::kMetric) return of(metric);
    auto x = left->values(rows, of);
    if (kind == Kind::kFunction) return run(x);
    if (kind == Kind::kRound) {
      const double scale = std::pow(10.0, number);
      for (auto& value : x) value = std::round(value * scale) / scale;
      return x;
    }
    const auto y = right->values(rows, of);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = of_two(x[i], y[i]);
    return x;
  }

 private:
  double of_two(double x, double y) const {
    switch (kind) {
      case Kind::kSum:
        return x + y;
      case Kind::kDifference:
        return x - y;
      case Kind::kProduct:
        return x * y;
      default:
        return y == 0 ? kNothing : x / y;
    }
  }
};

namespace {

using Term = Expression::Term;

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool begins_number(char c) { return (c >= '0' && c <= '9') || c == '.'; }

/// Parser from left to right: sums of products of factors.
class Parser {
 public:
  Parser(const std::string& text, std::set<std::string>& names, bool& over_rows)
      : text_(text), names_(names), over_rows_(over_rows) {}

  std::unique_ptr<Term> whole() {
    if (text_.size() > kLongest)
      throw Error(fmt::format("found an expression of {} characters, expected at most {}", text_.size(), kLongest));
    auto term = sum();
    if (at_ < text_.size()) refuse("an operator (+ - * /) or the end");
    return term;
  }

 private:
  [[noreturn]] void refuse(const std::string& expected) const {
    const auto found = at_ >= text_.size() ? std::string("the end") : fmt::format("'{}'", text_.substr(at_, 12));
    throw Error(fmt::format("{}: found {} at character {}, expected {}", text_, found, at_ + 1, expected));
  }

  char next() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) { return next() == c && ++at_ > 0; }
  void expect(char c) {
    if (!take(c)) refuse(fmt::format("'{}'", c));
  }

  static std::unique_ptr<Term> make(Term::Kind kind, std::unique_ptr<Term> left, std::unique_ptr<Term> right) {
    auto term = std::make_unique<Term>();
    term->kind = kind, term->left = std::move(left), term->right = std::move(right);
    return term;
  }

  std::unique_ptr<Term> sum() {
    auto term = product();
    for (;;)
      if (take('+'))
        term = make(Term::Kind::kSum, std::move(term), product());
      else if (take('-'))
        term = make(Term::Kind::kDifference, std::move(term), product());
      else
        return term;
  }

  std::unique_ptr<Term> product() {
    auto term = factor();
    for (;;)
      if (take('*'))
        term = make(Term::Kind::kProduct, std::move(term), factor());
      else if (take('/'))
        term = make(Term::Kind::kQuotient, std::move(term), factor());
      else
        return term;
  }

  std::unique_ptr<Term> factor() {
    if (++depth_ > kDeepest) refuse(fmt::format("at most {} parentheses and signs within one another", kDeepest));
    std::unique_ptr<Term> term;
    const char c = next();
    if (take('-')) {
      term = make(Term::Kind::kDifference, std::make_unique<Term>(), factor());
    } else if (take('(')) {
      term = sum();
      expect(')');
    } else if (begins_number(c)) {
      term = std::make_unique<Term>();
      term->number = number();
    } else if (begins_name(c)) {
      term = named();
    } else {
      refuse("a number, a metric, a function or '('");
    }
    --depth_;
    return term;
  }

  double number() {
    double value = 0;
    const auto* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) refuse("a number");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  std::unique_ptr<Term> named() {
    const auto end = std::min(text_.find_first_of(" \t(),*+", at_), text_.size());
    const auto name = text_.substr(at_, end - at_);
    const auto begin = at_;
    at_ = end;
    if (next() == '(') return call(name, begin);
    auto term = std::make_unique<Term>();
    term->kind = Term::Kind::kMetric, term->metric = name;
    names_.insert(name);
    return term;
  }

  std::unique_ptr<Term> call(const std::string& name, std::size_t begin) {
    std::vector<std::string> known = {kRound};
    const Function* function = nullptr;
    for (const auto& one : functions()) {
      known.emplace_back(one.name);
      if (name == one.name) function = &one;
    }
    if (function == nullptr && name != kRound) {
      at_ = begin;
      refuse(fmt::format("a function, one of {}{}", fmt::join(known, ", "), hint(name, known)));
    }
    expect('(');
    auto term = make(function != nullptr ? Term::Kind::kFunction : Term::Kind::kRound, sum(), nullptr);
    if (function != nullptr) {
      term->run = function->run;
      over_rows_ = over_rows_ || function->over_rows;
    } else {
      term->number = decimals();
    }
    expect(')');
    return term;
  }

  double decimals() {
    constexpr int kMost = 12;
    expect(',');
    const bool begins = begins_number(next());
    const auto start = at_;
    const double value = begins ? number() : -1;
    if (value == std::floor(value) && value >= 0 && value <= kMost) return value;
    at_ = start;
    refuse(fmt::format("a whole number of decimals from 0 to {}", kMost));
  }

  const std::string& text_;
  std::set<std::string>& names_;
  bool& over_rows_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Expression::Expression(const std::string& text) : term_(Parser(text, names_, over_rows_).whole()) {}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

Numbers Expression::values(std::size_t rows, const Lookup& of) const { return term_->values(rows, of); }

}  // namespace ablate::db
