#include "db/report/inference/power.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "core/util/error.h"
#include "core/util/number_text.h"
#include "db/report/answer_rows.h"
#include "db/report/inference/holm.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/questions/asked_table.h"
#include "tools/ablate/questions/output_file.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

/// Returns "" for a number above 0, else the error.
std::string refuse_difference(const std::string& text) {
  const auto number = parse_number(text);
  const bool is_one = number && *number > 0 && std::isfinite(*number);
  return is_one ? "" : fmt::format("found {}, expected a number above 0", text);
}

}  // namespace

void add_power(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments : AskedTable {
    double difference = 0;
    db::Format format = db::Format::kText;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("power", "How many seeds a difference needs, estimated from past runs");
  command->group(kQuestions);
  add_asked_table(command, arguments, {"rows", "cols", "metric", "where", "against", "contrasts", "test"});
  auto* difference =
      command
          ->add_option("--difference", arguments->difference,
                       "difference to find, in the metric's unit; default: [experiment] smallest of the study, if it is set")
          ->check(CLI::Validator(refuse_difference, "", ""))
          ->type_name("D");
  add_format(command, arguments->format, db::format_names(), db::formats_help() + "; default: text");
  command->footer(
      "For each comparison, it shows the number of pairs of trials with the same seed, their mean difference and its "
      "deviation, the least difference that these seeds find in 80 % of cases, and the seeds needed to find --difference. The "
      "level is 5 % over all comparisons (Holm's first level), by the exact test that tables use, or by the t test if --test "
      "or the named table selects it. An unknown number is `-`, followed by the reason.\n"
      "Example:\n  ablate power quickstart --against attention=softmax --difference 1\n"
      "  ablate power content --table contrasts --difference 5");
  command->callback([command, arguments, difference, database, &exit_code] {
    const db::Reader reader(database());
    const auto table = table_of(*arguments, command, reader, database(), false);
    if (table.reference.empty() && table.pairs.empty())
      throw Error(
          "power: found no comparison, expected --against PATH=VALUE, --contrasts ROW ROW, or --table NAME of a table with "
          "a comparison");
    const double smallest = difference->count() > 0 ? arguments->difference : table.smallest;
    const auto looked_for = smallest > 0 ? std::optional(smallest) : std::nullopt;
    put_rows(arguments->format, {}, [&](bool for_people) { return db::power_rows(table, looked_for, for_people); });
    for (const auto& note : table.notes)
      if (note != table.test) say("note: {}\n", db::one_row(note));
    if (table.comparisons > 0)
      say("note: level {:.2g} over {}\n", db::kLevel / table.comparisons,
          table.t_test ? db::comparisons_text(table.comparisons) + ", by the t test"
                       : db::fewest_seeds_text(table.comparisons));
    else
      say("note: nothing was compared by seed: no deviation is known\n");
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

}  // namespace ablate
