// Which values some trials have of all that changed code can tell: what a proof by repeating them rests on. Torch-free.
//
// Of a changed plugin a value, each by itself, is
// - each of its own parameters;
// - its place: which plugins, of which code, it is a part of, in which of their parameters, and which layer it is where layers
//   are unlike; with each parameter of those, so which plugins stand beside it there;
// - each parameter of the plugins that are parts of it, and their code;
// - of an attention or a compression: each of [model] (widths, heads' channels, layers, causality, positions, pooling), which
//   task it is and each of its parameters (lengths, masks, geometry);
// - each of [train] (sizes of batches, steps, type, device, threads) but those in which nothing differs that reaches a plugin
//   but numbers: the optimiser's and the loss's;
// - the data's digest, and torch's version.
// Values of none are the seed, and parameters of plugins beside it: of other parts of the same one, of other layers, for a task
// of all attentions. Of a changed runtime, which is all around, one value is everything together but the seed.
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
  bool runtime = false;           ///< ablate's own
};

/// A plugin is its code: the same one in two trials has values of the same parameters.
struct ParameterValue {
  std::string code;       ///< of the changed plugin; "": the runtime
  std::string owner;      ///< whose parameter it is, as that stands to the plugin
  std::string parameter;  ///< its name there
  std::string value;      ///< as JSON; "the default" where the trial's values do not say which (Identity::values)
  auto operator<=>(const ParameterValue&) const = default;
};

/// Few trials that have, together, every value that any of them has.
class Coverage {
 public:
  /// @param trials of the old code, in the grid's order @param least how many to choose, where there are so many
  Coverage(ChangedCode changed, const std::vector<Identity>& trials, std::size_t least);

  /// Their indices, ascending: always the first of those that add the most values; then, up to `least`, others spread over the
  /// rest.
  const std::set<std::size_t>& picked() const { return picked_; }

  /// The values of a trial of the old code that none of the picked has: "attention.heads = 4".
  std::vector<std::string> missing(const Identity& trial) const;

 private:
  using Values = std::map<ParameterValue, std::string>;  ///< with the words for one
  Values values_of(const Identity& trial) const;
  void add_values(const std::string& path, const Identity& trial, Values& values) const;

  ChangedCode changed_;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> names_;  ///< that any trial sets, by code and owner
  std::set<std::size_t> picked_;
  std::set<ParameterValue> covered_;
};

/// Parameters of [train] in which nothing differs that reaches a plugin, but numbers.
const std::set<std::string>& numbers_alone();

}  // namespace ablate
