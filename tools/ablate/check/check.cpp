// ablate check: runs the conformance suite over plugins, each in its own child process of a worker.
#include "core/shared/sections.h"
#include "core/util/error.h"
#include "tools/ablate/check/check_run.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/whole_number.h"

namespace ablate {

void add_check(CLI::App& app, const Options& options, int& exit_code) {
  auto* command = app.add_subcommand("check", "Check that plugins do what they promise")->group("Look at plugins");
  auto arguments = std::make_shared<CheckArguments>();
  command->add_option("PLUGIN", arguments->what, "ids, or paths of libraries; default: every plugin found")
      ->check(not_empty())
      ->type_name("");
  command->add_option("--set", arguments->parameters, "NAME=VALUE: replaces a parameter's default; repeat it for more")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("--only", arguments->only, "run only the checks of this name, such as padding; repeat it for more")
      ->check(not_empty())
      ->type_name("CHECK")
      ->allow_extra_args(false);
  command
      ->add_option("--length", arguments->length,
                   "also check sequences of N tokens, causal or not, with a state or not; the verdict then covers this length")
      ->check(whole_number(512, 1 << 20, "tokens"))
      ->type_name("N");
  command
      ->add_option("-j,--jobs", arguments->at_a_time, "plugins at a time; default: one per core. Only one is timed at a time")
      ->check(whole_number(1, 4096, "plugins at a time"))
      ->type_name("N");
  command->add_option("--timeout", arguments->timeout_s, "seconds for each plugin, 300 by default")
      ->check(whole_number(1, 86400, "seconds"))
      ->type_name("SECONDS");
  command->add_option("--device", arguments->device, "device that computes: cpu, cuda or cuda:N; default: cpu")
      ->check(CLI::Validator(
          [](const std::string& text) { return is_device(text) ? "" : "found " + text + ", expected cpu, cuda or cuda:N"; }, "",
          ""))
      ->type_name("DEVICE");
  command->add_flag("--quick", arguments->quick,
                    "for a plugin that is being edited: takes seconds, leaves out long checks and stores no verdict");
  command->add_flag("--no-timing", arguments->no_timing,
                    "do not measure how time grows with the length: for tests on busy machines");
  add_format(command, arguments->format, {"text", "json"}, "text or json; default: text");
  command->footer(
      "A verdict on all checks at default parameters is stored; `ablate plugins`, `ablate run` and tables show it.\n"
      "Exit codes: 0 all passed, 1 a check failed, 2 the request cannot be fulfilled, 3 a library is refused.\n"
      "Example:\n  ablate check adamra softmax\n  ablate check build/my-attention.so --quick\n  ablate check adamra --length "
      "4500");
  command->callback([=, &options, &exit_code] {
    if (arguments->what.size() != 1 && !arguments->parameters.empty())
      throw Error("--set requires a single plugin: ablate check ID --set NAME=VALUE");
    if (arguments->quick && arguments->length > 0)
      throw Error("--length with --quick, which checks only short sequences: leave out --length or --quick");
    exit_code = CheckRun(*arguments, options).run();
  });
}

}  // namespace ablate
