#include "core/host/scheduler/recording.h"

#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

/// What another process holds is not to be had in a hurry.
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

void Recording::write(db::GridStore& into, bool ends_early) const {
  many_.begin("recording them");
  const auto tick_of = [&](const char* what) {
    return [this, ends_early, what](std::size_t done) {
      if (ends_early) stop_if_asked();
      many_.so_far(done, what);
    };
  };
  std::vector<db::GridTrial> rows;
  std::vector<std::pair<std::string, Lazy<Identity>>> parts;
  for (const auto& trial : planned_) {
    if (is_left_out_ && is_left_out_(*trial.trial)) continue;
    rows.push_back({trial.key, [of = trial.trial] { return of->resolved(); }, trial.trial->cell, trial.trial->tunes});
    parts.emplace_back(trial.key, [of = &trial.identity] { return of->whole(); });
  }
  std::vector<db::PublishedValue> published;
  for (const auto& [trial, metric, value, source] : study_.published)
    if (!is_left_out_ || !is_left_out_(study_.trials.at(trial)))
      published.push_back({planned_.at(trial).key, metric, value, source});
  const auto write_all = [&] {
    const auto experiment =
        into.put_experiment({study_.name, study_.description, std::filesystem::absolute(study_.file).string(), study_.text,
                             study_.overrides, listed_us_});
    into.put_trials(experiment, rows, tick_of("recorded"));
    into.put_parts(parts, tick_of("recorded with what their keys are made of"));
    into.put_published(experiment, published);
    into.put_verdicts(verdicts_);
  };
  if (ends_early)
    unless_interrupted([&] { into.together(write_all); });
  else
    into.together(write_all);
}

}  // namespace ablate
