#include "db/report/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/host/study/claims.h"
#include "core/host/study/document.h"
#include "core/host/study/longer.h"
#include "core/records/setting_paths.h"
#include "core/util/error.h"
#include "db/questions/tables/make_table.h"
#include "db/report/format.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/questions/output_file.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/questions/table_request.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

/// A study with its answers.
struct Answered {
  StudyClaims study;
  std::vector<db::ClaimAnswer> answers;
};

/// Fills in the steps and the context of answers. A row's own settings replace the study's.
void put_context(const StudyClaims& study, const db::Table& table, std::vector<db::ClaimAnswer>& answers) {
  std::string tuned;
  for (std::size_t p = 0; p < table.tuned_paths.size(); ++p) {
    int most = 0;
    for (std::size_t row = 0; row < table.rows.size(); ++row) most = std::max(most, table.choice(row, 0, p).of);
    tuned += fmt::format(", {} of {} values", table.tuned_paths[p], most);
  }
  for (auto& answer : answers) {
    for (auto [path, value] : study.context) {
      const auto at = std::find(table.row_paths.begin(), table.row_paths.end(), path);
      if (answer.row && at != table.row_paths.end())
        value = table.rows[*answer.row][static_cast<std::size_t>(at - table.row_paths.begin())];
      if (path == setting::kSteps) answer.steps = value;
      if (value.empty()) continue;
      const auto text = path == setting::kTask    ? value
                        : path == setting::kSteps ? value + " steps"
                                                  : fmt::format("{} {}", path, value);
      answer.context += (answer.context.empty() ? "" : ", ") + text;
    }
    answer.context += tuned;
  }
}

/// @param name an experiment, whose stored study makes the claims, or the path of a study
Answered answered(const db::Reader& reader, const std::string& name, db::TableRequest request) {
  Answered one;
  if (name.ends_with(".toml")) {
    const auto text = read_toml(name, "a study");
    one.study = claims_of(text, name, {});
    const auto stored = reader.study_text(one.study.name);
    if (!stored.empty() && stored != text)
      say("note: {} differs from the study that ran as {}: its claims may have been written after the results\n",
          db::one_row(name), db::one_row(one.study.name));
    request.smallest_of = [smallest = smallest_of(text, name, {})](const std::string&) { return smallest; };
  } else {
    reader.experiment(name);  // throws, with the nearest name
    one.study = claims_of(reader.study_text(name), reader.study_file(name), reader.study_overrides(name));
    one.study.name = name;
  }
  const auto& claims = one.study.claims;
  if (claims.empty())
    throw Error(
        fmt::format("claims: {} makes no claim, expected [[claim]] in it. After an edit, `ablate run` stores the study "
                    "again and repeats no trial",
                    name));
  request.experiments = {one.study.name};
  const auto add = [&](const std::string& metric) {
    if (std::find(request.metrics.begin(), request.metrics.end(), metric) == request.metrics.end())
      request.metrics.push_back(metric);
  };
  if (std::any_of(claims.begin(), claims.end(), [](const Claim& claim) { return !claim.metric.empty(); }))
    for (const auto& metric : db::make_table(reader, request).metrics) add(metric.name);  // the first metric judges the trials
  const auto known = reader.metrics();
  for (const auto& claim : claims)
    if (std::any_of(known.begin(), known.end(), [&](const auto& metric) { return metric.name == claim.metric; }))
      add(claim.metric);
  const auto table = db::make_settings_table(reader, std::move(request));
  one.answers = db::judge(claims, table);
  put_context(one.study, table, one.answers);
  return one;
}

}  // namespace

void add_claims(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    std::vector<std::string> studies;
    db::Format format = db::Format::kText;
    OutputFile out;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("claims", "Judge the claims that studies made before they ran");
  command->group(kQuestions);
  command->add_option("STUDY", arguments->studies,
                      "experiment, or the file of a study whose experiment is in the history; default: the only experiment");
  add_format(command, arguments->format, db::format_names(), db::formats_help() + "; default: text, a sentence for each claim");
  add_out(command, arguments->out);
  command->footer(
      "A study claims a difference in [[claim]]. The claim holds if the exact test finds it (5 % over all claims of its "
      "family, "
      "Holm), and trials with more steps ([grid.longer]) confirm it: same sign, at least half the size. Without them it holds "
      "only at the study's steps. It is refuted if the test finds the opposite, else undecided.\n"
      "Example:\n  ablate claims card\n  ablate claims experiments/compression/card.toml --format markdown --out claims.md");
  command->callback([arguments, command, database, &exit_code] {
    const db::Reader reader(database());
    auto studies = arguments->studies;
    if (studies.empty()) refuse_several(reader, "name one or several");
    if (studies.empty()) studies = reader.experiments();
    const auto request = usual_request(command, reader, database());
    std::vector<Answered> all;
    for (const auto& one : studies) all.push_back(answered(reader, one, request));
    if (arguments->format == db::Format::kText) {
      std::string text;
      for (const auto& [study, answers] : all)
        for (const auto& answer : answers)
          text += fmt::format("{}: {}\n  {}\n", db::one_row(answer.claim.problem), db::verdict_text(answer),
                              db::one_row(db::sentence_of(answer)));
      arguments->out.put(text);
    } else {
      put_rows(arguments->format, arguments->out, [&](bool for_people) {
        db::NamedRows rows;
        for (const auto& [study, answers] : all) {
          auto own = db::claim_rows(answers, study.name, for_people);
          rows.names = own.names;
          rows.rows.insert(rows.rows.end(), own.rows.begin(), own.rows.end());
        }
        return rows;
      });
    }
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

}  // namespace ablate
