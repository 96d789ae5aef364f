#include "core/host/scheduler/failure_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "core/records/setting_paths.h"
#include "core/util/flatten.h"
#include "core/util/one_line.h"
#include "core/util/plain_json.h"
#include "core/util/without_numbers.h"

namespace ablate {
namespace {

constexpr std::size_t kMostLines = 10;

using Counts = std::map<std::string, int>;

/// "signal # (...)", or "signal # (...) and 2 other reasons"
std::string most_frequent(const Counts& reasons) {
  const auto most =
      std::max_element(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  auto text = most->first;
  if (reasons.size() > 1) text += fmt::format(" (and {} other reason{})", reasons.size() - 1, reasons.size() == 2 ? "" : "s");
  return text;
}

/// Trials of one value of a parameter.
struct OfValue {
  int trials = 0;
  Counts reasons;
  std::uint64_t which = 0;  ///< the sum of their marks
};

/// Sums of such marks tell sets of trials apart, where a set each would take a large grid's memory.
std::uint64_t mark_of(std::uint64_t trial) {
  trial = (trial + 1) * 0x9E3779B97F4A7C15ULL;
  trial = (trial ^ (trial >> 30)) * 0xBF58476D1CE4E5B9ULL;
  return trial ^ (trial >> 31);
}

std::string value_text(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : plain_json(value); }

}  // namespace

std::vector<std::string> failure_lines(const std::vector<TrialEnd>& ends) {
  std::vector<std::string> lines;
  Counts all;
  std::vector<std::string> reasons;  // by trial: what its has in common with others
  for (const auto& end : ends) {
    reasons.push_back(without_numbers(one_line(end.reason, 200)));
    if (!end.reason.empty()) ++all[reasons.back()];
  }
  if (all.empty()) return lines;
  std::vector<std::pair<std::string, int>> ordered(all.begin(), all.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [reason, count] : ordered) {
    if (lines.size() == kMostLines) break;
    lines.push_back(fmt::format("{} {}", count, reason));
  }
  std::map<std::string, std::map<std::string, OfValue>> axes;
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (const auto& [path, value] : flatten(ends[i].planned->trial->resolved())) {
      if (path == setting::kSeed) continue;
      auto& one = axes[path][value_text(value)];
      ++one.trials;
      one.which += mark_of(i);
      if (!ends[i].reason.empty()) ++one.reasons[reasons[i]];
    }
  std::set<std::uint64_t> told;  // what several parameters tell is told once
  const auto first = lines.size();
  for (const auto& [path, values] : axes) {
    if (values.size() < 2) continue;
    for (const auto& [value, one] : values) {
      int failed = 0;
      for (const auto& [reason, count] : one.reasons) failed += count;
      if (one.trials < 2 || failed < one.trials || one.trials == static_cast<int>(ends.size()) ||
          !told.insert(one.which).second)
        continue;
      if (lines.size() - first < kMostLines)
        lines.push_back(
            fmt::format("all {} of {} = {}: {}", one.trials, path, one_line(value, 60), most_frequent(one.reasons)));
    }
  }
  return lines;
}

}  // namespace ablate
