#include "tools/ablate/keeping/imported_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/records/setting_paths.h"
#include "tools/ablate/keeping/imported_columns.h"

namespace ablate {
namespace {

using nlohmann::json;
int rank(const json& value) { return value.is_number_integer() ? 0 : value.is_number() ? 1 : 2; }

void add_form(const json& value, std::map<double, json>& forms) {
  const auto number = written_number(value);
  if (!number) return;
  auto& form = forms.try_emplace(*number, value).first->second;
  if (rank(value) < rank(form)) form = value;
}

}  // namespace

void unite_numbers(const db::ParameterValues& stored, db::ImportedFile& file) {
  for (const auto& path : file.paths) {
    std::map<double, json> forms, of_file;
    if (const auto known = stored.find(path); known != stored.end())
      for (const auto& value : known->second) add_form(value, forms);
    std::vector<json*> values;
    for (auto& trial : file.trials)
      if (const auto at = trial.parameters.find(path); at != trial.parameters.end()) values.push_back(&at->second);
    for (const auto* value : values) add_form(*value, of_file);
    forms.insert(of_file.begin(), of_file.end());
    for (auto* value : values)
      if (const auto number = written_number(*value)) *value = forms.at(*number);
  }
}

void keep_each_run_once(db::ImportedFile& file) {
  std::map<std::string, std::size_t> places;
  std::vector<db::ImportedTrial> kept;
  std::size_t repeated = 0;
  std::string first;
  for (auto& trial : file.trials) {
    const auto [at, fresh] = trial.parameters.contains(setting::kSeed)
                                 ? places.try_emplace(json({trial.experiment, trial.parameters}).dump(), kept.size())
                                 : std::pair(places.end(), true);
    if (fresh) {
      kept.push_back(std::move(trial));
      continue;
    }
    auto& before = kept[at->second];
    const bool stays = before.outcome == outcome::kDone && trial.outcome != outcome::kDone;
    if (repeated++ == 0)
      first = fmt::format("lines {} and {} have the same parameters and seed{}: line {} counts", before.line, trial.line,
                          before.results == trial.results ? "" : ", and other numbers", stays ? before.line : trial.line);
    if (!stays) before = std::move(trial);
  }
  if (repeated > 0) file.notes.push_back(first + (repeated == 1 ? "" : fmt::format("; {} more like this", repeated - 1)));
  file.trials = std::move(kept);
}

void note_percentages(db::ImportedFile& file) {
  for (const auto& metric : file.metrics) {
    if (metric.unit != "%" || metric.kind != MetricKind::kScore) continue;
    double most = 0;
    std::vector<std::pair<std::size_t, double>> shares, above;  // line and value
    for (const auto& trial : file.trials) {
      const auto at = trial.results.find(metric.name);
      if (at == trial.results.end() || std::isnan(at->second)) continue;
      if (at->second > 0 && at->second <= 1) shares.emplace_back(trial.line, at->second);
      if (at->second > 100) above.emplace_back(trial.line, at->second);
      most = std::max(most, at->second);
    }
    for (const auto& [odd, why] : {std::pair(shares, most > 1 ? fmt::format(" beside {}; a share of 1 is 100 %", most)
                                                              : std::string("; a share of 1 is 100 %")),
                                   std::pair(above, std::string(", expected at most 100"))})
      if (!odd.empty())
        file.notes.push_back(fmt::format("{} (%): found {} in line {}{}{}", metric.name, odd.front().second, odd.front().first,
                                         odd.size() > 1 ? fmt::format(" and {} more like it", odd.size() - 1) : "", why));
  }
}

}  // namespace ablate
