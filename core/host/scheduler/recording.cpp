#include "core/host/scheduler/recording.h"

#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

/// Calls f. A wait for another process's lock may be long, so a stop is checked after the wait.
template <class F>
auto unless_interrupted(F&& f) try {
  return f();
} catch (const db::Unavailable&) {
  stop_if_asked();
  throw;
}

}  // namespace

db::Store open_history(const std::filesystem::path& file) {
  return unless_interrupted([&] { return db::Store(file); });
}

void record_study(db::GridStore& into, const Study& study, const std::vector<PlannedTrial>& planned,
                  const std::vector<db::KnownVerdict>& verdicts, const std::function<bool(const Trial&)>& is_left_out,
                  std::int64_t listed_us, bool ends_early) {
  std::vector<db::GridTrial> rows;
  std::vector<std::pair<std::string, Identity>> parts;
  for (const auto& trial : planned) {
    if (is_left_out && is_left_out(*trial.trial)) continue;
    rows.push_back({trial.key, [of = trial.trial] { return of->resolved(); }, trial.trial->cell, trial.trial->role});
    parts.emplace_back(trial.key, trial.identity);
  }
  std::vector<db::PublishedValue> published;
  for (const auto& [trial, metric, value, source] : study.published)
    if (!is_left_out || !is_left_out(study.trials.at(trial)))
      published.push_back({planned.at(trial).key, metric, value, source});
  const auto write_all = [&] {
    const auto experiment = into.put_experiment({study.name, study.description, std::filesystem::absolute(study.file).string(),
                                                 study.text, study.overrides, listed_us});
    if (ends_early) stop_if_asked();
    into.put_trials(experiment, rows);
    if (ends_early) stop_if_asked();
    into.put_parts(parts);
    into.put_published(experiment, published);
    into.put_verdicts(verdicts);
  };
  if (ends_early)
    unless_interrupted([&] { into.together(write_all); });
  else
    into.together(write_all);
}

}  // namespace ablate
