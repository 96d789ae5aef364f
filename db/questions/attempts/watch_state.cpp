#include "db/questions/attempts/watch_state.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/records/outcome.h"
#include "core/util/without_numbers.h"
#include "db/history/imports.h"
#include "db/history/process.h"
#include "db/history/schema.h"
#include "db/history/sql.h"
#include "db/questions/attempts/list_attempts.h"
#include "db/questions/selection/attention_names.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

using SQLite::Statement;

constexpr std::int64_t kLatest = 5;  ///< number of shown attempts that have ended
constexpr std::size_t kNext = 3;     ///< number of shown trials of the queue

std::int64_t listed_us(const Reader& reader, std::int64_t experiment) {
  Statement ask(reader.database(), "SELECT listed_us FROM experiment WHERE id = ?");
  return number_from(ask, experiment);
}

/// Adds running trials to the state. Ignores a trial that is reported as running although its attempt has been stored: it has
/// just ended. Returns the trials' ids.
std::set<std::int64_t> take_running(const Reader& reader, const std::vector<AttemptLine>& lines, std::int64_t now_us,
                                    WatchState& state) {
  std::set<std::int64_t> trials;
  Statement ask(reader.database(),
                "SELECT id, EXISTS (SELECT 1 FROM attempt WHERE trial = t.id AND started_us = ?2) FROM trial t WHERE key = ?1");
  for (const auto& line : lines) {
    if (!renew(ask, line.key, line.started_us).executeStep() || ask.getColumn(1).getInt() != 0) continue;
    trials.insert(ask.getColumn(0).getInt64());
    WatchedTrial trial{.key = line.key,
                       .label = line.label,
                       .host = line.host,
                       .started_us = line.started_us,
                       .step = line.step,
                       .steps = line.steps,
                       .loss = line.value};
    trial.elapsed_s = static_cast<double>(std::max<std::int64_t>(0, now_us - line.started_us)) / 1e6;
    if (trial.step > 0 && trial.step < trial.steps)
      trial.left_s = trial.elapsed_s * static_cast<double>(trial.steps - trial.step) / static_cast<double>(trial.step);
    state.running.push_back(std::move(trial));
  }
  return trials;
}

class Failures {
 public:
  void add(const std::string& outcome, const std::string& reason, std::int64_t attempt) {
    auto text = first_line(reason);
    if (text.empty()) text = outcome;
    auto& one = by_reason_[outcome + ": " + reason_group(reason)];
    ++one.trials;
    if (attempt > one.attempt) one.attempt = attempt, one.reason = text;
  }
  std::vector<WatchedFailure> most_frequent_first() const {
    std::vector<WatchedFailure> all;
    for (const auto& [reason, one] : by_reason_) all.push_back(one);
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.trials > b.trials; });
    return all;
  }

 private:
  std::map<std::string, WatchedFailure> by_reason_;
};

/// Sum and number of the done trials' times.
struct Times {
  double sum_s = 0;
  std::int64_t count = 0;
};

/// Estimates the time left. A queued trial takes the mean time of done trials, else the mean expected time of running trials.
/// Assumes that the number of running trials stays the same. The grid does not end before its last running trial.
std::optional<double> time_left(const WatchState& state, Times times) {
  double longest_s = 0, running_s = 0;
  if (times.count == 0)
    for (const auto& trial : state.running)
      if (trial.left_s) times.sum_s += trial.elapsed_s + *trial.left_s, ++times.count;
  if (times.count == 0) return std::nullopt;
  const double each_s = times.sum_s / static_cast<double>(times.count);
  for (const auto& trial : state.running) {
    const double left_s = trial.left_s.value_or(trial.step > 0 ? 0 : std::max(0.0, each_s - trial.elapsed_s));
    longest_s = std::max(longest_s, left_s);
    running_s += left_s;
  }
  const auto at_a_time = static_cast<double>(std::max<std::size_t>(1, state.running.size()));
  return std::max(longest_s, (running_s + each_s * static_cast<double>(state.queued)) / at_a_time);
}

}  // namespace

