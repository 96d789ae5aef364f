// One plugin on its way through the suite: what was found, and how it is printed.
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

  /// @param tell takes each line for a reader when it is there
  Examination(const PluginInfo& info, Tell tell) : info_(info), tell_(std::move(tell)) {}

  /// Takes a message of a check job: that a check begins, or its result.
  void hear(const CheckSaid& said);
  /// Takes the end of the job, however it ended (ListenedCheck::end): a check that had begun and has no result has failed, and
  /// those after it did not run. @param timeout_s the job's time limit
  void end(const JobOutcome& outcome, const std::string& failed, int timeout_s);
  /// What was found is nobody's verdict, and why: its code changed beneath it.
  void spoil(const std::string& why);
  /// The job begins anew: its earlier messages do not count twice.
  void again();
  /// Records that nothing can be checked here, and why.
  void leave(const std::string& name, const std::string& on, const std::string& why);

  /// What was wrong with the request, of which the job then checked nothing; "" where nothing was.
  const std::string& refused() const { return refused_; }
  const PluginInfo& info() const { return info_; }
  bool broke_off() const { return broke_off_; }
  /// The parts with which its job broke off: it may be their fault.
  const std::vector<std::string>& culprits() const { return culprits_; }
  /// The job begins anew, without these parts: what was found with them is printed already, and no longer counts, except for
  /// the check at which it broke off.
  void without_culprits();
  /// Whether it has no verdict, whatever was found: it was broken off from outside, or spoilt.
  bool is_spoilt() const { return is_spoilt_; }
  /// True if its time ran out while other processes had the processors, or while it waited. Then nothing has failed.
  bool ran_out_of_time() const { return ran_out_of_time_; }
  /// Whether the findings are the plugin's: false where its job could not run, for want of a process or the like.
  bool is_plugins_own() const { return is_plugins_own_; }
  /// Whether it is told of a check of one of these names, what became of it.
  bool tells_of(const std::vector<std::string>& names) const;
  /// Passed where nothing failed and something ran; unchecked where it is spoilt.
  StoredVerdict verdict() const;
  /// The verdict on the plugin alone: what fails with some of its parts only is unchecked with them.
  StoredVerdict own_verdict() const;
  /// "132 checks, all passed; 1 unchecked: cuda: no CUDA device on this machine" @param one what is counted
  std::string summary(const char* one = "check") const;
  /// Returns {"id", "kind", "version", "path", "verdict", "checks"}.
  nlohmann::json to_json() const;

  static std::string heading(Kind kind);  ///< of the lines

 private:
  void break_off(const CheckBegun& at, const std::string& why);
  void take(const CheckResult& check);

  PluginInfo info_;
  Tell tell_;
  std::vector<CheckResult> checks_;
  std::optional<CheckBegun> begun_;
  std::size_t known_ = 0;  ///< checks of a job that has begun anew, which are told again
  std::size_t first_ = 0;  ///< check of the latest job
  bool broke_off_ = false, is_plugins_own_ = true, is_spoilt_ = false, ran_out_of_time_ = false;
  CheckedLengths lengths_;  ///< up to which it was looked at
  std::vector<std::string> culprits_;
  std::string refused_;
};

}  // namespace ablate
