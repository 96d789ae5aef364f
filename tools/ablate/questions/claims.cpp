#include "db/report/claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>

#include "core/host/study/claims.h"
#include "core/records/data_settings.h"
#include "core/records/setting_paths.h"
#include "core/util/error.h"
#include "db/questions/tables/make_table.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/questions/output_file.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/questions/table_request.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

/// Returns a table of an experiment with one column and a row for each setting.
db::Table settings_table(const db::Reader& reader, db::TableRequest request) {
  const auto usual = db::make_table(reader, request);
  request.rows = usual.row_paths;
  request.rows.insert(request.rows.end(), usual.column_paths.begin(), usual.column_paths.end());
  std::erase_if(request.rows, is_data_seed);
  return usual.column_paths.empty() && request.rows == usual.row_paths ? usual : db::make_table(reader, request);
}

/// Returns the answers to the claims of an experiment's study. Throws Error if the study makes no claim.
std::vector<db::ClaimAnswer> answers_of(const db::Reader& reader, const std::string& experiment, db::TableRequest request) {
  const auto claims = claims_of(reader.study_text(experiment), reader.study_file(experiment));
  if (claims.empty())
    throw Error(fmt::format("claims: the study of {} made no claim when it ran last; write [[claim]] into it and `ablate run` it "
                            "again, which repeats no trial",
                            experiment));
  request.experiments = {experiment};
  for (const auto& claim : claims)
    if (!claim.metric.empty() && std::find(request.metrics.begin(), request.metrics.end(), claim.metric) == request.metrics.end())
      request.metrics.push_back(claim.metric);
  const bool needs_main = std::any_of(claims.begin(), claims.end(), [](const Claim& claim) { return claim.metric.empty(); });
  if (!request.metrics.empty() && needs_main)
    for (auto& metric : db::make_table(reader, {.experiments = {experiment}}).metrics)
      if (std::find(request.metrics.begin(), request.metrics.end(), metric.name) == request.metrics.end())
        request.metrics.insert(request.metrics.begin(), metric.name);
  return db::judge(claims, settings_table(reader, std::move(request)));
}

}  // namespace

void add_claims(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    std::vector<std::string> experiments;
    db::Format format = db::Format::kText;
    OutputFile out;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("claims", "Judge the claims that studies made before they ran");
  command->group(kQuestions);
  add_experiments(command, arguments->experiments);
  add_format(command, arguments->format, db::format_names(), db::formats_help() + "; default: text");
  add_out(command, arguments->out);
  command->footer(
      "A study claims a difference in [[claim]]. The claim holds if the exact test finds it (5 % over all claims of its family, "
      "Holm), and trials with more steps ([grid.longer]) confirm it: same sign, at least half the size. Without them it holds "
      "only at the study's steps. It is refuted if the test finds the opposite, else undecided.\n"
      "Example:\n  ablate claims card\n  ablate claims card --format markdown --out claims.md");
  command->callback([arguments, command, database, &exit_code] {
    const db::Reader reader(database());
    auto experiments = arguments->experiments;
    if (experiments.empty()) refuse_several(reader, "name one or several");
    if (experiments.empty()) experiments = reader.experiments();
    const auto request = usual_request(command, reader, database());
    std::vector<std::vector<db::ClaimAnswer>> answers;
    for (const auto& one : experiments) answers.push_back(answers_of(reader, one, request));
    put_rows(arguments->format, arguments->out, [&](bool for_people) {
      db::NamedRows all;
      for (std::size_t i = 0; i < experiments.size(); ++i) {
        auto own = db::claim_rows(answers[i], "", for_people);
        own.names.emplace_back("study");
        for (auto& row : own.rows) row.emplace_back(experiments[i]), all.rows.push_back(std::move(row));
        all.names = own.names;
      }
      return all;
    });
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

}  // namespace ablate
