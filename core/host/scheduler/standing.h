// Which trials of a plan the history has, and why it lacks the others. Torch-free.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

struct Standings {
  std::vector<std::string> lines;     ///< by trial
  std::vector<bool> done;             ///< by trial
  bool nothing_like_them = false;     ///< of none of the trials anything like it has been run
  std::vector<std::string> left_out;  ///< what of the history cannot be read (db::Reader::left_out)
};

/// For each trial, in a line: "done, attempt 12"; "attempt 5 failed: ...; not done"; "not done: as attempt 12, but for the code
/// of adamra (attention)"; "not done: the nearest, attempt 7, differs in train.steps (20, was 10)"; "not done: nothing like it
/// has been run". Compared with the latest done trial of the same settings, else with the nearest of the experiment's.
/// @param database may be missing: nothing has been run then. One that cannot be read is told instead, in every line.
/// @param tick called before each trial, with how many are compared; may be empty. Throws Interrupted where a signal asks to
/// stop.
Standings standings(const std::vector<const PlannedTrial*>& trials, const std::string& experiment,
                    const std::filesystem::path& database, const std::function<void(std::size_t done)>& tick = {});

}  // namespace ablate
