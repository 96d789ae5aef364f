#include "tools/ablate/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "core/host/study/named_tables.h"
#include "core/util/error.h"
#include "core/util/plain_json.h"
#include "db/questions/report_data.h"
#include "db/report/format.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/questions/named_table.h"
#include "tools/ablate/questions/output_file.h"
#include "tools/ablate/questions/table_request.h"
#include "tools/ablate/report/page.h"

namespace ablate {
namespace {

/// Those that the study of each experiment names, else the one that `ablate table` makes of it; where several are to be seen
/// together, first the one that it makes of all of them.
std::vector<db::ReportTable> tables_of(const db::Reader& reader, const std::vector<std::string>& experiments, bool together,
                                       const db::TableRequest& usual) {
  std::vector<db::ReportTable> tables;
  if (together) {
    tables.push_back({"", usual});
    tables.front().request.experiments = experiments;
  }
  for (const auto& experiment : experiments) {
    auto request = usual;
    request.experiments = {experiment};
    const auto named = named_tables(reader.study_text(experiment), reader.study_file(experiment));
    if (named.empty() && !together) tables.push_back({"", request});
    for (const auto& table : named) {
      auto own = request;
      ask_as_named(reader, table.name, {}, own);
      tables.push_back({table.name, std::move(own)});
    }
  }
  return tables;
}

}  // namespace

void add_report(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    std::vector<std::string> experiments;
    OutputFile out;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("report", "One HTML page of tables, figures and trials, which needs no network");
  command->group(kQuestions);
  command
      ->add_option("EXPERIMENT", arguments->experiments,
                   "its latest grid; several that are named have one table first; default: all experiments")
      ->type_name("")
      ->check(not_empty());
  add_out(command, arguments->out);
  command->get_option("--out")->required();
  command->footer(
      "The page has the tables that the study names ([table.NAME]), else the one of `ablate table`, curves, a metric against "
      "its cost, parallel coordinates, all trials, failures by reason, environments. Each number leads to its trials.\n"
      "Example:\n  ablate report quickstart --out report.html");
  command->callback([command, arguments, database, &exit_code] {
    const auto texts = page_texts();
    expect_d3(texts);  // before anything is asked
    const db::Reader reader(database());
    const auto experiments = arguments->experiments.empty() ? reader.experiments() : arguments->experiments;
    for (std::size_t i = 0; i < experiments.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (experiments[i] == experiments[j])
          throw Error(fmt::format("report: {} is named twice, expected each experiment once", experiments[i]));
    for (const auto& name : experiments) static_cast<void>(reader.experiment(name));  // throws where there is none
    const bool together = arguments->experiments.size() > 1;
    const auto tables = tables_of(reader, experiments, together, usual_request(command, reader, database()));
    const auto data = db::report_data(reader, {experiments, tables});
    const auto title = fmt::format("ablate report: {}", db::some_of(experiments));
    arguments->out.put(make_page(texts, db::one_row(title), plain_json(data)));
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

}  // namespace ablate
