// Least squares over few unknowns, some of which the others may determine. Internal to db/.
#pragma once

#include <cstddef>
#include <vector>

namespace ablate::db {

/// Normal equations, solved by sweeping (Goodnight 1979, "A tutorial on the SWEEP operator"). What earlier unknowns determine
/// is left out, with coefficient 0: any function of the unknowns that the data tell has the same value all the same.
class NormalEquations {
 public:
  explicit NormalEquations(std::size_t unknowns);

  /// X'X[i][j] += value, for i = j and both orders otherwise.
  void add(std::size_t i, std::size_t j, double value);
  /// X'y[i] += value.
  void add_right(std::size_t i, double value);
  /// y'y += value.
  void add_square(double value) { at(unknowns_, unknowns_) += value; }

  /// Solves for these unknowns, too; those never named are 0. After all add().
  void solve(const std::vector<std::size_t>& unknowns);

  /// Sum of squares of the residuals, after solve().
  double residual() const { return at(unknowns_, unknowns_); }

 private:
  double& at(std::size_t i, std::size_t j) { return cells_[i * (unknowns_ + 1) + j]; }
  double at(std::size_t i, std::size_t j) const { return cells_[i * (unknowns_ + 1) + j]; }

  std::size_t unknowns_;
  std::vector<double> cells_;  ///< square, with y as its last line and column
  std::vector<double> first_;  ///< the diagonal before solve()
  std::vector<bool> solved_;
};

}  // namespace ablate::db
