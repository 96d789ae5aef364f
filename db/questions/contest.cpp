#include "db/questions/contest.h"

#include <algorithm>
#include <cmath>

namespace ablate::db {
namespace {

template <class F>
const Reader::StoredMetric* find_metric(const std::vector<Reader::StoredMetric>& metrics, F&& is_it) {
  const auto at = std::find_if(metrics.begin(), metrics.end(), is_it);
  return at == metrics.end() ? nullptr : &*at;
}

}  // namespace

DevMetrics::DevMetrics(const Reader& reader, const std::vector<SelectedTrial>& trials)
    : reader_(reader), trials_(trials), metrics_(reader.metrics()), marks_(main_metric_ids(trials)) {}

const Reader::StoredMetric* DevMetrics::of(const Members& members) const {
  const auto marked = std::find_if(members.begin(), members.end(), [&](auto t) { return marks_[t] != 0; });
  if (marked == members.end()) return nullptr;
  const auto* judged = find_metric(metrics_, [&](const auto& metric) { return metric.id == marks_[*marked]; });
  if (judged == nullptr) return nullptr;
  const auto name = "dev" + judged->name.substr(std::min(judged->name.find('/'), judged->name.size()));
  return find_metric(metrics_, [&](const auto& metric) { return metric.name == name; });
}

double DevMetrics::value(const Reader::StoredMetric& metric, std::size_t trial) {
  const auto [at, fresh] = values_.try_emplace(metric.id);
  if (fresh) at->second = load_results(reader_, metric.id, trials_);
  return at->second[trial].value_or(std::nan(""));
}

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
  return contest;
}

}  // namespace ablate::db
