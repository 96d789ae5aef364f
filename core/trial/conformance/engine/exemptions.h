// What a plugin declares to be so on purpose, as published (ablate::Exemption): which checks it excuses, of what, and whether
// it was needed. Of all three kinds.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/registry/plugin_info.h"
#include "core/trial/conformance/engine/check.h"

namespace ablate {

class Exemptions {
 public:
  /// Those in force with these values: "NAME = VALUE" compares with the section's, texts without their quotes.
  /// @param section complete
  Exemptions(const PluginInfo& plugin, const nlohmann::json& section);
  /// Those of an attention that is a part of it, too: what it excuses of its own tensors, whatever part it is. They need not be
  /// needed, and "exemptions" does not tell them.
  void add_part(const PluginInfo& part, const nlohmann::json& section);
  Exemptions(const Exemptions&) = delete;
  Exemptions& operator=(const Exemptions&) = delete;

  /// Returns the exemption from `check` that excuses a fault in `what`, or null. The check says yes or no. Names in both are
  /// separated by ", ", in any order: "dev, test" excuses a fault of dev, of test and of the two, "" excuses every one. Ask
  /// about faults only: the exemption counts as needed from then on. The result lives as long as this object. Throws
  /// std::runtime_error if the exemption states a tolerance below 1.
  const ExemptionInfo* excuse(const std::string& check, const std::string& what);

  /// True if an exemption of `what` from `check` is declared, whatever its tolerance. The exemption does not count as needed by
  /// that.
  bool declares(const std::string& check, const std::string& what) const { return find(check, what) != nullptr; }

  /// Runs `look` on a finding. If a fault of `what` is excused and is no larger than stated, the finding passes, and reports
  /// the reason.
  void take(Finding& finding, const std::string& check, const std::string& what, const Checks::Look& look);
  /// As Checks::run, with take() in place of Finding::take.
  void run(Checks& checks, const std::string& name, const std::string& on, const std::string& what, const Allowed& allowed,
           const Checks::Look& look);

  /// The check "exemptions", where any is declared and when all others have run: each is from a check that there is. Says what
  /// was not needed. @param own the names of the checks that could run @param elsewhere names that another command looks at
  void conclude(std::span<const std::string> own, Checks& checks, std::span<const std::string> elsewhere = {}) const;

 private:
  const ExemptionInfo* find(const std::string& check, const std::string& what) const;

  std::vector<ExemptionInfo> declared_, in_force_, of_parts_;
  std::set<const ExemptionInfo*> needed_;  ///< of in_force_, which changes no more
};

}  // namespace ablate
