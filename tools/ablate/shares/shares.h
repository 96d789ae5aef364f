// A grid shared out over machines: `ablate run` with --plan, --share or --slurm, and where such a grid stands.
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
  std::string partition, gpus, cpus, mem, time, account;  ///< sbatch's options of these names; "": not given
  std::vector<std::string> sbatch;                        ///< further ones, as a shell reads them
  int array = 0;                                          ///< tasks of the array; 0: kUsualTasks
};

struct ShareArguments {
  std::string plan;    ///< a file
  int shares = 0;      ///< into how many; 0: not given
  std::string share;   ///< "3/16", "3,7/16"
  std::string shared;  ///< the folder that all machines see; default: NAME.shares beside the study
  std::string script;  ///< of an array of Slurm's, of which this is a task: it may be submitted again
  SlurmArguments slurm;

  bool any() const { return !plan.empty() || shares > 0 || !share.empty() || !shared.empty() || slurm.submit; }
};

void add_share_options(CLI::App& command, ShareArguments& arguments);
/// Throws CLI's errors for options that do not go together.
void check_share_options(const ShareArguments& arguments);

/// What of `ablate run` has to do with shares. @return the exit code. Throws Error.
int run_with_shares(const RunArguments& arguments, const Options& options);

/// --shared, or its default.
std::filesystem::path shared_folder(const RunArguments& arguments);

/// --plan FILE --shares N: writes the plan, and runs nothing.
void write_plan(const RunArguments& arguments, const Options& options);
/// --share: runs shares one after the other. @return the exit code
int run_shares(const RunArguments& arguments, const Options& options);
/// --slurm: submits what is missing.
void submit_shares(const RunArguments& arguments, const Options& options);

/// Where a grid stands whose shares lie in a folder: by their histories, and by Slurm where jobs were submitted.
std::string shares_standing(const std::filesystem::path& shared);

}  // namespace ablate
