#include "tools/ablate/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/plan_text.h"
#include "core/host/scheduler/standing.h"
#include "core/host/study/claims.h"
#include "core/host/study/diagnostics.h"
#include "core/host/study/tuning.h"
#include "core/host/study/used_plugins.h"
#include "core/records/data_settings.h"
#include "core/util/flatten.h"
#include "core/util/plain_json.h"
#include "core/util/sha256.h"
#include "core/util/stop_on_signal.h"
#include "db/history/past_tries.h"
#include "db/history/reader.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/power.h"
#include "db/report/statistics.h"
#include "tools/ablate/expected_time.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Numbers that identify a trial's values of one section: equal values have equal numbers.
struct Numbers {
  int setting = 0;   ///< identifies the values except seeds and values that dev chooses
  int examples = 0;  ///< identifies those values that select the test examples
};

class SectionSettings {
 public:
  SectionSettings(TrialSection section, const Study& study) : section_(section), study_(study) {}

  TrialSection section() const { return section_; }

  const Numbers& of(const Trial& trial) {
    return numbers_.of(trial.sections, [&] {
      const std::string name = to_text(section_);
      const bool in_batches = trial.spec.train.test_batches > 0;  // affects only train.batch, in the section of test_batches
      auto setting = json::object(), examples = json::object();
      for (const auto& [path, value] : flatten({{name, trial.resolved().at(name)}})) {
        if (is_data_seed(path) || study_.tunes(path)) continue;
        setting[path] = value;
        if (decides_test_examples(path, in_batches)) examples[path] = value;
      }
      return Numbers{number_of(setting), number_of(examples)};
    });
  }

 private:
  int number_of(const json& values) { return known_.try_emplace(values.dump(), static_cast<int>(known_.size())).first->second; }

  TrialSection section_;
  const Study& study_;
  PerSections<Numbers> numbers_{{section_}};
  std::map<std::string, int> known_;  ///< numbers by the text of the values
};

/// A named table's contrasts in one column: their number (0: none), and whether the table shows the seeds that tune.
struct NamedContrasts {
  int comparisons = 0;
  bool tunes = false;
  bool t_test = false;  ///< true: the t test, not the exact test
};

NamedContrasts contrasts_of(const NamedTable& table, const Study& study) {
  std::size_t pairs = 0, metrics = 1;
  NamedContrasts found;
  const auto is_tuned = [&](const std::string& path) { return study.tunes(path); };
  for (const auto& asked : table.asked) {
    if (asked.option == db::statistics::contrasts.option) pairs = asked.values.size() / 2;
    if (asked.option == "rows" || asked.option == "cols")
      found.tunes =
          found.tunes || (!study.tuning_seeds.empty() && std::any_of(asked.values.begin(), asked.values.end(), is_tuned));
    if (asked.option == db::statistics::test.option) found.t_test = !asked.values.empty() && db::is_t_test(asked.values.back());
    if (asked.option == "metric") metrics = std::max<std::size_t>(1, asked.values.size());
  }
  found.comparisons = static_cast<int>(pairs * metrics);
  return found;
}

/// Returns a line about the power of n seeds over this number of comparisons.
/// @param smallest Study::smallest
std::string power_text(int n, int comparisons, double smallest, bool t_test = false) {
  const double least = db::least_effect(n, db::kLevel / comparisons, t_test);
  if (std::isinf(least)) return db::nothing_significant_text(n, comparisons) + " (" + db::fewest_seeds_text(comparisons) + ")";
  return fmt::format(
      "n = {}: over {} at {:g} % a difference of at least {:.2g} deviations of the paired differences is significant in "
      "{:g} % of cases{}{}",
      n, db::comparisons_text(comparisons), 100 * db::kLevel, least, 100 * db::kPower, t_test ? ", by the t test" : "",
      smallest > 0
          ? fmt::format("; so is experiment.smallest = {:g} if that deviation is at most {:.2g}", smallest, smallest / least)
          : "");
}

