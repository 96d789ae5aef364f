// Which values of the parameters of changed code some trials have: what a proof by repeating them rests on. Torch-free.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/host/scheduler/identity.h"

namespace ablate {

/// Code that is another one now.
struct ChangedCode {
  std::set<std::string> plugins;  ///< identities, as they were
  bool runtime = false;           ///< ablate's own: then every setting but the seed is a parameter of it
};

/// A value of a parameter of a changed plugin, or of what plugins are told beside it (model.causal, train.dtype, ...). A plugin
/// is its code: its place in the trial does not count.
struct ParameterValue {
  std::string code, parameter, value;  ///< as JSON; "the default"
  auto operator<=>(const ParameterValue&) const = default;
};

/// Few trials that have, together, every value that any of them has.
class Coverage {
 public:
  /// @param trials of the old code, in the grid's order @param least how many to choose, where there are so many
  Coverage(ChangedCode changed, const std::vector<Identity>& trials, std::size_t least);

  /// Their places, ascending: always the first of those that add the most values; then, up to `least`, others spread over the
  /// rest.
  const std::set<std::size_t>& chosen() const { return chosen_; }

  /// The values of a trial of the old code that none of the chosen has: "attention.heads = 4".
  std::vector<std::string> missing(const Identity& trial) const;

 private:
  using Values = std::map<ParameterValue, std::string>;  ///< with the path of one
  Values values_of(const Identity& trial) const;

  ChangedCode changed_;
  std::map<std::string, std::set<std::string>> names_;  ///< parameters that any of the trials sets, by code
  std::set<std::size_t> chosen_;
  std::set<ParameterValue> covered_;
};

}  // namespace ablate
