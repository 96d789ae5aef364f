// One plugin during the suite: its results, and how they are printed.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/host/client/job_outcome.h"
#include "core/registry/plugin_info.h"
#include "core/shared/verdict_memory.h"

namespace ablate {

class Examination {
 public:
  using Tell = std::function<void(const std::string& line)>;

  /// @param tell receives each line for a reader as soon as it is complete
  Examination(const PluginInfo& info, Tell tell) : info_(info), tell_(std::move(tell)) {}

  /// Processes a message of a check job: the start of a check, or its result.
  void hear(const CheckSaid& said);
  /// Processes the job's end. The running check fails, or is unchecked if the job was broken off from outside.
  /// Later checks did not run.
  /// @param timeout_s the job's time limit
  void end(const JobOutcome& outcome, const std::string& failed, int timeout_s);
  /// Discards the verdict because the plugin's code changed during the suite. `why` is for the reader.
  void spoil(const std::string& why);
  /// Prepares for a restart of the job, which repeats its messages: no result counts twice.
  void again();
  /// Records that a check cannot run here, and why.
  void leave(const std::string& name, const std::string& on, const std::string& why);

  /// Returns the error in the request that made the job check nothing, or "".
  const std::string& refused() const { return refused_; }
  const PluginInfo& info() const { return info_; }
  bool broke_off() const { return broke_off_; }
  /// Parts with which the job broke off; one of them may be the cause.
  const std::vector<std::string>& culprits() const { return culprits_; }
  /// Prepares for a job without these parts. Printed results no longer count, except the check at which the job broke off.
  void without_culprits();
  /// True if the job was broken off from outside, ran out of time, or was spoilt. See verdict() for the effect.
  bool is_spoilt() const { return is_spoilt_; }
  /// True if the job's time ran out while the job waited or other processes used the processors. Its check is then unchecked.
  bool ran_out_of_time() const { return ran_out_of_time_; }
  /// True unless the job ended for a reason outside of the plugin, such as a time limit or a process that could not start.
  bool is_plugins_own() const { return is_plugins_own_; }
  /// True if there is a result of a check with one of these names.
  bool tells_of(const std::vector<std::string>& names) const;
  /// Returns failed if a check failed, else passed if a check ran, else unchecked. If the job is spoilt, returns unchecked,
  /// unless a check failed before the time ran out.
  StoredVerdict verdict() const;
  /// Returns the verdict on the plugin alone: a check that fails only with some parts counts as unchecked with these parts.
  StoredVerdict own_verdict() const;
  /// Returns "132 checks, all passed; 1 unchecked: cuda: no CUDA device on this machine".
  /// @param one word for one counted thing
  std::string summary(const char* one = "check") const;
  /// Returns {"id", "kind", "version", "path", "verdict", "checks"}.
  nlohmann::json to_json() const;

  static std::string heading(Kind kind);  ///< header of the lines

 private:
  void break_off(const CheckBegun& at, const std::string& why);
  void take(const CheckResult& check);

  PluginInfo info_;
  Tell tell_;
  std::vector<CheckResult> checks_;
  std::optional<CheckBegun> begun_;
  std::size_t known_ = 0;  ///< number of known results that the restarted job will report again
  std::size_t first_ = 0;  ///< index of the latest job's first check
  bool broke_off_ = false, is_plugins_own_ = true, is_spoilt_ = false, ran_out_of_time_ = false;
  CheckedLengths lengths_;  ///< longest lengths that were checked
  std::vector<std::string> culprits_;
  std::string refused_;
};

}  // namespace ablate
