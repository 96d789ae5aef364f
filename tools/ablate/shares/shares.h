// A grid divided among machines: `ablate run` with --plan, --share or --slurm, and the progress of such a grid.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate {

struct Options;
struct RunArguments;

struct SlurmArguments {
  bool submit = false;                                    ///< --slurm
  std::string partition, gpus, cpus, mem, time, account;  ///< sbatch's options of these names; "": absent
  std::vector<std::string> sbatch;                        ///< other options of sbatch, split like a shell's words
  int array = 0;                                          ///< tasks of the array; 0: kUsualTasks
};

struct ShareArguments {
  std::string plan;    ///< file of the plan
  int shares = 0;      ///< number of shares; 0: absent
  std::string share;   ///< "3/16", "3,7/16"
  std::string shared;  ///< folder that all machines share; default: NAME.shares beside the study
  std::string script;  ///< script of this task's Slurm array, to submit the task again; "": no Slurm task
  SlurmArguments slurm;

  bool any() const { return !plan.empty() || shares > 0 || !share.empty() || !shared.empty() || slurm.submit; }
};

void add_share_options(CLI::App& command, ShareArguments& arguments);
/// Throws CLI's errors for options that exclude each other.
void check_share_options(const ShareArguments& arguments);

/// Handles the options of `ablate run` about shares and returns the exit code. Throws Error.
int run_with_shares(const RunArguments& arguments, const Options& options);

/// Returns --shared, or its default.
std::filesystem::path shared_folder(const RunArguments& arguments);

/// --plan FILE --shares N: writes the plan without running trials.
void write_plan(const RunArguments& arguments, const Options& options);
/// --share: runs shares one after the other and returns the exit code.
int run_shares(const RunArguments& arguments, const Options& options);
/// --slurm: submits the missing shares.
void submit_shares(const RunArguments& arguments, const Options& options);

/// Reports the progress of the shares in a folder: from their histories, and from Slurm if jobs were submitted.
std::string shares_standing(const std::filesystem::path& shared);

}  // namespace ablate
