// The curves of a report's trials, thinned.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "db/history/schema.h"
#include "db/questions/report_parts.h"

namespace ablate::db {
namespace {

using nlohmann::ordered_json;
using Steps = std::vector<std::int64_t>;

/// To four significant digits: nobody sees more in a picture, and every digit is a byte.
ordered_json brief_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr);
}

/// A metric's curves. Most trials of a grid share their steps, which stand once.
struct MetricCurves {
  std::map<Steps, std::size_t> steps;
  std::vector<const Steps*> in_order;
  std::vector<std::size_t> trial, of;
  ordered_json values = ordered_json::array();

  void add(std::size_t of_trial, const Steps& all_steps, const std::vector<double>& all_values, std::size_t most) {
    const auto n = all_steps.size(), kept = std::min(n, most);
    Steps kept_steps;
    auto kept_values = ordered_json::array();
    for (std::size_t i = 0; i < kept; ++i) {
      const auto at = kept == n ? i : i * (n - 1) / (kept - 1);
      kept_steps.push_back(all_steps[at]);
      kept_values.push_back(brief_number(all_values[at]));
    }
    const auto [at, is_new] = steps.try_emplace(std::move(kept_steps), in_order.size());
    if (is_new) in_order.push_back(&at->first);
    trial.push_back(of_trial);
    of.push_back(at->second);
    values.push_back(std::move(kept_values));
  }
};

}  // namespace

std::size_t most_points(std::size_t trials) {
  constexpr std::size_t kTogether = 500'000, kFewest = 10, kMost = 200;
  return std::clamp(kTogether / std::max(trials, std::size_t{1}), kFewest, kMost);
}

ordered_json report_curves(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    const auto most = most_points(trials.size());
    SQLite::Statement ask(reader.database(),
                          "SELECT metric, step, value FROM curve WHERE attempt = ? ORDER BY attempt, metric, step");
    std::map<std::int64_t, MetricCurves> of_metric;
    Steps steps;
    std::vector<double> values;
    for (std::size_t t = 0; t < trials.size(); ++t) {
      if (trials[t].attempt == 0) continue;
      renew(ask, trials[t].attempt);
      std::int64_t metric = 0;
      const auto put = [&] {
        if (!steps.empty()) of_metric[metric].add(t, steps, values, most);
        steps.clear(), values.clear();
      };
      while (ask.executeStep()) {
        if (const auto next = ask.getColumn(0).getInt64(); next != metric) put(), metric = next;
        const auto value = ask.getColumn(2);
        steps.push_back(ask.getColumn(1).getInt64());
        values.push_back(value.isNull() ? std::nan("") : value.getDouble());
      }
      put();
    }
    auto all = ordered_json::array();
    for (const auto& metric : reader.metrics()) {
      const auto at = of_metric.find(metric.id);
      if (at == of_metric.end()) continue;
      auto& curves = at->second;
      auto distinct = ordered_json::array();
      for (const auto* one : curves.in_order) distinct.push_back(*one);
      all.push_back({{"metric", metric.name},
                     {"unit", metric.unit},
                     {"steps", std::move(distinct)},
                     {"trial", curves.trial},
                     {"of", curves.of},
                     {"values", std::move(curves.values)}});
    }
    return all;
  });
}

}  // namespace ablate::db
