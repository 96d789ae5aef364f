#include "db/report/inference/permutation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace ablate::db {
namespace {

/// Returns the difference up to which sums are ties: sums of the same numbers in another order differ by rounding.
/// @param size sum of the absolute values of the numbers in a sum
double tie_of(double size) { return 1e-13 * size; }

double size_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return sum;
}

/// Computes p from the number of arrangements at or above the observed value, and at or below it.
double two_sided(double above, double below, double all) { return std::min(1.0, 2 * std::min(above, below) / all); }

/// Returns all 2^n sums of the values with signs.
std::vector<double> signed_sums(std::span<const double> values) {
  std::vector<double> sums = {0};
  for (const double value : values) {
    const auto before = sums.size();
    for (std::size_t i = 0; i < before; ++i) {
      sums.push_back(sums[i] - value);
      sums[i] += value;
    }
  }
  return sums;
}

/// Combines the sums of one half of the values with the sums of the other half: 2^(n/2) searches instead of 2^n sums.
PValue all_flips(std::span<const double> values, double tie) {
  const double observed = std::accumulate(values.begin(), values.end(), 0.0);
  const auto half = values.size() / 2;
  const auto left = signed_sums(values.first(half));
  auto right = signed_sums(values.subspan(half));
  std::sort(right.begin(), right.end());
  double above = 0, below = 0;
  for (const double sum : left) {
    above += static_cast<double>(right.end() - std::lower_bound(right.begin(), right.end(), observed - tie - sum));
    below += static_cast<double>(std::upper_bound(right.begin(), right.end(), observed + tie - sum) - right.begin());
  }
  return {two_sided(above, below, std::ldexp(1.0, static_cast<int>(values.size())))};
}

/// Counts the choices of `count` values by their sum: at or above the observed sum, and at or below it.
class Splits {
 public:
  Splits(std::span<const double> values, std::size_t count, double observed)
      : values_(values), observed_(observed), tie_(tie_of(size_of(values))) {
    choose(0, count, 0);
  }
  double p() const { return two_sided(above_, below_, all_); }

 private:
  void choose(std::size_t from, std::size_t count, double sum) {
    if (count == 0) {
      ++all_;
      above_ += sum >= observed_ - tie_;
      below_ += sum <= observed_ + tie_;
      return;
    }
    for (auto i = from; i + count <= values_.size(); ++i) choose(i + 1, count - 1, sum + values_[i]);
  }

  std::span<const double> values_;
  double observed_, tie_;
  double above_ = 0, below_ = 0, all_ = 0;
};

double splits_of(std::size_t a, std::size_t b) {
  double count = 1;
  for (std::size_t i = 1; i <= a; ++i) count = count * static_cast<double>(b + i) / static_cast<double>(i);
  return std::round(count);
}

constexpr std::uint64_t kDrawSeed = 20261124;

/// The observed arrangement counts as one more draw, which keeps p above 0.
double of_draws(double above, double below) { return two_sided(above + 1, below + 1, kDraws + 1); }

PValue drawn_flips(std::span<const double> values, double tie) {
  const double observed = std::accumulate(values.begin(), values.end(), 0.0);
  std::mt19937_64 random(kDrawSeed);
  double above = 0, below = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    double sum = 0;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % 64 == 0) bits = random();
      sum += (bits >> (i % 64) & 1) != 0 ? values[i] : -values[i];
    }
    above += sum >= observed - tie, below += sum <= observed + tie;
  }
  return {of_draws(above, below), false};
}

/// Returns a uniform whole number below `bound`. Draws that would favour small numbers are repeated.
std::uint64_t below_of(std::uint64_t bound, std::mt19937_64& random) {
  const auto last = std::mt19937_64::max() - std::mt19937_64::max() % bound;
  for (;;)
    if (const auto drawn = random(); drawn < last) return drawn % bound;
}

PValue drawn_splits(std::vector<double> values, std::size_t count) {
  const double observed = std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
  const double tie = tie_of(size_of(values));
  std::mt19937_64 random(kDrawSeed);
  double above = 0, below = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::swap(values[i], values[i + static_cast<std::size_t>(below_of(values.size() - i, random))]);
      sum += values[i];
    }
    above += sum >= observed - tie, below += sum <= observed + tie;
  }
  return {of_draws(above, below), false};
}

}  // namespace

PValue sign_flip_test(std::span<const double> differences, double subtracted) {
  const double tie = tie_of(std::max(size_of(differences), subtracted));
  return std::ldexp(1.0, static_cast<int>(std::min<std::size_t>(differences.size(), 1000))) <= kMostArrangements
             ? all_flips(differences, tie)
             : drawn_flips(differences, tie);
}

PValue split_test(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  // Sums of a's group suffice: they rise with the difference of the means.
  if (splits_of(a.size(), b.size()) > kMostArrangements) return drawn_splits(all, a.size());
  return {Splits(all, a.size(), std::accumulate(a.begin(), a.end(), 0.0)).p()};
}

double least_paired_p(std::size_t pairs) {
  return std::min(1.0, std::ldexp(1.0, 1 - static_cast<int>(std::min<std::size_t>(pairs, 1000))));
}

double least_unpaired_p(std::size_t a, std::size_t b) { return std::min(1.0, 2 / splits_of(a, b)); }

}  // namespace ablate::db