/// Returns "n = 3: no difference can be significant at 5 % ...", or the least difference that n seeds find. Covers each task's
/// settings against one setting, then each named table's contrasts, in one column. Returns "" if each task has one setting.
std::string expected_power_text(const Study& study, const std::vector<const PlannedTrial*>& trials) {
  using OfSections = SectionNumbers;
  std::map<OfSections, std::map<OfSections, std::set<std::uint64_t>>> tasks;  ///< seeds by test examples and setting
  std::vector<SectionSettings> sections;
  for (const auto section : kAllSections) sections.emplace_back(section, study);
  for (const auto* planned : trials) {
    OfSections setting, examples;
    for (auto& one : sections) {
      const auto& numbers = one.of(*planned->trial);
      setting[one.section()] = numbers.setting, examples[one.section()] = numbers.examples;
    }
    tasks[examples][setting].insert(planned->trial->spec.seed);
  }
  std::size_t comparisons = 0, seeds = 0;
  for (const auto& [unused, settings] : tasks) {
    comparisons += settings.size() - 1;
    for (const auto& [same, own] : settings) seeds = std::max(seeds, own.size());
  }
  if (comparisons == 0) return "";
  const auto n = static_cast<int>(seeds);
  auto text = power_text(n, static_cast<int>(comparisons), study.smallest);
  for (const auto& table : study.tables)
    if (const auto own = contrasts_of(table, study); own.comparisons > 0)
      text += fmt::format(
          "\ntable {}, which tests only its contrasts, in one column: {}", table.name,
          power_text(own.tunes ? static_cast<int>(study.tuning_seeds.size()) : n, own.comparisons, study.smallest, own.t_test));
  return text;
}

/// Lists every value of a trial with its place in the study; a default has no place.
std::string values_text(const Trial& trial) {
  const auto values = flatten(trial.resolved());
  std::size_t paths = 0, texts = 0;
  std::vector<std::array<std::string, 3>> lines;
  for (const auto& [path, value] : values) {
    const auto* where = trial.where.find(path);
    if (where == nullptr) where = trial.where.find(path + ".plugin");
    lines.push_back({path, db::one_row(value.is_string() ? value.get<std::string>() : plain_json(value)),
                     where == nullptr ? "" : path_text(to_text(*where))});
    paths = std::max(paths, path.size()), texts = std::max(texts, lines.back()[1].size());
  }
  std::string text;
  for (const auto& [path, value, where] : lines)
    text += where.empty() ? fmt::format("  {:<{}}  {}\n", path, paths, value)
                          : fmt::format("  {:<{}}  {:<{}}  {}\n", path, paths, value, texts, where);
  return text;
}

/// Returns how a run treats each trial with failed attempts, by key. Empty if the history cannot be read.
std::map<std::string, Retry> retries_of(const PlannedStudy& plan) try {
  std::map<std::string, Retry> found;
  std::error_code none;
  if (plan.asked.again || !std::filesystem::exists(plan.asked.database, none)) return found;
  const db::Reader reader(plan.asked.database);
  std::vector<std::string> keys;
  for (const auto* trial : plan.wanted) keys.push_back(trial->key);
  for (const auto& [key, past] : db::past_tries(reader, keys)) found[key] = retry_of(past.outcomes, plan.asked.retry);
  return found;
} catch (const Interrupted&) {
  throw;
} catch (const Error&) {
  return {};
}

/// Lists the quantities that match the reference, and each setting's width, by width_text().
std::string matched_text(const Study& study) {
  if (!study.match) return "";
  const auto& match = *study.match;
  auto text = fmt::format("{} as of {}, by {}:\n", match.text(), db::one_row(match.reference), match.width);
  for (const auto& one : study.matched) text += fmt::format("  {}: {}\n", db::one_row(one.setting), width_text(one, match));
  return text;
}

using PlannedTrials = std::vector<const PlannedTrial*>;

