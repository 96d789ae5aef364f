#include "core/host/study/drawn_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "core/host/study/path.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

constexpr const char *kUniform = "uniform", *kLogUniform = "log-uniform";
constexpr std::size_t kMostDraws = 100;  ///< for a point that is none of the earlier ones

/// What one range draws, in order.
class Draws {
 public:
  Draws(const DrawnRange& range, std::uint64_t seed)
      : range_(range), random_(std::stoull(sha256(fmt::format("{} {}", seed, range.path)).substr(0, 16), nullptr, 16)) {}

  double next() {
    // The standard's distributions give other numbers with another library.
    const double share = static_cast<double>(random_() >> 11) * 0x1p-53;
    const double low = range_.low, high = range_.high;
    const double value =
        range_.logarithmic ? std::exp(std::log(low) + share * (std::log(high) - std::log(low))) : low + share * (high - low);
    return std::clamp(std::stod(fmt::format("{:.2e}", value)), low, high);
  }

 private:
  const DrawnRange& range_;
  std::mt19937_64 random_;
};

}  // namespace

bool is_range(const std::string& path) {
  const auto last = split_path(path).second;
  return last == kUniform || last == kLogUniform;
}

std::optional<DrawnRange> read_range(const std::string& path, const Node& ends, Diagnostics& diagnostics) {
  const auto parameter = split_path(path).first, kind = split_path(path).second;
  const bool logarithmic = kind == kLogUniform;
  const auto wrong = [&](const std::string& expected) -> std::optional<DrawnRange> {
    diagnostics.add(ends.where, fmt::format("{} = {{ {} = {} }}: expected {}", parameter, kind, show(ends.value), expected));
    return std::nullopt;
  };
  const auto& two = ends.value;
  if (!two.is_array() || two.size() != 2 || !two[0].is_number() || !two[1].is_number())
    return wrong("two numbers, [lowest, highest]");
  DrawnRange range{parameter, two[0].get<double>(), two[1].get<double>(), logarithmic, ends.key, ends.where};
  if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low >= range.high)
    return wrong("the lower end first, and another one behind it");
  if (logarithmic && range.low <= 0) return wrong("ends above 0, whose logarithms are drawn between");
  return range;
}

Group drawn_points(const std::vector<DrawnRange>& ranges, std::size_t count, std::uint64_t seed, Diagnostics& diagnostics) {
  const auto& first = ranges.front();
  Group group{Group::Form::kZip, first.where, {}};
  if (ranges.size() == 1) group.form = Group::Form::kAxis, group.path = first.path;
  std::vector<Draws> draws;
  for (const auto& range : ranges) draws.emplace_back(range, seed);
  std::set<std::vector<double>> points;
  for (std::size_t tried = 0; points.size() < count;) {
    std::vector<double> point;
    for (auto& one : draws) point.push_back(one.next());
    if (!points.insert(point).second) {
      if (++tried < kMostDraws) continue;
      diagnostics.add(first.where,
                      fmt::format("of {} points that are drawn {} are different in three digits; ask for fewer, or "
                                  "make the ranges wider",
                                  count, points.size()));
      break;
    }
    tried = 0;
    Alternative alternative{first.where, {}, {}};
    for (std::size_t r = 0; r < ranges.size(); ++r)
      alternative.set.push_back({ranges[r].path, point[r], ranges[r].key, ranges[r].where});
    group.alternatives.push_back(std::move(alternative));
  }
  return group;
}

}  // namespace ablate
