#include "db/questions/selection/tuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/records/outcome.h"
#include "core/records/setting_paths.h"
#include "db/history/schema.h"
#include "db/questions/selection/groups.h"
#include "db/questions/selection/table_axes.h"
#include "db/report/format.h"
#include "db/types/metric_name.h"

namespace ablate::db {
namespace {

class TuningRemarks {
 public:
  /// Records the metric of a choice.
  void metric(const std::string& name) { metrics_.insert(name); }
  void left_out(const std::string& value) { left_out_.push_back(value); }
  /// Records a trial without a cell.
  void unchosen() { ++unchosen_; }
  /// Records that values are compared on separate seeds.
  void apart() { apart_ = true; }
  /// Records the seeds of a choice.
  void seeds(const Contest& contest) {
    if (!contest.best) return;
    seeds_.insert(contest.seeds);
    ++made_, fragile_ += contest.is_fragile;
  }
  /// Records a choice by dev without any reported trial in the history. add() has counted the choice as undecided.
  void waiting() { ++waiting_, --undecided_; }
  void add(const std::vector<Chosen>& cell) {
    for (const auto& chosen : cell) edges_ += chosen.edge, choices_ += !chosen.values.empty();
    undecided_ += cell.front().values.empty();
  }

  std::vector<std::string> notes(const std::vector<std::string>& paths) const {
    std::vector<std::string> all;
    if (!metrics_.empty())
      all.push_back(fmt::format(
          "{}: the tried value with the best mean of {} over {}seeds (the first of equal means); results on test are read only "
          "for this value. A parameter that is named in --rows or --cols shows all values{}",
          fmt::join(paths, ", "), fmt::join(metrics_, ", "), apart_ ? "other " : "", apart_ ? ", on those other seeds" : ""));
    if (edges_ > 0)
      all.push_back(fmt::format(
          "^ the largest or the smallest tried value ({} of {} choices): a better value may lie beyond it", edges_, choices_));
    if (seeds_ == std::set<std::size_t>{1})
      all.emplace_back("values are compared on one seed: another seed may choose another value");
    else if (!seeds_.empty())
      all.push_back(fmt::format("values are compared on {} seeds: without one of them, another value wins in {} of {} choices",
                                fmt::join(seeds_, " or "), fragile_, made_));
    if (!left_out_.empty())
      all.push_back(fmt::format("not compared, because some of their trials are not done: {}", some_of(left_out_)));
    if (waiting_ > 0)
      all.push_back(
          fmt::format("{} choice{} not reported: none of {} trials on the reported seeds is here, and no result is shown",
                      waiting_, waiting_ == 1 ? " is" : "s are", waiting_ == 1 ? "its" : "their"));
    if (undecided_ > 0)
      all.push_back(fmt::format("{} choice{} open: no value has all of its trials done, and no result is shown", undecided_,
                                undecided_ == 1 ? " is" : "s are"));
    if (unchosen_ > 0)
      all.push_back(fmt::format("shown, but not compared: {} trial{} imported without the study's grid", unchosen_,
                                unchosen_ == 1 ? "" : "s"));
    return all;
  }

