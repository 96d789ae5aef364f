#include "tools/ablate/expected_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

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

/// Expected cost of a trial: the median time of done trials with equally many steps, else the median time per step times steps.
struct Expected {
  double seconds = 0;
  bool by_step = false;
  std::int64_t most_bytes = 0;  ///< most memory that one of the done trials used
};

Expected expected_of(const std::vector<db::DoneTime>& done, std::int64_t steps) {
  std::vector<double> alike, each, any;
  Expected found;
  for (const auto& [wall_s, of_steps, peak_bytes] : done) {
    any.push_back(wall_s);
    if (of_steps == steps) alike.push_back(wall_s);
    if (of_steps > 0) each.push_back(wall_s / static_cast<double>(of_steps));
    found.most_bytes = std::max(found.most_bytes, peak_bytes);
  }
  found.by_step = alike.empty() && !each.empty();
  found.seconds = found.by_step ? median(each) * static_cast<double>(steps) : median(alike.empty() ? any : alike);
  return found;
}

struct Past {
  std::map<std::string, std::int64_t> done;  ///< by key
  std::map<db::Ran, std::vector<db::DoneTime>> times;
};

/// Returns an empty value for a history that is missing or cannot be read; the lines of the trials report that.
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

/// Expected costs of trials; trials with the same plugins and steps share one computation.
class Expectations {
 public:
  explicit Expectations(const std::map<db::Ran, std::vector<db::DoneTime>>& times) : times_(times) {}

  /// Returns nullptr if no trial with the plugins of `trial` is done.
  const Expected* of(const PlannedTrial& trial) {
    const auto done = times_.find(db::ran(trial.plugins));
    if (done == times_.end()) return nullptr;
    const auto steps = trial.trial->spec.train.steps;
    const auto [at, fresh] = found_.try_emplace({&done->second, steps});
    if (fresh) at->second = expected_of(done->second, steps);
    return &at->second;
  }

 private:
  const std::map<db::Ran, std::vector<db::DoneTime>>& times_;
  std::map<std::pair<const std::vector<db::DoneTime>*, std::int64_t>, Expected> found_;
};

std::string trials_text(std::size_t count) { return fmt::format("{} trial{}", count, count == 1 ? "" : "s"); }

}  // namespace

std::vector<double> expected_seconds(const std::vector<const PlannedTrial*>& trials, const std::filesystem::path& database) {
  const auto past = load({}, database);
  Expectations expectations(past.times);
  std::vector<double> all;
  for (const auto* trial : trials) {
    const auto* const expected = expectations.of(*trial);
    all.push_back(expected == nullptr ? std::nan("") : expected->seconds);
  }
  return all;
}

std::string expected_time_text(const std::vector<const PlannedTrial*>& trials, bool again, int at_a_time, double timeout_s,
                               const std::filesystem::path& database) {
  const auto past = load(again ? std::vector<const PlannedTrial*>() : trials, database);
  Expectations expectations(past.times);
  std::unordered_set<std::string_view> keys;  // each key runs once
  double sum = 0, longest = 0;
  std::size_t known = 0, too_long = 0;
  std::int64_t most_bytes = 0;
  bool by_step = false;
  for (const auto* trial : trials) {
    if ((!again && past.done.contains(trial->key)) || !keys.insert(trial->key).second) continue;
    const auto* const expected = expectations.of(*trial);
    if (expected == nullptr) continue;
    by_step = by_step || expected->by_step;
    most_bytes = std::max(most_bytes, expected->most_bytes);
    if (timeout_s > 0 && expected->seconds > timeout_s) ++too_long;
    ++known, sum += expected->seconds, longest = std::max(longest, expected->seconds);
  }
  if (keys.empty()) return "";
  if (known == 0) return "expected time: unknown, because no trial of the same attention and task is done";
  const auto together = std::min(static_cast<std::size_t>(at_a_time), known);
  auto text =
      fmt::format("expected time: {} for {}{} (medians of done trials with the same attention{}; other settings may differ)",
                  db::duration_text(std::max(longest, sum / static_cast<double>(together))), trials_text(known),
                  together > 1 ? fmt::format(", {} at a time", together) : "",
                  by_step ? " and task, by the time of a step if none had as many steps" : ", task and number of steps");
  if (known < keys.size()) text += fmt::format("; unknown for {}: no similar trial is done", trials_text(keys.size() - known));
  if (most_bytes > 0)
    text += fmt::format("\nexpected memory: at most {} a trial, as in similar done trials (resident, with shared memory)",
                        bytes_text(static_cast<std::uintmax_t>(most_bytes)));
  if (too_long > 0)
    text += fmt::format("\nwarning: experiment.timeout ends a trial after {}, and {} {} expected to take longer, {} at most",
                        db::duration_text(timeout_s), trials_text(too_long), too_long == 1 ? "is" : "are",
                        db::duration_text(longest));
  return text;
}

}  // namespace ablate
