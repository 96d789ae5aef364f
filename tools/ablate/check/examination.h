// One plugin on its way through the suite: what was found, and how it is told.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/registry/plugin_info.h"
#include "core/shared/verdict_memory.h"

namespace ablate {

class Examination {
 public:
  using Tell = std::function<void(const std::string& line)>;

  /// @param tell gets each line for a reader as it comes
  Examination(const PluginInfo& info, Tell tell) : info_(info), tell_(std::move(tell)) {}

  /// What a check job says: that a check begins, or what came of it.
  void hear(const nlohmann::json& data);
  /// However the job ended (CheckJob::end): a check that had begun and has no end has failed, and those after it did not run.
  /// @param timeout_s that it had
  void end(const nlohmann::json& answer, int timeout_s);
  /// The job begins anew: what it has said already is not taken twice.
  void again();
  /// That nothing can be checked here, and why.
  void leave(const std::string& name, const std::string& on, const std::string& why);

  /// What was wrong with what was asked of its job, which then checked nothing; "".
  const std::string& refused() const { return refused_; }
  const PluginInfo& info() const { return info_; }
  bool broke_off() const { return broke_off_; }
  /// The plugins among its parameters with which its job broke off: it may be theirs.
  const std::vector<std::string>& culprits() const { return culprits_; }
  /// The job begins anew, without them: what was found with them is told already, and counts no longer but for where it broke
  /// off.
  void without_culprits();
  /// Whether what was found is the plugin's: false where its job could not run, for want of a process or the like.
  bool is_plugins_own() const { return is_plugins_own_; }
  /// passed where nothing failed and something ran.
  KeptVerdict verdict() const;
  /// The same of the plugin alone: what fails with some plugins among its parameters only is unchecked with them.
  KeptVerdict own_verdict() const;
  /// "132 checks, all passed; 1 unchecked: cuda: no CUDA device on this machine"
  std::string summary() const;
  /// What many failed checks have in common, where that was shown; "".
  const std::string& likely() const { return likely_; }
  /// {"id", "kind", "version", "path", "verdict", "likely", "checks"}
  nlohmann::json to_json() const;

  static std::string heading(Kind kind);  ///< of the lines

 private:
  void take(const nlohmann::json& check);

  PluginInfo info_;
  Tell tell_;
  nlohmann::json checks_ = nlohmann::json::array();
  nlohmann::json begun_ = nlohmann::json::object();
  std::size_t known_ = 0;  ///< checks of a job that has begun anew, which are told again
  std::size_t first_ = 0;  ///< check of the latest job
  bool broke_off_ = false, is_plugins_own_ = true;
  std::vector<std::string> culprits_;
  std::string refused_, likely_;
};

}  // namespace ablate
