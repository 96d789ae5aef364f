#include "db/questions/report_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/util/error.h"
#include "db/history/schema.h"
#include "db/questions/report_parts.h"

namespace ablate::db {
namespace {

using nlohmann::ordered_json;

std::string description_of(const Reader& reader, std::int64_t experiment) {
  return guarded(reader.file(), [&] {
    SQLite::Statement ask(reader.database(), "SELECT description FROM experiment WHERE id = ?");
    ask.bind(1, experiment);
    return ask.executeStep() ? ask.getColumn(0).getString() : std::string();
  });
}

}  // namespace

ordered_json report_data(const Reader& reader, const ReportRequest& request) {
  ordered_json report;
  report["experiments"] = ordered_json::array();
  ReportTrials trials;
  for (std::size_t i = 0; i < request.experiments.size(); ++i) {
    const auto& name = request.experiments[i];
    const auto id = reader.experiment(name);
    report["experiments"].push_back({{"name", name}, {"description", description_of(reader, id)}});
    auto selection = select_trials(reader, id);
    trials.all.insert(trials.all.end(), selection.trials.begin(), selection.trials.end());
    trials.experiment.resize(trials.all.size(), i);
  }
  if (trials.all.empty()) throw Error(no_trials_text(reader, fmt::format("{}", fmt::join(request.experiments, ", "))));

  put_trials(reader, trials, report);
  report["parameters"] = report_parameters(reader, trials.all);
  report["metrics"] = report_metrics(reader, trials.all);
  report["points"] = most_points(trials.all.size());
  report["curves"] = report_curves(reader, trials.all);
  report["tables"] = ordered_json::array();
  for (const auto& table : request.tables) report["tables"].push_back(report_table(reader, table, trials, request.experiments));
  return report;
}

}  // namespace ablate::db
