#include <fmt/format.h>

#include "core/host/shares/shares_plan.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/shares/shares.h"
#include "tools/ablate/whole_number.h"

namespace ablate {
namespace {

constexpr const char* kManyMachines = "On many machines";
constexpr const char* kSlurm = "With Slurm";
constexpr int kMostTasks = 100'000;

CLI::Validator share_name() {
  return {[](const std::string& text) {
            return share_names(text) ? std::string()
                                     : fmt::format("found {}, expected I/N: share I, from 0 to N - 1, of N, as 3/16", text);
          },
          ""};
}

}  // namespace

void add_share_options(CLI::App& command, ShareArguments& arguments) {
  const auto text = [&](const char* name, std::string& value, const char* type, const char* help, const char* group) {
    return command.add_option(name, value, help)->check(not_empty())->type_name(type)->group(group);
  };
  text("--plan", arguments.plan, "FILE",
       "with --shares: write each share's trials to FILE, and run nothing; with --share: read the share's trials from FILE",
       kManyMachines);
  command
      .add_option("--shares", arguments.shares,
                  "number of shares, of about equal cost; default with --slurm: 4 for each task of the array")
      ->check(whole_number(1, SharesPlan::kMostShares, "shares"))
      ->type_name("N")
      ->group(kManyMachines);
  command
      .add_option("--share", arguments.share,
                  "run share I of N, from 0 to N - 1, with its own history on this machine; 3,7/16 runs two shares, one after "
                  "the other. Exit code 75: it was stopped, or a disk is full: run it again")
      ->check(share_name())
      ->type_name("I/N")
      ->group(kManyMachines);
  text("--shared", arguments.shared, "DIR",
       "the folder that all machines see, for copies of the shares' histories; default: NAME.shares beside the study",
       kManyMachines);
  auto& slurm = arguments.slurm;
  command
      .add_flag("--slurm", slurm.submit,
                "submit the shares that have not ended, as an array of Slurm's jobs; repeat the command later to submit the "
                "shares that are then missing")
      ->group(kSlurm);
  command.add_option("--array", slurm.array, "tasks of the array; each runs its shares one after the other; default: 8")
      ->check(whole_number(1, kMostTasks, "tasks"))
      ->type_name("K")
      ->group(kSlurm);
  text("--partition", slurm.partition, "NAME", "sbatch's option of this name", kSlurm);
  text("--account", slurm.account, "NAME", "sbatch's option of this name", kSlurm);
  text("--gpus", slurm.gpus, "N", "GPUs of a task: sbatch's --gpus", kSlurm);
  text("--cpus", slurm.cpus, "N", "processors of a task: sbatch's --cpus-per-task", kSlurm);
  text("--mem", slurm.mem, "SIZE", "memory of a task: sbatch's --mem; --memory limits a trial", kSlurm);
  text("--time", slurm.time, "TIME", "time of a task, such as 8:00:00: sbatch's --time; --timeout limits a trial", kSlurm);
  command.add_option("--sbatch", slurm.sbatch, "other options of sbatch, as --sbatch='--qos=low --nice'; repeat it for more")
      ->check(not_empty())
      ->type_name("'OPTIONS'")
      ->allow_extra_args(false)
      ->group(kSlurm);
  command.add_option("--slurm-script", arguments.script, "the script of this task's array")->group("");
}

void check_share_options(const ShareArguments& arguments) {
  const auto& slurm = arguments.slurm;
  const bool has_slurm_options = slurm.array > 0 || !slurm.partition.empty() || !slurm.gpus.empty() || !slurm.cpus.empty() ||
                                 !slurm.mem.empty() || !slurm.time.empty() || !slurm.account.empty() || !slurm.sbatch.empty();
  if (has_slurm_options && !slurm.submit) throw CLI::ValidationError("--array and options of sbatch require --slurm");
  if (slurm.submit && (!arguments.share.empty() || !arguments.plan.empty()))
    throw CLI::ValidationError("--slurm makes its own plan: --share and --plan exclude it");
  if (arguments.shares > 0 && !arguments.share.empty()) throw CLI::ExcludesError("--shares", "--share");
  if (arguments.shares > 0 && arguments.plan.empty() && !slurm.submit) throw CLI::RequiresError("--shares", "--plan");
  if (!arguments.plan.empty() && arguments.shares == 0 && arguments.share.empty())
    throw CLI::ValidationError("--plan requires --shares N, to write the plan, or --share I/N, to run a share of it");
  if (!arguments.shared.empty() && arguments.share.empty() && !slurm.submit)
    throw CLI::RequiresError("--shared", "--share or --slurm");
}

}  // namespace ablate
