#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/shared/metrics.h"
#include "core/util/error.h"
#include "core/util/nearest.h"
#include "db/questions/exports/export_trials.h"
#include "db/types/metric_name.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/offers.h"
#include "tools/ablate/questions/output_file.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

const std::vector<std::string>& export_formats() {
  static const std::vector<std::string> names = {"csv", "jsonl"};
  return names;
}

db::ExportFormat export_format(const std::string& name) {
  if (name == "csv") return db::ExportFormat::kCsv;
  if (name == "jsonl") return db::ExportFormat::kJsonl;
  throw Error(fmt::format("no format \"{}\" of export{}", name, hint(name, export_formats())));
}

/// True if ablate itself defines the metric, so that `ablate import` needs no unit and direction for it.
bool is_house_metric(const MetricInfo& metric) {
  static const auto all = house_metrics();
  return std::any_of(all.begin(), all.end(), [&](const MetricInfo& one) {
    return one.name == db::without_group(metric.name) && one.unit == metric.unit && one.direction == metric.direction;
  });
}

/// Prints on stderr how many trials the export leaves out, and why.
void tell_left_out(const db::Exported& exported) {
  const auto tell = [](std::int64_t count, const char* one, const char* several) {
    if (count > 0) say("note: {} trial{} left out: {}\n", count, count == 1 ? " is" : "s are", count == 1 ? one : several);
  };
  tell(exported.missing, "it has not run", "they have not run");
  tell(exported.earlier, "only an earlier grid has it", "only earlier grids have them");
  tell(exported.superseded, "its settings have a later trial", "their settings have later trials");
  if (exported.trials == 0) say("note: no trial has run yet\n");
}

}  // namespace

void add_export(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    std::vector<std::string> experiments;
    db::ExportFormat format = db::ExportFormat::kCsv;
    OutputFile out;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("export", "Trials with all their parameters and metrics, a line each, for other programs");
  command->group(kQuestions);
  command->add_option("EXPERIMENT", arguments->experiments, "the trials of its latest grid; default: all experiments")
      ->type_name("")
      ->check(not_empty());
  command
      ->add_option_function<std::string>(
          "--format", [arguments](const std::string& name) { arguments->format = export_format(name); },
          "csv: columns experiment, key, attempt, outcome, reason, started, wall_s, main_metric, the parameters by path and "
          "the metrics by name (a plugin's own metrics with unit and direction); jsonl: an object on each line, with typed "
          "values and the plugins' code identities; default: csv")
      ->check(offers(export_formats()))
      ->type_name("FORMAT");
  add_out(command, arguments->out);
  add_export_weights(*command, database, exit_code);
  command->footer(
      "Each trial that has run is written with its latest done attempt, else with its latest attempt.\n"
      "Example:\n  ablate export quickstart --out quickstart.csv");
  command->callback([command, arguments, database, &exit_code] {
    if (!command->get_subcommands().empty()) return;
    const db::Reader reader(database());
    db::Exported exported;
    arguments->out.put([&](const db::Write& write) {
      exported = db::export_trials(reader, arguments->experiments, arguments->format, write, is_house_metric);
    });
    tell_left_out(exported);
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

}  // namespace ablate
