#include "tools/ablate/expected_power.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/records/data_settings.h"
#include "core/util/flatten.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/power.h"
#include "db/report/statistics.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Of what trials have in a section, numbers that are equal where that is.
struct Numbers {
  int setting = 0;   ///< beside seeds and what dev chooses
  int examples = 0;  ///< of the setting what decides which test examples are asked
};

class SectionSettings {
 public:
  SectionSettings(TrialSection section, const Study& study) : section_(section), study_(study) {}

  const Numbers& of(const Trial& trial) {
    return numbers_.of(trial.sections, [&] {
      const std::string name = to_text(section_);
      const bool in_batches = trial.spec.train.test_batches > 0;  // train.batch stands beside it
      auto setting = json::object(), examples = json::object();
      for (const auto& [path, value] : flatten({{name, trial.resolved().at(name)}})) {
        if (is_data_seed(path) || is_tuned(path)) continue;
        setting[path] = value;
        if (decides_test_examples(path, in_batches)) examples[path] = value;
      }
      return Numbers{number_of(setting), number_of(examples)};
    });
  }

 private:
  bool is_tuned(const std::string& path) const {
    return std::any_of(study_.tuned.begin(), study_.tuned.end(), [&](const auto& one) { return history_path(one) == path; });
  }
  int number_of(const json& values) { return known_.try_emplace(values.dump(), static_cast<int>(known_.size())).first->second; }

  TrialSection section_;
  const Study& study_;
  PerSections<Numbers> numbers_{{section_}};
  std::map<std::string, int> known_;  ///< by text
};

/// A named table's contrasts in one column: how many comparisons, 0 where it names none; and whether its numbers are of the
/// seeds that tune.
struct NamedContrasts {
  int comparisons = 0;
  bool tunes = false;
  bool t_test = false;  ///< in place of the exact one
};

NamedContrasts contrasts_of(const NamedTable& table, const Study& study) {
  std::size_t pairs = 0, metrics = 1;
  NamedContrasts found;
  const auto is_tuned = [&](const std::string& path) {
    return std::any_of(study.tuned.begin(), study.tuned.end(),
                       [&](const auto& one) { return history_path(one) == history_path(path); });
  };
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

/// What n seeds tell of so many comparisons.
std::string told_text(int n, int comparisons, bool t_test = false) {
  const double least = db::least_effect(n, db::kLevel / comparisons, t_test);
  if (std::isinf(least)) return db::nothing_told_text(n, comparisons) + " (" + db::fewest_seeds_text(comparisons) + ")";
  return fmt::format(
      "n = {}: over {} at {:g} % a difference of at least {:.2g} deviations of the paired differences is told in {:g} % of "
      "cases{}",
      n, db::comparisons_text(comparisons), 100 * db::kLevel, least, 100 * db::kPower, t_test ? ", by the t test" : "");
}

}  // namespace

std::string expected_power_text(const Study& study, const std::vector<const PlannedTrial*>& trials) {
  using OfSections = std::array<int, kTrialSections>;
  std::map<OfSections, std::map<OfSections, std::set<std::uint64_t>>> tasks;  ///< seeds by test examples and setting
  std::vector<SectionSettings> sections;
  for (const auto section : kAllSections) sections.emplace_back(section, study);
  for (const auto* planned : trials) {
    OfSections setting{}, examples{};
    for (std::size_t s = 0; s < sections.size(); ++s) {
      const auto& numbers = sections[s].of(*planned->trial);
      setting[s] = numbers.setting, examples[s] = numbers.examples;
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
  auto text = told_text(n, static_cast<int>(comparisons));
  for (const auto& table : study.tables)
    if (const auto own = contrasts_of(table, study); own.comparisons > 0)
      text += fmt::format("\ntable {}, which tests its contrasts alone, in one column: {}", table.name,
                          told_text(own.tunes ? static_cast<int>(study.tuning_seeds.size()) : n, own.comparisons, own.t_test));
  return text;
}

}  // namespace ablate
