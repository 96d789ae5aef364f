#include "core/host/study/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/records/setting_paths.h"
#include "core/registry/values.h"

namespace ablate {
namespace {

/// Returns the part of dev's evaluation that a parameter changes, besides the model: "the task"; "" if it changes none.
std::string changed_by(const std::string& path) {
  if (is_of_task(path)) return "the task";
  if (path == setting::kShuffleLabels) return "the labels";
  if (path == setting::kEvaluateBatches) return "which examples of dev are read";
  return path == setting::kStride ? "how dev is evaluated" : "";
}

/// Returns the number of separate tuning seeds in the seeds' group, or 0 without them.
std::size_t tuning_count(const Draft& draft) { return draft.tuning_seeds ? draft.tuning_seeds->alternatives.size() : 0; }

}  // namespace

void add_tuning_seeds(Draft& draft, Diagnostics& diagnostics) {
  if (!draft.tuning_seeds) return;
  const bool tunes = std::any_of(draft.groups.begin(), draft.groups.end(), [](const auto& group) { return group.tuned; });
  auto& reported = draft.groups.back().alternatives;
  const auto& own = draft.tuning_seeds->alternatives;
  const auto is_reported = [&](const Alternative& one) {
    const auto same = [&](const Alternative& other) { return other.set.front().value == one.set.front().value; };
    return std::any_of(reported.begin(), reported.end(), same);
  };
  const auto twice = std::find_if(own.begin(), own.end(), is_reported);
  if (tunes && twice != own.end())
    diagnostics.add(twice->where,
                    fmt::format("seed {} is in grid.tune.seeds, for comparing values, and in grid.seeds, for reporting the "
                                "chosen value; give grid.tune other seeds, as in seeds = [101, 102]",
                                show(twice->set.front().value)));
  if (!tunes || twice != own.end())
    draft.tuning_seeds.reset();  // an override may have removed the tuned values from the grid
  else
    reported.insert(reported.begin(), own.begin(), own.end());
}

void check_tuned(const Draft& draft, Diagnostics& diagnostics) {
  for (const auto& group : draft.groups) {
    if (!group.tuned) continue;
    for (const auto& alternative : group.alternatives)
      for (const auto& set : alternative.set)
        if (const auto what = changed_by(set.path); !what.empty())
          diagnostics.add(set.key,
                          fmt::format("{} changes {}, so dev metrics of its values cannot be compared; make it an axis "
                                      "of [grid]",
                                      set.path, what));
    if (const auto paths = group.paths(); group.alternatives.size() == 1 && !paths.empty())
      diagnostics.add(group.alternatives.front().where,
                      fmt::format("{} is tuned, but has only one value: give it several values, or set it in [{}]",
                                  paths.front(), split_path(paths.front()).first));
  }
}

void add_values_beyond(Draft& draft, const Schema& schema, Diagnostics& diagnostics) {
  if (!draft.widen) return;
  std::vector<Group*> tuned;
  for (auto& group : draft.groups)
    if (group.tuned) tuned.push_back(&group);
  if (tuned.empty()) return;  // an override has set the value
  std::vector<double> values;
  auto& group = *tuned.front();
  for (const auto& one : group.alternatives)
    if (one.set.size() == 1 && one.set.front().value.is_number()) values.push_back(one.set.front().value);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const auto [section, key] = split_path(group.path);
  const auto parameters = schema.find_all(section, key);
  const bool is_real = std::all_of(parameters.begin(), parameters.end(),
                                   [](const auto* parameter) { return parameter->type == ParameterType::kReal; });
  if (tuned.size() > 1 || group.path.empty() || values.size() < 2 || values.size() != group.alternatives.size() ||
      values.front() <= 0 || !is_real)
    return diagnostics.add(*draft.widen,
                           "grid.tune.widen adds values beyond the ends of one axis: expected one tuned parameter of real "
                           "numbers, as train.learning_rate, with at least two different values above 0; leave widen out, or "
                           "tune such a parameter");
  const auto written = group.alternatives.front();
  const auto size = values.size();
  const auto add = [&](double end, double before, int side) {
    for (int k = 1; k <= kMostBeyond; ++k) {
      auto next = written;
      next.beyond = side * k;
      auto& value = next.set.front().value;
      value = std::stod(fmt::format("{:.2e}", end * std::pow(end / before, k)));
      const auto is_refused = [&](const auto* parameter) { return !check_value(*parameter, value).ok(); };
      const auto is_known = [&](const auto& one) { return one.set.front().value == value; };
      if (std::any_of(parameters.begin(), parameters.end(), is_refused) ||
          std::any_of(group.alternatives.begin(), group.alternatives.end(), is_known))
        return;
      group.alternatives.push_back(std::move(next));
    }
  };
  add(values[size - 1], values[size - 2], 1);
  add(values[0], values[1], -1);
}

void Cells::add(const std::vector<std::size_t>& alternatives, Trial& trial, Diagnostics& diagnostics) {
  Alternatives rest, tuned;
  std::size_t seed = 0, value = 0;
  for (std::size_t g = 0; g < alternatives.size(); ++g) {
    const auto& group = draft_.groups[g];
    if (group.form == Group::Form::kSeeds)
      seed = alternatives[g];
    else if (group.form != Group::Form::kMatched)  // matched widths follow from the other groups
      (group.tuned ? tuned : rest).push_back(alternatives[g]);
    if (group.tuned) trial.beyond = group.alternatives[alternatives[g]].beyond;
    if (group.tuned) value = value * group.alternatives.size() + alternatives[g];
  }
  if (tuned.empty()) return;
  const auto batch = trial.spec.train.batch, batches = trial.spec.train.evaluate_batches;
  auto& cell = cells_.try_emplace(rest, Cell{static_cast<std::int64_t>(cells_.size()), batch}).first->second;
  if (batches > 0 && batch != cell.batch) {
    const auto* where = trial.where.find(setting::kBatch);
    diagnostics.add(where != nullptr ? *where : draft_.start,
                    fmt::format("grid.tune compares train.batch = {} and {}, and train.evaluate_batches = {} is the number of "
                                "dev batches: the two batch sizes read different examples of dev, so metrics cannot be "
                                "compared; set train.evaluate_batches = 0, or make train.batch an axis of [grid]",
                                batch, cell.batch, batches));
  }
  cell.seeds[tuned].insert(seed);
  trial.cell = cell.number;
  trial.value = static_cast<std::int64_t>(value);
  if (seed < tuning_count(draft_)) trial.role = Role::kTuning;
}

void Cells::check_seeds(Diagnostics& diagnostics) const {
  for (const auto& [unused, cell] : cells_) {
    std::set<std::size_t> all;
    for (const auto& [tuned, seeds] : cell.seeds) all.insert(seeds.begin(), seeds.end());
    if (const auto own = tuning_count(draft_); own > 0 && (*all.begin() >= own || *all.rbegin() < own))
      diagnostics.add(draft_.tuning_seeds->where,
                      fmt::format("an exclude rule removes all seeds on which a setting's value is {}; keep a seed of "
                                  "grid{}.seeds",
                                  *all.begin() >= own ? "chosen" : "reported", *all.begin() >= own ? ".tune" : ""));
    for (const auto& [tuned, seeds] : cell.seeds) {
      if (seeds.size() == all.size()) continue;
      std::string value;
      const Location* where = nullptr;
      auto alternative = tuned.begin();
      for (const auto& group : draft_.groups) {
        if (!group.tuned) continue;
        const auto& taken = group.alternatives[*alternative++];
        if (where == nullptr) where = &taken.where;
        for (const auto& set : taken.set)
          value += fmt::format("{}{} = {}", value.empty() ? "" : ", ", set.path, show(set.value));
      }
      diagnostics.add(*where, fmt::format("{}: an exclude rule leaves out some of its seeds, and means over different seeds "
                                          "cannot be compared; exclude all of its seeds, or none",
                                          value));
    }
  }
}

}  // namespace ablate
