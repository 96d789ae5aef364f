#include "db/report/matched_means.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "db/report/least_squares.h"

namespace ablate::db {
namespace {

/// Which values are linked by blocks: the least value of each one's group.
class Links {
 public:
  explicit Links(std::size_t values) : to_(values) { std::iota(to_.begin(), to_.end(), std::size_t{0}); }

  std::size_t of(std::size_t value) {
    while (to_[value] != value) value = to_[value] = to_[to_[value]];
    return value;
  }
  void join(std::size_t a, std::size_t b) {
    a = of(a), b = of(b);
    to_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> to_;
};

/// A block of at least two values.
struct SharedBlock {
  std::vector<BlockNumber> numbers;
  double mean = 0;
};

std::vector<SharedBlock> full_blocks(std::size_t blocks, std::span<const BlockNumber> numbers) {
  std::vector<SharedBlock> all(blocks);
  for (const auto& number : numbers) all[number.block].numbers.push_back(number);
  std::erase_if(all, [](const SharedBlock& block) { return block.numbers.size() < 2; });
  for (auto& block : all) {
    for (const auto& number : block.numbers) block.mean += number.number;
    block.mean /= static_cast<double>(block.numbers.size());
  }
  return all;
}

/// What a group's means are averaged over.
struct Group {
  double blocks = 0, mean = 0, variance = 0;  ///< of the blocks' means, in that of one number
  std::vector<double> weights;                ///< by value: of its coefficient in that mean
};

}  // namespace

std::vector<MatchedMean> matched_means(std::size_t values, std::size_t blocks, std::span<const BlockNumber> numbers) {
  std::vector<MatchedMean> means(values);
  const auto all = full_blocks(blocks, numbers);
  Links links(values);
  NormalEquations equations(values);  // of the values, the blocks being eliminated
  double count = 0;
  for (const auto& block : all) {
    const double size = static_cast<double>(block.numbers.size());
    for (const auto& a : block.numbers) {
      links.join(a.value, block.numbers.front().value);
      ++means[a.value].n, ++count;
      const double left = a.number - block.mean;
      equations.add_right(a.value, left), equations.add_square(left * left);
      for (const auto& b : block.numbers)
        if (b.value <= a.value) equations.add(a.value, b.value, (a.value == b.value ? 1.0 : 0.0) - 1 / size);
    }
  }
  std::vector<std::size_t> unknowns(values);
  std::iota(unknowns.begin(), unknowns.end(), std::size_t{0});
  equations.solve(unknowns);

  std::vector<Group> groups(values, Group{0, 0, 0, std::vector<double>(values, 0.0)});
  for (const auto& block : all) {
    auto& group = groups[links.of(block.numbers.front().value)];
    const double size = static_cast<double>(block.numbers.size());
    ++group.blocks, group.mean += block.mean, group.variance += 1 / size;
    for (const auto& one : block.numbers) group.weights[one.value] += 1 / size;
  }
  const double freedom = count - static_cast<double>(all.size()) - static_cast<double>(equations.rank());
  const double variance = freedom > 0 ? std::max(0.0, equations.residual()) / freedom : 0;
  for (std::size_t v = 0; v < values; ++v) {
    means[v].group = links.of(v);
    if (means[v].n == 0) continue;
    const auto& group = groups[means[v].group];
    std::vector<double> c(values, 0.0);
    double of_others = 0;
    for (std::size_t u = 0; u < values; ++u) {
      c[u] = (u == v ? 1.0 : 0.0) - group.weights[u] / group.blocks;
      of_others += c[u] * equations.coefficient(u);
    }
    means[v].mean = group.mean / group.blocks + of_others;
    if (freedom <= 0) continue;
    const double t = boost::math::quantile(boost::math::students_t(freedom), 0.975);
    const double half = t * std::sqrt(variance * (group.variance / (group.blocks * group.blocks) + equations.variance_of(c)));
    means[v].low = means[v].mean - half, means[v].high = means[v].mean + half;
  }
  return means;
}

}  // namespace ablate::db
