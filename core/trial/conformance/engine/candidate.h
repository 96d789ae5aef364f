// What is checked: a plugin with all of its parameters, and the plugins among them.
#pragma once

#include <string>
#include <vector>

#include "core/trial/conformance/engine/exemptions.h"
#include "core/trial/model/instances.h"

namespace ablate {

/// How much of a check is run: all types and lengths that are promised; or float64 at small lengths, for the other values of a
/// parameter, for the second part on, and between two edits.
enum class Depth { kFull, kSmall };

struct Candidate {
  Kind kind = Kind::kAttention;
  nlohmann::json section;  ///< complete
  FindPlugin find;
  Capabilities promises;                   ///< with these parameters and parts
  std::shared_ptr<Exemptions> exemptions;  ///< what it declares, and what of it was needed
  /// Where its instances compute. Inputs are made on the CPU, and results compared there: subjects move both.
  c10::Device device = c10::kCPU;
  std::int64_t asked_length = 0;  ///< length that is looked at, too; 0: none

  const Descriptor& descriptor() const { return find(kind, section.at("plugin").get<std::string>()); }
  /// "adamra x segment-mean"
  std::string name() const;
  /// The sections of the plugins among its parameters, at any depth, in their order.
  std::vector<nlohmann::json> part_sections() const;
  /// The ids of those, each once.
  std::vector<std::string> parts() const;
  /// The same with one parameter changed, and others so that it is read (ParameterInfo::when), and the promises that it makes
  /// then. Throws Error.
  Candidate with(const std::string& parameter, const nlohmann::json& value) const;
  /// Another plugin on the same device.
  Candidate beside(const Descriptor& plugin, const nlohmann::json& parameters) const;
  /// The smallest length that the promises allow and that is at least this long.
  std::int64_t length(std::int64_t at_least) const;
};

struct Bounds {
  double least, most;
};
/// Returns values of a parameter to try: both values of a flag, every choice, and the bounds of a number, within the given
/// bounds. Returns none for other types.
std::vector<nlohmann::json> values_within(const ParameterInfo& parameter, const Bounds& integers, const Bounds& reals);

/// Finds each of the plugins, which live as long as the process. Throws Error for another.
FindPlugin find_among(std::vector<const Descriptor*> plugins);

/// With `parameters` and the defaults of the rest. Throws Error where a parameter that is a plugin is missing.
Candidate make_candidate(const Descriptor& plugin, const nlohmann::json& parameters, const FindPlugin& find);

/// A parameter that is a plugin, and that `parameters` leave open, is tried with every compression among `parts`, or with the
/// first attention that needs no part itself; a list of attentions gets the first two. Throws Error where none is there.
std::vector<Candidate> candidates(const Descriptor& plugin, const nlohmann::json& parameters,
                                  const std::vector<const Descriptor*>& parts);

}  // namespace ablate
