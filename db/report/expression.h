// An expression over a table's metrics: derived values. No SQLite.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ablate::db {

/// Numbers, metrics by name, + - * /, parentheses, and functions:
///  - log(x): the natural logarithm; round(x, n): to n decimals, halves away from zero
///  - min(x), max(x), mean(x): over the rows, one number for all
///  - minmax(x): (x - min(x)) / (max(x) - min(x)); rank(x): 1 for the least; equal values get the mean of their ranks
/// A metric's name ends at a blank or at one of ( ) , * +. Blanks are therefore required around - and / after a name.
/// Functions over the rows ignore rows without a number (NaN). In such a row, minmax and rank are NaN.
class Expression {
 public:
  /// Throws Error with what was found and what was expected.
  /// @param text at most 1,000 characters
  explicit Expression(const std::string& text);
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  /// Names of the metrics in the expression.
  const std::set<std::string>& names() const { return names_; }
  /// True if the expression contains a function over the rows.
  bool over_rows() const { return over_rows_; }

  /// Returns a metric's number in each row; all metrics have equally many rows.
  using Lookup = std::function<const std::vector<double>&(const std::string& name)>;
  /// Returns one number for each of `rows` rows.
  std::vector<double> values(std::size_t rows, const Lookup& of) const;

  struct Term;

 private:
  std::set<std::string> names_;
  bool over_rows_ = false;
  std::unique_ptr<Term> term_;
};

}  // namespace ablate::db
