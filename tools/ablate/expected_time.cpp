#include "tools/ablate/expected_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/util/bytes_text.h"
#include "core/util/error.h"
#include "db/history/durations.h"
#include "db/history/lineage.h"
#include "db/history/reader.h"
#include "db/report/format.h"

namespace ablate {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// What a trial of so many steps takes: the median of done ones with as many steps, or, where there is none, of their time by
/// the step, times the steps.
double expected_s(const std::vector<db::DoneTime>& done, std::int64_t steps, bool& by_step) {
  std::vector<double> alike, each, any;
  for (const auto& [wall_s, of_steps, peak_bytes] : done) {
    any.push_back(wall_s);
    if (of_steps == steps) alike.push_back(wall_s);
    if (of_steps > 0) each.push_back(wall_s / static_cast<double>(of_steps));
  }
  if (!alike.empty()) return median(alike);
  if (each.empty()) return median(any);
  by_step = true;
  return median(each) * static_cast<double>(steps);
}

struct Past {
  std::map<std::string, std::int64_t> done;  ///< by key
  std::map<db::Ran, std::vector<db::DoneTime>> times;
};

/// Nothing of a history that is missing or cannot be read: the lines of the trials say so.
Past load(const std::vector<const PlannedTrial*>& trials, const std::filesystem::path& database) try {
  std::error_code none;
  if (!std::filesystem::exists(database, none)) return {};
  const db::Reader reader(database);
  std::vector<std::string> keys;
  for (const auto* trial : trials) keys.push_back(trial->key);
  return {db::done_attempts(reader, keys), db::done_times(reader)};
} catch (const Error&) {
  return {};
}

std::int64_t peak_of(const std::vector<db::DoneTime>& done) {
  std::int64_t most = 0;
  for (const auto& one : done) most = std::max(most, one.peak_bytes);
  return most;
}

std::string trials_text(std::size_t count) { return fmt::format("{} trial{}", count, count == 1 ? "" : "s"); }

}  // namespace

std::vector<double> expected_seconds(const std::vector<const PlannedTrial*>& trials, const std::filesystem::path& database) {
  const auto past = load(trials, database);
  std::vector<double> all;
  for (const auto* trial : trials) {
    bool by_step = false;
    const auto found = past.times.find(db::ran(trial->plugins));
    all.push_back(found == past.times.end() ? std::nan("")
                                            : expected_s(found->second, trial->trial->spec.train.steps, by_step));
  }
  return all;
}

std::string expected_time_text(const std::vector<const PlannedTrial*>& trials, bool again, int at_a_time, double timeout_s,
                               const std::filesystem::path& database) {
  const auto past = load(trials, database);
  std::set<std::string> keys;  // one key runs once
  double sum = 0, longest = 0;
  std::size_t known = 0, too_long = 0;
  std::int64_t most_bytes = 0;
  bool by_step = false;
  for (const auto* trial : trials) {
    if ((!again && past.done.contains(trial->key)) || !keys.insert(trial->key).second) continue;
    const auto found = past.times.find(db::ran(trial->plugins));
    if (found == past.times.end()) continue;
    const auto expected = expected_s(found->second, trial->trial->spec.train.steps, by_step);
    most_bytes = std::max(most_bytes, peak_of(found->second));
    if (timeout_s > 0 && expected > timeout_s) ++too_long;
    ++known, sum += expected, longest = std::max(longest, expected);
  }
  if (keys.empty()) return "";
  if (known == 0) return "expected time: not known, no trial of the same attention and task is done";
  const auto together = std::min(static_cast<std::size_t>(at_a_time), known);
  auto text = fmt::format(
      "expected time: {} for {}{} (the medians of done trials of the same attention and task{}, whatever their other settings)",
      db::duration_text(std::max(longest, sum / static_cast<double>(together))), trials_text(known),
      together > 1 ? fmt::format(", {} at a time", together) : "",
      by_step ? ", by the step where none had as many" : " with as many steps");
  if (known < keys.size()) text += fmt::format("; not known for {}, of which none is done", trials_text(keys.size() - known));
  if (most_bytes > 0)
    text += fmt::format("\nexpected memory: {} a trial at most, as resident as such trials were, with what they share",
                        bytes_text(static_cast<std::uintmax_t>(most_bytes)));
  if (too_long > 0)
    text += fmt::format("\nwarning: experiment.timeout ends a trial after {}, and {} {} expected to take longer, {} at most",
                        db::duration_text(timeout_s), trials_text(too_long), too_long == 1 ? "is" : "are",
                        db::duration_text(longest));
  return text;
}

}  // namespace ablate