std::size_t count_of(const PlannedTrials& trials, Role role) {
  return static_cast<std::size_t>(std::ranges::count(trials, role, [](const auto* one) { return one->trial->role; }));
}

/// "; 12 that tune, on seeds 101, 102, then 6 that are reported and 2 with 5 times the steps, 3 of them at values not chosen
/// yet"
/// @param expected trials that are wanted, or will be wanted when dev has chosen
/// @param awaited number of `expected` trials whose values dev has not chosen yet
std::string phases_text(const PlannedStudy& plan, const PlannedTrials& expected, std::size_t awaited) {
  const auto& [seeds, factor] = std::tie(plan.study.tuning_seeds, plan.study.longer_factor);
  if (seeds.empty() && factor == 0) return "";
  std::string text = plan.asked.only.empty() ? "; " : ", by --only; ";
  if (!seeds.empty())
    text += fmt::format("{} that tune, on seed{} {}, then ", count_of(expected, Role::kTuning), seeds.size() == 1 ? "" : "s",
                        fmt::join(seeds, ", "));
  const auto reported = count_of(expected, Role::kReported);
  text += fmt::format("{} that {} reported", reported, reported == 1 ? "is" : "are");
  if (factor > 0) text += fmt::format(" and {} with {} times the steps", count_of(expected, Role::kLonger), factor);
  return text + (awaited == 0 ? "" : fmt::format(", {} of them at values not chosen yet", awaited));
}

/// Returns the tuned parameters, the number of seeds on which dev compares values, and the choices so far.
std::string tuned_text(const PlannedStudy& plan) {
  const auto& study = plan.study;
  std::set<std::uint64_t> seeds;
  for (const auto& trial : study.trials)
    if (trial.role == study.comparing_role()) seeds.insert(trial.spec.seed);
  auto text =
      fmt::format("dev chooses, for each setting of the other parameters: {}; values are compared on {} seed{}{}\n",
                  db::one_row(fmt::format("{}", fmt::join(study.tuned, ", "))), seeds.size(), seeds.size() == 1 ? "" : "s",
                  study.widens ? fmt::format(", and up to {} are added beyond an edge", kMostBeyond) : "");
  return study.waits_for_dev() ? text + plan.choice.text() + "\n" : text;
}

/// Returns the cost of [grid.longer], and the plugins' parameters whose unit is steps: longer trials do not change them.
/// @param expected as for phases_text
std::string longer_text(const PlannedStudy& plan, const PlannedTrials& expected) {
  const auto longer = count_of(expected, Role::kLonger);
  if (longer == 0) return "";
  double own = 0, all = 0;
  std::set<std::string> counting;
  for (const auto* one : expected) {
    const auto steps = static_cast<double>(one->trial->spec.train.steps * one->trial->spec.train.accumulate);
    all += steps;
    if (one->trial->role != Role::kLonger) continue;
    own += steps;
    for (const auto& use : used_plugins(one->trial->spec, plan.catalog))
      for (const auto& parameter : use.info->parameters)
        if (parameter.unit == "steps") counting.insert(use.path + "." + parameter.name);
  }
  return fmt::format("grid.longer: {} trials with {} times the steps, {:.0f} % of all steps{}", longer,
                     plan.study.longer_factor, 100 * own / all,
                     counting.empty() ? ""
                                      : fmt::format("; {} count{} steps and stay{} unchanged", fmt::join(counting, ", "),
                                                    counting.size() == 1 ? "s" : "", counting.size() == 1 ? "s" : ""));
}

/// Returns the trials that a table will show, at all values that dev may choose.
std::vector<const PlannedTrial*> reported_of(const PlannedStudy& plan) {
  auto reported = plan.study.tuning_seeds.empty() ? plan.wanted : plan.named;
  std::erase_if(reported, [](const auto* one) { return one->trial->role != Role::kReported; });
  return reported;
}