 private:
  std::set<std::string> metrics_;
  std::vector<std::string> left_out_;
  bool apart_ = false;
  std::set<std::size_t> seeds_;
  int made_ = 0, fragile_ = 0, edges_ = 0, choices_ = 0, undecided_ = 0, unchosen_ = 0, waiting_ = 0;
};

bool tunes(const SelectedTrial& trial) { return trial.role == Role::kTuning; }

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns each trial's cell as an axis; nullopt if the grid has no cells. An imported trial without a cell gets a separate
/// number below 0.
std::optional<Axis> cell_axis_of(const std::vector<SelectedTrial>& trials) {
  const auto is_without = [](const SelectedTrial& trial) { return trial.cell == kNoCell; };
  if (std::all_of(trials.begin(), trials.end(), is_without)) return std::nullopt;
  Axis axis;
  int alone = 0;
  for (const auto& trial : trials) axis.of_trial.push_back(is_without(trial) ? --alone : static_cast<int>(trial.cell));
  return axis;
}

/// Returns the varying axes and the named axes. The seed is an axis only if it is named. If trials tune on separate seeds, the
/// seed is never an axis.
std::vector<Axis> load_axes(const Reader& reader, const std::vector<SelectedTrial>& trials,
                            const std::vector<std::string>& named) {
  auto axes = varying_axes(reader, trials);
  std::erase_if(axes, [](const Axis& axis) { return axis.path == setting::kSeed; });
  const auto known = reader.paths();
  const bool is_apart = std::any_of(trials.begin(), trials.end(), tunes);
  for (const auto& path : named) {
    if (is_apart && path == setting::kSeed) continue;  // the choice used seeds that are not shown
    const auto is_it = [&](const Axis& axis) { return axis.path == path; };
    if (const auto at = known.find(path); at != known.end() && std::none_of(axes.begin(), axes.end(), is_it))
      axes.push_back(load_axis(reader, path, at->second, trials));  // a part of an attention's name
  }
  return axes;
}

std::vector<Members> by_group(const Groups& groups) {
  std::vector<Members> members(groups.keys.size());
  for (std::size_t t = 0; t < groups.of_trial.size(); ++t) members[groups.of_trial[t]].push_back(t);
  return members;
}

/// Returns the axes with several values in a cell.
std::vector<const Axis*> chosen_axes(const std::vector<Axis>& axes, const std::vector<Members>& cells) {
  std::vector<const Axis*> found;
  for (const auto& axis : axes)
    if (std::any_of(cells.begin(), cells.end(), [&](const Members& cell) {
          return std::any_of(cell.begin(), cell.end(), [&](auto t) { return axis.of_trial[t] != axis.of_trial[cell.front()]; });
        }))
      found.push_back(&axis);
  return found;
}

/// Returns the choice of one parameter in a cell.
Chosen chosen_of(const Axis& axis, const Contest& contest, const std::string& judge) {
  std::set<int> listed, compared;
  for (std::size_t v = 0; v < contest.values.size(); ++v) {
    const auto value = axis.of_trial[contest.values[v].front()];
    listed.insert(value);
    if (contest.compared.contains(v)) compared.insert(value);
  }
  Chosen chosen{.of = static_cast<int>(listed.size()), .compared = static_cast<int>(compared.size()), .judge = judge};
  if (!contest.best) return chosen;
  const auto index = axis.of_trial[contest.values[*contest.best].front()];
  if (index < 0) return chosen.values = {{kAbsent, nullptr}}, chosen;
  const auto& value = axis.values[static_cast<std::size_t>(index)];
  chosen.values = {{value.text, value.json}};
  bool below = false, above = false, numbers = true;
  for (const auto other : listed) {
    numbers = numbers && other >= 0 && axis.values[static_cast<std::size_t>(other)].is_number;
    if (!numbers) break;
    const auto number = axis.values[static_cast<std::size_t>(other)].number;
    below = below || number < value.number, above = above || number > value.number;
  }
  chosen.edge = numbers && listed.size() > 1 && !(below && above);
  return chosen;
}

/// Returns "attention=linear task.pool=2".
std::string label_of(std::size_t trial, const std::vector<const Axis*>& axes) {
  std::string text;
  for (const auto* axis : axes)
    if (const auto* value = axis->of(trial); value != nullptr)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", axis->path, value->text);
  return text;
}

/// Returns "1 failed, 2 missing".
std::string open_text(const Members& members, const std::vector<SelectedTrial>& trials) {
  std::map<std::string, int> open;
  for (const auto t : members) ++open[trials[t].outcome];
  if (open.size() == 1 && open.contains(std::string(outcome::kDone))) return "no number on dev";
  open.erase(std::string(outcome::kDone));
  std::vector<std::string> texts;
  for (const auto& [outcome, count] : open) texts.push_back(fmt::format("{} {}", count, outcome));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Returns the reported trials of a grid that tunes on separate seeds, if no parameter varies within a cell. For a cell without
/// reported trials, returns the cell's tuning trials as "undecided", so that none of their results is read.
std::vector<SelectedTrial> reported_of(std::vector<SelectedTrial> trials) {
  std::set<std::int64_t> reported;
  for (const auto& trial : trials)
    if (!tunes(trial)) reported.insert(trial.cell);
  std::erase_if(trials, [&](const auto& trial) { return tunes(trial) && reported.contains(trial.cell); });
  for (auto& trial : trials)
    if (tunes(trial) && trial.outcome == outcome::kDone) trial.outcome = "undecided";
  return trials;
}

/// Returns the shown trials of a cell: all trials of the best value, or only its reported trials if values are compared on
/// separate seeds. Without such trials, returns all trials of the cell and resets `best`.
Members shown_of(const Members& cell, const std::vector<SelectedTrial>& trials, const std::vector<std::size_t>& combination,
                 bool is_apart, Contest& contest) {
  if (!contest.best) return cell;
  const auto& best = contest.values[*contest.best];
  if (!is_apart) return best;
  Members shown;
  for (const auto t : cell)
    if (!tunes(trials[t]) && combination[t] == combination[best.front()]) shown.push_back(t);
  if (!shown.empty()) return shown;
  contest.best.reset();
  return cell;
}

/// Chooses within one experiment.
Tuning choose_within(const Reader& reader, std::vector<SelectedTrial> trials, const std::vector<std::string>& named) {
  const auto cell_axis = cell_axis_of(trials);
  if (!cell_axis) return {.trials = std::move(trials)};
  const auto axes = load_axes(reader, trials, named);
  std::vector<const Axis*> by{&*cell_axis}, others;
  const bool is_apart = std::any_of(trials.begin(), trials.end(), tunes);
  if (is_apart) {
    const auto all = chosen_axes(axes, by_group(Groups(by, trials.size(), true)));
    if (all.empty()) return {.trials = reported_of(std::move(trials))};
    const auto shown = std::find_if(all.begin(), all.end(), [&](const auto* axis) { return is_among(named, axis->path); });
    if (shown != all.end()) {
      // Only tuning trials have all values. A trial without a cell was imported.
      std::erase_if(trials, [](const auto& trial) { return !tunes(trial) && trial.cell != kNoCell; });
      for (auto& trial : trials) trial.role = Role::kReported;
      auto tuning = choose_within(reader, std::move(trials), named);
      tuning.notes.push_back(
          fmt::format("all values of {} are shown, on the seeds of [grid.tune]: results of the chosen value on other seeds "
                      "are left out",
                      (*shown)->path));
      return tuning;
    }
  }
  for (const auto& axis : axes)
    if (is_among(named, axis.path)) by.push_back(&axis);
  const auto cells = by_group(Groups(by, trials.size(), true));
  const auto tuned = chosen_axes(axes, cells);
  if (tuned.empty()) return {.trials = std::move(trials)};
  for (const auto& axis : axes)
    if (std::find(tuned.begin(), tuned.end(), &axis) == tuned.end()) others.push_back(&axis);
  const Groups combinations(tuned, trials.size(), true);

  Tuning tuning;
  for (const auto* axis : tuned) tuning.paths.push_back(axis->path);
  DevMetrics dev(reader, trials);
  TuningRemarks remarks;
  std::map<std::size_t, std::size_t> kept;  // trial -> cell
  for (const auto& cell : cells) {
    if (cell_axis->of_trial[cell.front()] < 0) {
      kept[cell.front()] = tuning.cells.size();
      tuning.cells.emplace_back();
      for (const auto* axis : tuned)
        tuning.cells.back().push_back(chosen_of(*axis, {.values = {cell}, .compared = {0}, .best = 0}, ""));
      remarks.unchosen();
      continue;
    }
    auto compared = cell;
    if (is_apart) std::erase_if(compared, [&](const auto t) { return !tunes(trials[t]); });
    const auto* metric = dev.of(compared);
    auto contest = contest_of(compared, combinations.of_trial, metric, dev);
    if (metric != nullptr) remarks.metric(metric->name);
    remarks.seeds(contest);
    for (std::size_t v = 0; v < contest.values.size(); ++v)
      if (const auto& members = contest.values[v]; !contest.compared.contains(v)) {
        const auto where = label_of(cell.front(), others);
        remarks.left_out(fmt::format("{}{}{} ({})", where, where.empty() ? "" : " ", label_of(members.front(), tuned),
                                     open_text(members, trials)));
      }
    const bool is_chosen = contest.best.has_value();
    for (const auto t : shown_of(cell, trials, combinations.of_trial, is_apart, contest)) {
      kept[t] = tuning.cells.size();
      if (!contest.best && trials[t].outcome == outcome::kDone) trials[t].outcome = "undecided";
    }
    tuning.cells.emplace_back();
    for (const auto* axis : tuned)
      tuning.cells.back().push_back(chosen_of(*axis, contest, metric != nullptr ? metric->name : ""));
    remarks.add(tuning.cells.back());
    if (is_apart) remarks.apart();
    if (is_chosen && !contest.best) remarks.waiting();
  }
  for (const auto& [trial, cell] : kept) {
    tuning.trials.push_back(trials[trial]);
    tuning.cell_of.push_back(cell);
  }
  tuning.notes = remarks.notes(tuning.paths);
  return tuning;
}

/// Appends the choices of another experiment. A parameter that an experiment does not tune gets an empty choice there.
void append(const Tuning& from, Tuning& to) {
  for (const auto& path : from.paths)
    if (std::find(to.paths.begin(), to.paths.end(), path) == to.paths.end()) {
      to.paths.push_back(path);
      for (auto& cell : to.cells) cell.emplace_back();
    }
  const auto first = to.cells.size();
  for (const auto& cell : from.cells) {
    auto& added = to.cells.emplace_back(to.paths.size());
    for (std::size_t p = 0; p < from.paths.size(); ++p)
      added[static_cast<std::size_t>(std::find(to.paths.begin(), to.paths.end(), from.paths[p]) - to.paths.begin())] = cell[p];
  }
  if (from.paths.empty()) to.cells.emplace_back(to.paths.size());
  for (std::size_t t = 0; t < from.trials.size(); ++t) {
    to.trials.push_back(from.trials[t]);
    to.cell_of.push_back(first + (from.paths.empty() ? 0 : from.cell_of[t]));
  }
  for (const auto& note : from.notes)
    if (std::find(to.notes.begin(), to.notes.end(), note) == to.notes.end()) to.notes.push_back(note);
}

template <class F>
const Reader::StoredMetric* find_metric(const std::vector<Reader::StoredMetric>& metrics, F&& is_it) {
  const auto at = std::find_if(metrics.begin(), metrics.end(), is_it);
  return at == metrics.end() ? nullptr : &*at;
}

}  // namespace

Tuning choose_by_dev(const Reader& reader, std::vector<SelectedTrial> trials, const std::vector<std::string>& named) {
  const auto end_of = [&](auto begin) {
    return std::find_if(begin, trials.end(), [&](const auto& trial) { return trial.experiment != begin->experiment; });
  };
  if (trials.empty() || end_of(trials.begin()) == trials.end()) return choose_within(reader, std::move(trials), named);
  Tuning all;
  for (auto begin = trials.begin(); begin != trials.end();) {
    const auto end = end_of(begin);
    append(choose_within(reader, {begin, end}, named), all);
    begin = end;
  }
  return all;
}

void fill_chosen(const Tuning& tuning, const std::vector<Members>& members, Table& table) {
  table.tuned_paths = tuning.paths;
  for (const auto& trials : members) {
    std::set<std::size_t> cells;
    for (const auto t : tuning.paths.empty() ? Members{} : trials) cells.insert(tuning.cell_of[t]);
    for (std::size_t p = 0; p < tuning.paths.size(); ++p) {
      Chosen all;
      std::set<std::string> judges;
      for (const auto cell : cells) {
        const auto& chosen = tuning.cells[cell][p];
        for (const auto& value : chosen.values)
          if (std::find(all.values.begin(), all.values.end(), value) == all.values.end()) all.values.push_back(value);
        all.of = std::max(all.of, chosen.of), all.compared = std::max(all.compared, chosen.compared);
        all.edge = all.edge || chosen.edge;
        if (!chosen.judge.empty()) judges.insert(chosen.judge);
      }
      if (judges.size() == 1) all.judge = *judges.begin();
      table.chosen.push_back(std::move(all));
    }
  }
}

DevMetrics::DevMetrics(const Reader& reader, const std::vector<SelectedTrial>& trials)
    : reader_(reader), trials_(trials), metrics_(reader.metrics()), marks_(main_metric_ids(trials)) {}

const Reader::StoredMetric* DevMetrics::of(const Members& members) const {
  const auto marked = std::find_if(members.begin(), members.end(), [&](auto t) { return marks_[t] != 0; });
  if (marked == members.end()) return nullptr;
  const auto* judged = find_metric(metrics_, [&](const auto& metric) { return metric.id == marks_[*marked]; });
  if (judged == nullptr) return nullptr;
  const auto name = on_dev(judged->name);
  return find_metric(metrics_, [&](const auto& metric) { return metric.name == name; });
}

double DevMetrics::value(const Reader::StoredMetric& metric, std::size_t trial) {
  const auto [at, fresh] = values_.try_emplace(metric.id);
  if (fresh) at->second = load_results(reader_, metric.id, trials_);
  return at->second[trial].value_or(std::nan(""));
}

namespace {

/// Fills Contest::seeds and is_fragile from the values on dev.
void leave_seeds_out(const std::vector<SelectedTrial>& trials, const Reader::StoredMetric& metric, DevMetrics& dev,
                     Contest& contest) {
  std::set<std::int64_t> seeds;
  for (const auto v : contest.compared)
    for (const auto t : contest.values[v]) seeds.insert(trials[t].seed);
  contest.seeds = seeds.size();
  const auto mean_without = [&](std::size_t v, std::int64_t seed) {
    double sum = 0;
    int count = 0;
    for (const auto t : contest.values[v])
      if (trials[t].seed != seed) sum += dev.value(metric, t), ++count;
    return sum / count;  // NaN if the value has no other seed
  };
  for (const auto seed : seeds) {
    const double best = mean_without(*contest.best, seed);
    for (const auto v : contest.compared)
      if (const double mean = mean_without(v, seed); metric.direction == "max" ? mean > best : mean < best)
        contest.is_fragile = true;
  }
}

}  // namespace

Contest contest_of(const Members& cell, const std::vector<std::size_t>& combination, const Reader::StoredMetric* metric,
                   DevMetrics& dev) {
  Contest contest;
  std::map<std::size_t, std::size_t> place;
  for (const auto t : cell) {
    const auto [at, fresh] = place.try_emplace(combination[t], contest.values.size());
    if (fresh) contest.values.emplace_back();
    contest.values[at->second].push_back(t);
  }
  if (metric == nullptr) return contest;
  double best = 0;
  for (std::size_t v = 0; v < contest.values.size(); ++v) {
    const auto& trials = contest.values[v];
    double sum = 0;
    for (const auto t : trials) sum += dev.value(*metric, t);
    const double mean = sum / static_cast<double>(trials.size());
    if (std::isnan(mean)) continue;
    contest.compared.insert(v);
    if (!contest.best || (metric->direction == "max" ? mean > best : mean < best)) contest.best = v, best = mean;
  }
  if (contest.best) leave_seeds_out(dev.trials(), *metric, dev, contest);
  return contest;
}

}  // namespace ablate::db
