// Subject of a check: a plugin with all of its parameters. Some of these parameters may be plugins, its parts.
#pragma once

#include <string>
#include <vector>

#include "core/trial/conformance/engine/exemptions.h"
#include "core/trial/model/instances.h"

namespace ablate {

/// Amount of work in a check. kFull: all promised types and lengths. kSmall: only float64 at small lengths. kSmall is used for
/// non-default values of a parameter, for every part after the first, and for a quick check between two edits.
enum class Depth { kFull, kSmall };

struct Candidate {
  Kind kind = Kind::kAttention;
  nlohmann::json section;  ///< the plugin's id and all of its parameters, with defaults
  FindPlugin find;
  Capabilities promises;                   ///< with these parameters and parts
  std::shared_ptr<Exemptions> exemptions;  ///< exemptions that the plugin declares, and which of them were needed so far
  /// Device of the plugin's instances. Subjects move inputs from the CPU to this device, and results back to the CPU.
  c10::Device device = c10::kCPU;
  std::int64_t requested_length = 0;  ///< additional length to check; 0: none

  const Descriptor& descriptor() const { return find(kind, section.at("plugin").get<std::string>()); }
  /// Returns the ids of the plugin and of its parts: "adamra x segment-mean".
  std::string name() const;
  /// Returns the sections of the plugins among its parameters, at any depth, in their order.
  std::vector<nlohmann::json> part_sections() const;
  /// Returns the ids of the plugins in part_sections(), each once.
  std::vector<std::string> parts() const;
  /// Returns a copy with one parameter changed, with its own promises. If this parameter is used only at certain values of
  /// other parameters (ParameterInfo::when), sets these values, too. Throws Error.
  Candidate with(const std::string& parameter, const nlohmann::json& value) const;
  /// Returns a candidate of another plugin on the same device.
  Candidate beside(const Descriptor& plugin, const nlohmann::json& parameters) const;
  /// Returns the smallest length that the promises allow and that is not below `at_least`.
  std::int64_t length(std::int64_t at_least) const;
};

struct Bounds {
  double least, most;
};
/// Returns a flag's two values, all choices of a text, or a number's bounds within `integers` or `reals`. Other types: none.
std::vector<nlohmann::json> values_within(const ParameterInfo& parameter, const Bounds& integers, const Bounds& reals);

/// Returns a function that finds each plugin in `plugins` and throws Error for any other. Plugins live until the process ends.
FindPlugin find_among(std::vector<const Descriptor*> plugins);

/// Returns a candidate with `parameters` and defaults for the rest. Throws Error if a parameter that is a plugin is missing.
Candidate make_candidate(const Descriptor& plugin, const nlohmann::json& parameters, const FindPlugin& find);

/// Returns candidates with a value for each plugin parameter that `parameters` omits: each compression in `parts`, or the first
/// attention that has no parts itself. A list of attentions gets the first two. Throws Error if no plugin fits.
std::vector<Candidate> candidates(const Descriptor& plugin, const nlohmann::json& parameters,
                                  const std::vector<const Descriptor*>& parts);

}  // namespace ablate