std::string aside_text(const Retry& retry) {
  if (retry.what == Retry::What::kRunsAlone) return "; runs once more, alone";
  if (retry.what == Retry::What::kRuns) return "; runs again";
  if (retry.is_exhausted) return fmt::format("; set aside after {} tries", kMostTries);
  return fmt::format("; set aside (--retry {})", retry.outcome);
}

}  // namespace

std::string dry_run_text(const PlannedStudy& plan, bool by_cost,
                         const std::function<std::vector<std::string>(const SetAside&)>& aside_lines) {
  const auto& study = plan.study;
  const auto& wanted = plan.wanted;
  const auto& database = plan.asked.database;
  if (auto why = too_few_seeds_text(study); !why.empty()) throw ConfigError({{study.claims_at, std::move(why)}});
  const auto standing = standings(wanted, study.name, database);
  const auto awaited = plan.awaited();
  auto expected = wanted;
  expected.insert(expected.end(), awaited.begin(), awaited.end());
  const auto all = expected.size();
  auto text = fmt::format("{}: {} trial{}{}{}\n", study.name, all, all == 1 ? "" : "s",
                          all == study.trials.size() || study.waits_for_dev()
                              ? ""
                              : fmt::format(" of {}{}", study.trials.size(), plan.asked.only.empty() ? "" : ", by --only"),
                          phases_text(plan, expected, awaited.size()));
  if (!study.tuned.empty()) text += tuned_text(plan);
  text += matched_text(study);
  const bool say_once = standing.nothing_like_them && wanted.size() > 1;
  if (say_once) text += "no trial is done: the history has no similar trial\n";
  const auto retries = retries_of(plan);
  SetAside set_aside;
  std::vector<const PlannedTrial*> to_run;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto retry = retries.find(wanted[i]->key);
    const bool is_aside = retry != retries.end() && retry->second.what == Retry::What::kIsSetAside;
    if (is_aside) set_aside.add(retry->second);
    if (!is_aside && (!standing.done[i] || plan.asked.again)) to_run.push_back(wanted[i]);
  }
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), 0);
  if (by_cost) {
    const auto costs = expected_seconds(wanted, database);
    const std::set<const PlannedTrial*> first(to_run.begin(), to_run.end());
    const auto rank = [&](std::size_t i) {  // unknown costs come after known costs; trials that do not run come last
      return std::tuple(!first.contains(wanted[i]), std::isnan(costs[i]), std::isnan(costs[i]) ? 0 : costs[i]);
    };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
  }
  for (const auto i : order) {
    text += fmt::format("{:>5}  {}  {}\n", i + 1, short_digest(wanted[i]->key), db::one_row(wanted[i]->trial->label));
    if (!say_once)
      text += fmt::format("       {}{}{}\n", db::one_row(standing.lines[i]),
                          plan.asked.again && standing.done[i] ? "; --again runs it once more" : "",
                          retries.contains(wanted[i]->key) ? aside_text(retries.at(wanted[i]->key)) : "");
  }
  to_run.insert(to_run.end(), awaited.begin(), awaited.end());
  if (to_run.size() < all) text += fmt::format("{} of them {} to run\n", to_run.size(), to_run.size() == 1 ? "is" : "are");
  for (const auto& line : aside_lines(set_aside)) text += line + "\n";
  text += "\nThe first trial in full:\n" + values_text(*wanted.front()->trial);
  text += fmt::format("\n{}\n", evaluation_text(wanted));
  const auto together = std::min(static_cast<std::size_t>(plan.at_a_time), to_run.size());
  for (const auto& more : {longer_text(plan, expected), crowd_text(plan, static_cast<int>(together)), positions_text(wanted),
                           expected_time_text(to_run, true, plan.at_a_time, study.timeout_s, database),
                           expected_power_text(plan.study, reported_of(plan))})
    if (!more.empty()) text += more + "\n";
  for (const auto& line : standing.left_out) say("warning: {}\n", line);
  return text;
}

}  // namespace ablate