std::vector<std::string> running_experiments(const Reader& reader) {
  return guarded(reader.file(), [&] {
    std::map<std::pair<std::int64_t, std::string>, bool> names;  // by the time at which the grid was written
    Statement ask(reader.database(),
                  "SELECT e.listed_us, e.name, r.host, r.process, r.started FROM running r JOIN trial t ON t.key = r.key JOIN "
                  "experiment e ON e.id = (SELECT m.experiment FROM experiment_trial m JOIN experiment o ON o.id = "
                  "m.experiment WHERE m.trial = t.id ORDER BY m.listed DESC, o.listed_us DESC, o.id DESC LIMIT 1)");
    const auto here = this_host();
    while (ask.executeStep()) {
      const Process process{ask.getColumn(2).getString(), ask.getColumn(3).getInt64(), ask.getColumn(4).getInt64()};
      if (process.host != here || lives(process)) names[{ask.getColumn(0).getInt64(), ask.getColumn(1).getString()}] = true;
    }
    std::vector<std::string> all;
    for (const auto& [name, unused] : names) all.push_back(name.second);
    return all;
  });
}

std::string latest_experiment(const Reader& reader) {
  return guarded(reader.file(), [&] {
    Statement ask(reader.database(), "SELECT name FROM experiment ORDER BY listed_us DESC, id DESC LIMIT 1");
    return ask.executeStep() ? ask.getColumn(0).getString() : std::string();
  });
}

WatchState watch_state(const Reader& reader, const std::string& experiment, std::int64_t now_us) {
  return guarded(reader.file(), [&] {
    WatchState state;
    state.experiment = experiment;
    const auto id = reader.experiment(experiment);
    const auto since_us = listed_us(reader, id);
    const auto list = list_attempts(reader, {.experiment = experiment, .failed = false, .here = true, .most = kLatest});
    state.is_running = !list.running.empty();
    const auto running = take_running(reader, list.running, now_us, state);
    for (const auto& line : list.lines)
      state.latest.push_back(
          {line.attempt, line.label, line.outcome, first_line(line.reason), line.metric, line.value, line.wall_s});

    // Imported trials ran elsewhere: no run of this grid waits for them, and their times do not predict times here.
    const auto imported = fmt::format("EXISTS (SELECT 1 FROM attempt WHERE trial = m.trial AND environment IN ({}))",
                                      fmt::format(kImportedEnvironments, "main"));
    Statement count(reader.database(),
                    "SELECT count(*) FROM experiment_trial m WHERE m.experiment = ? AND m.listed = 1 AND " + imported);
    count.bind(1, id);
    if (count.executeStep()) state.imported = count.getColumn(0).getInt64();
    TrialLabels labels(reader);
    Failures failures;
    Times times;
    Statement ask(reader.database(),
                  fmt::format("SELECT m.trial, (SELECT id FROM attempt WHERE trial = m.trial AND outcome = 'done' ORDER BY {0} "
                              "LIMIT 1), (SELECT id FROM attempt WHERE trial = m.trial ORDER BY {0} LIMIT 1) FROM "
                              "experiment_trial m WHERE m.experiment = ? AND m.listed = 1 AND NOT {1} ORDER BY m.position",
                              kLatestFirst, imported));
    Statement attempt(reader.database(), "SELECT outcome, reason, started_us, wall_s FROM attempt WHERE id = ?");
    const auto look = [&](int column) { renew(attempt, ask.getColumn(column).getInt64()).executeStep(); };
    ask.bind(1, id);
    while (ask.executeStep()) {
      ++state.trials;
      const auto trial = ask.getColumn(0).getInt64();
      const bool is_done = !ask.isColumnNull(1);
      if (is_done) {
        look(1);
        times.sum_s += attempt.getColumn(3).getDouble();
        ++times.count;
      }
      if (running.contains(trial)) continue;
      if (is_done) {
        ++state.done;
        continue;
      }
      bool has_failed = false;
      if (!ask.isColumnNull(2)) {
        look(2);
        const auto name = attempt.getColumn(0).getString();
        const auto* const outcome = find_outcome(name);
        const bool runs_again = outcome != nullptr && outcome->next != Outcome::Next::kOnRequest;  // a run retries it
        const bool is_before = state.is_running && attempt.getColumn(2).getInt64() < since_us;
        has_failed = counts_as_failed(name) && !(runs_again && is_before);
        if (has_failed) failures.add(name, attempt.getColumn(1).getString(), ask.getColumn(2).getInt64());
      }
      ++(has_failed ? state.failed : state.queued);
      if (!has_failed && state.next.size() < kNext) state.next.push_back(labels.of(trial));
    }
    state.failures = failures.most_frequent_first();
    if (state.is_running) {
      state.elapsed_s = static_cast<double>(std::max<std::int64_t>(0, now_us - since_us)) / 1e6;
      state.left_s = time_left(state, times);
    }
    return state;
  });
}

}  // namespace ablate::db
