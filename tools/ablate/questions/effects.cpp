#include "db/report/effects.h"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>

#include "db/questions/tables/make_table.h"
#include "db/report/answer_rows.h"
#include "db/report/printers.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/questions/output_file.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace ablate {

void add_effects(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    db::EffectsRequest request;
    std::vector<std::string> references;
    db::Format format = db::Format::kText;
    OutputFile out;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("effects", "Effects of each parameter: marginal means, importance, single changes");
  command->group(kQuestions);
  add_experiments(command, arguments->request.experiments);
  add_as_of_table(command, "--metric", arguments->request.metrics, "NAME");
  add_as_of_table(command, "--where", arguments->request.where, "CONDITION", 0);
  command
      ->add_option("--reference", arguments->references,
                   "instead of means, show the effects of a change of a single parameter from the setting with these values: "
                   "attention=softmax,task.pool=2")
      ->check(not_empty())
      ->type_name("PATH=VALUE,...")
      ->allow_extra_args(false);
  add_format(command, arguments->format, db::format_names(), db::formats_help() + "; default: text");
  add_out(command, arguments->out);
  command->footer(
      "Each mean, with its 95 % interval, is over settings that agree in all other parameters and the seed. Settings and "
      "seeds count only if all compared values have them. Importance is the share of the variance between settings that a "
      "parameter explains alone. Changes are tested as by `ablate table --against`, with Holm's correction over all of them.\n"
      "Example:\n"
      "  ablate effects quickstart\n"
      "  ablate effects quickstart --reference attention=softmax");
  command->callback([arguments, database, &exit_code] {
    auto& request = arguments->request;
    for (const auto& text : arguments->references)
      for (const auto& condition : db::reference_conditions(text)) request.reference.push_back(condition);
    const db::Reader reader(database());
    if (request.experiments.empty()) refuse_several(reader, "name one");
    const auto effects = db::effects(reader, request);
    put_rows(arguments->format, arguments->out, [&](bool for_people) { return db::effect_rows(effects, for_people); });
    std::set<std::string> printed;
    for (const auto& one : effects)
      for (const auto& note : one.notes)
        if (printed.insert(note).second) say("note: {}\n", db::one_row(note));
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

}  // namespace ablate
