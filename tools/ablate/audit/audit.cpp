// ablate audit: what the data of a task, or of each task of a study, tell without a model, once a data set.
#include "tools/ablate/audit/audit_run.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/whole_number.h"

namespace ablate {

void add_audit(CLI::App& app, const Options& options, int& exit_code) {
  auto* command = app.add_subcommand(
      "audit", "What tasks' data tell without a model: shortcuts, near-duplicates, rules, and what simple predictors get");
  command->group("Look at plugins");
  auto arguments = std::make_shared<AuditArguments>();
  command->add_option("TASK", arguments->what, "an id, the path of a library, or a study.toml, of which each task is audited")
      ->required()
      ->check(not_empty())
      ->type_name("");
  command
      ->add_option(
          "--set", arguments->set,
          "NAME=VALUE: a parameter of the task in place of its default, or as `ablate run` takes it for a study; repeat "
          "it for more")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--again", arguments->again, "look once more at data that were audited already");
  command->add_option("--timeout", arguments->timeout_s, "seconds for the audit of loaded data, 600 by default")
      ->check(whole_number(1, 86400, "seconds"))
      ->type_name("SECONDS");
  add_format(command, arguments->format, {"text", "json"}, "text or json; default: text");
  command->footer(
      "The run history keeps what was found by the digest of the data. Where it failed, tables of these data say so in a "
      "note. Floors are what predictors of a few lines get, trained on the examples that the study's trials "
      "see, on the test examples that they are asked, or on all of both; tables show them below.\n"
      "Exit codes: 0 all passed, 1 a finding failed, 2 what was asked cannot be, 3 a library is refused.\n"
      "Example:\n  ablate audit listops --set max_length=500\n  ablate audit experiments/listops.toml");
  command->callback([=, &options, &exit_code] { exit_code = run_audit(*arguments, options); });
}

}  // namespace ablate
