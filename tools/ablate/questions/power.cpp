#include "db/report/inference/power.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>

#include "core/util/error.h"
#include "core/util/number_text.h"
#include "db/questions/make_table.h"
#include "db/report/inference/holm.h"
#include "db/report/power_rows.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

/// "" for a number above 0; else what is wrong.
std::string refuse_difference(const std::string& text) {
  const auto number = parse_number(text);
  const bool is_one = number && *number > 0 && std::isfinite(*number);
  return is_one ? "" : fmt::format("found {}, expected a number above 0", text);
}

}  // namespace

void add_power(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    db::TableRequest request;
    std::vector<std::string> against;
    double difference = 0;
    db::Format format = db::Format::kText;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("power", "How many seeds a difference needs, by what runs so far tell");
  command->group(kQuestions);
  command->add_option("EXPERIMENT", arguments->request.experiments, "the trials of its latest grid")
      ->expected(1)
      ->type_name("")
      ->check(not_empty())
      ->required();
  command
      ->add_option("--against", arguments->against,
                   "the row that the others are compared with, as attention=softmax; repeat it for more values")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false)
      ->required();
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* help, const char* type) {
    command->add_option(name, values, help)->delimiter(',')->check(not_empty())->type_name(type)->allow_extra_args(false);
  };
  list("--rows", arguments->request.rows, "as of `ablate table`", "PATH");
  list("--cols", arguments->request.columns, "as of `ablate table`", "PATH");
  list("--metric", arguments->request.metrics, "as of `ablate table`", "NAME");
  auto* difference = command
                         ->add_option("--difference", arguments->difference,
                                      "what is to be told, in the metric's unit; default: each row's difference so far")
                         ->check(CLI::Validator(refuse_difference, "", ""))
                         ->type_name("D");
  add_format(command, arguments->format, db::format_names(), db::formats_help() + "; default: text");
  command->footer(
      "Of each row: pairs of trials with one seed, their mean difference and its deviation, the least difference that so many "
      "seeds tell in 80 % of cases, and the seeds that tell the difference looked for. At 5 % over all comparisons (Holm's "
      "first "
      "level), by the non-central t, and at least as many seeds as the exact test needs. What is not known is `-`, with the "
      "reason behind it.\n"
      "Example:\n  ablate power quickstart --against attention=softmax --difference 1");
  command->callback([arguments, difference, database, &exit_code] {
    auto& request = arguments->request;
    request.statistics["against"] = arguments->against;
    const db::Reader reader(database());
    const auto table = db::make_table(reader, request);
    const db::Write write = [](std::string_view part) { print("{}", part); };
    const auto printer = db::printer_of(arguments->format).rows(write);
    const auto power = db::power_rows(table, difference->count() > 0 ? std::optional(arguments->difference) : std::nullopt,
                                      printer->for_people());
    printer->begin(power.names);
    for (const auto& row : power.rows) printer->put(row);
    printer->end();
    std::fflush(stdout);  // the answer stands above its notes
    for (const auto& note : table.notes)
      if (note != table.test) say("note: {}\n", db::one_row(note));
    if (table.comparisons > 0)
      say("note: level {:.2g} over {} comparison{}\n", db::kLevel / table.comparisons, table.comparisons,
          table.comparisons == 1 ? "" : "s");
    else
      say("note: nothing was compared by seed: no deviation is known\n");
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

}  // namespace ablate
