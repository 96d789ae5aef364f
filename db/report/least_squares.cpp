#include "db/report/least_squares.h"

namespace ablate::db {

NormalEquations::NormalEquations(std::size_t unknowns)
    : unknowns_(unknowns), cells_((unknowns + 1) * (unknowns + 1), 0.0), solved_(unknowns, false) {}

void NormalEquations::add(std::size_t i, std::size_t j, double value) {
  at(i, j) += value;
  if (i != j) at(j, i) += value;
}

void NormalEquations::add_right(std::size_t i, double value) { at(i, unknowns_) += value, at(unknowns_, i) += value; }

void NormalEquations::solve(const std::vector<std::size_t>& unknowns) {
  constexpr double kDetermined = 1e-9;  // of a pivot's own sum of squares
  for (auto i = first_.size(); i < unknowns_; ++i) first_.push_back(at(i, i));
  for (const auto k : unknowns) {
    const double pivot = at(k, k);
    if (solved_[k] || !(pivot > kDetermined * first_[k])) continue;
    // The sweep of a symmetric matrix keeps it so up to the signs of what is swept: every line is divided by the pivot.
    for (std::size_t i = 0; i <= unknowns_; ++i) {
      if (i == k) continue;
      const double factor = at(i, k) / pivot;
      if (factor == 0) continue;
      for (std::size_t j = 0; j <= unknowns_; ++j)
        if (j != k) at(i, j) -= factor * at(k, j);
      at(i, k) = -factor;
    }
    for (std::size_t j = 0; j <= unknowns_; ++j)
      if (j != k) at(k, j) /= pivot;
    at(k, k) = 1 / pivot;
    solved_[k] = true;
  }
}

}  // namespace ablate::db
