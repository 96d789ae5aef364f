#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

#include "core/util/number_text.h"
#include "db/questions/tables/rate_windows.h"
#include "db/report/answer_rows.h"
#include "db/report/printers.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/questions/output_file.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

/// Returns "" for a number of at least 0, else the error.
std::string refuse_width(const std::string& text) {
  const auto number = parse_number(text);
  const bool is_one = number && *number >= 0 && std::isfinite(*number);
  return is_one ? "" : fmt::format("found {}, expected a number of at least 0, in the metric's unit", text);
}

}  // namespace

void add_windows(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    db::TableRequest request;
    double within = 0;
    db::Format format = db::Format::kText;
    OutputFile out;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command =
      app.add_subcommand("windows", "All values of the parameters that dev chooses, and the width of the best range");
  command->group(kQuestions);
  add_experiments(command, arguments->request.experiments);
  add_as_of_table(command, "--rows", arguments->request.rows, "PATH");
  add_as_of_table(command, "--cols", arguments->request.columns, "PATH");
  add_as_of_table(command, "--metric", arguments->request.metrics, "NAME");
  add_as_of_table(command, "--where", arguments->request.where, "CONDITION", 0);
  auto* within = command
                     ->add_option("--within", arguments->within,
                                  "largest difference from the best mean on dev, in the metric's unit; default: the best "
                                  "value's standard deviation over seeds")
                     ->check(CLI::Validator(refuse_width, "", ""))
                     ->type_name("D");
  add_format(command, arguments->format, db::format_names(), db::formats_help() + "; default: text");
  add_out(command, arguments->out);
  command->footer(
      "For studies with [grid.tune]: their tables show only the chosen values. Each row of the table has a curve of means ± "
      "standard deviations over seeds. The window extends from the best value on dev to both sides while the means are "
      "within D of the best mean. If several parameters are tuned together, dev chooses the other values again at each "
      "value.\n"
      "Example:\n  ablate windows tuned --within 0.5");
  command->callback([arguments, within, database, &exit_code] {
    const db::Reader reader(database());
    if (arguments->request.experiments.empty()) refuse_several(reader, "name one");
    const auto windows =
        db::rate_windows(reader, arguments->request, within->count() > 0 ? std::optional(arguments->within) : std::nullopt);
    put_rows(arguments->format, arguments->out, [&](bool for_people) { return db::window_rows(windows, for_people); });
    for (const auto& note : windows.notes) say("note: {}\n", db::one_row(note));
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

}  // namespace ablate
