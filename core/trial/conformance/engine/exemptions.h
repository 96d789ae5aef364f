// Deviations that a plugin declares as published (ablate::Exemption): the checks and names they excuse, and if they are needed.
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
  /// Selects the exemptions whose condition, "NAME = VALUE", is true in the section. A text in a condition has no quotes.
  /// @param section all parameters of the plugin, with defaults
  Exemptions(const PluginInfo& plugin, const nlohmann::json& section);
  /// Adds the exemptions of an attention that is a part. They excuse faults of the part's own tensors, whatever index the
  /// part has. The check "exemptions" does not report them if they are not needed.
  void add_part(const PluginInfo& part, const nlohmann::json& section);
  Exemptions(const Exemptions&) = delete;
  Exemptions& operator=(const Exemptions&) = delete;

  /// For a check without a measure: returns the exemption from `check` that excuses a fault in `what`, or null. An exemption
  /// and `what` may list several names, separated by ", ", in any order: "dev, test" excuses a fault of dev, of test or of
  /// both. The exemption of "" excuses every fault. Call this only for a fault, because the exemption then counts as needed.
  /// The result lives as long as this object. Throws std::runtime_error if the exemption states a tolerance below 1.
  const ExemptionInfo* excuse(const std::string& check, const std::string& what);

  /// True if an exemption of `what` from `check` is declared, with any tolerance. The call does not count it as needed.
  bool declares(const std::string& check, const std::string& what) const { return find(check, what) != nullptr; }

  /// Runs `look` on the finding. The finding passes, with the exemption's reason, if an exemption excuses each fault of `what`.
  void take(Finding& finding, const std::string& check, const std::string& what, const Checks::Look& look);
  /// Does the same as Checks::run, but with take() instead of Finding::take.
  void run(Checks& checks, const std::string& name, const std::string& on, const std::string& what, const Allowed& allowed,
           const Checks::Look& look);

  /// Runs the check "exemptions" after all others, if any exemption is declared. Each exemption must name an existing check.
  /// Notes the exemptions that were not needed.
  /// @param own names of the checks that could run
  /// @param elsewhere names of the checks that another command runs
  void conclude(std::span<const std::string> own, Checks& checks, std::span<const std::string> elsewhere = {}) const;

 private:
  const ExemptionInfo* find(const std::string& check, const std::string& what) const;

  std::vector<ExemptionInfo> declared_, in_force_, of_parts_;
  std::set<const ExemptionInfo*> needed_;  ///< pointers into in_force_ and of_parts_, which do not change any more
};

}  // namespace ablate
