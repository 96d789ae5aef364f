// Subject of a check: a plugin with all of its parameters, and the plugins among them.
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
  nlohmann::json section;  ///< complete
  FindPlugin find;
  Capabilities promises;                   ///< with these parameters and parts
  std::shared_ptr<Exemptions> exemptions;  ///< exemptions that the plugin declares, and which of them were needed so far
  /// Device of its instances. Inputs are made and results are compared on the CPU. Subjects move both.
  c10::Device device = c10::kCPU;
  std::int64_t requested_length = 0;  ///< additional length to check; 0: none

  const Descriptor& descriptor() const { return find(kind, section.at("plugin").get<std::string>()); }
  /// "adamra x segment-mean"
  std::string name() const;
  /// Returns the sections of the plugins among its parameters, at any depth, in their order.
  std::vector<nlohmann::json> part_sections() const;
  /// Returns the ids of these plugins, each once.
  std::vector<std::string> parts() const;
  /// Returns a copy with one parameter changed, with its own promises. If this parameter is read only at certain values of
  /// other parameters (ParameterInfo::when), sets these values, too. Throws Error.
  Candidate with(const std::string& parameter, const nlohmann::json& value) const;
  /// Returns a candidate of another plugin on the same device.
  Candidate beside(const Descriptor& plugin, const nlohmann::json& parameters) const;
  /// Returns the smallest length that the promises allow and that is at least this long.
  std::int64_t length(std::int64_t at_least) const;
};

struct Bounds {
  double least, most;
};
/// Returns values to try: both values of a flag, every choice, or a number's bounds, cut to `integers` or `reals`. Else none.
std::vector<nlohmann::json> values_within(const ParameterInfo& parameter, const Bounds& integers, const Bounds& reals);

/// Returns a function that finds each of the plugins, which live as long as the process. It throws Error for any other plugin.
FindPlugin find_among(std::vector<const Descriptor*> plugins);

/// Returns a candidate with `parameters` and defaults for the rest. Throws Error if a parameter that is a plugin is missing.
Candidate make_candidate(const Descriptor& plugin, const nlohmann::json& parameters, const FindPlugin& find);

/// Returns candidates for each plugin parameter that `parameters` leaves open: one for each compression among `parts`, or the
/// first attention without parts. A list of attentions gets the first two. Throws Error if no plugin fits.
std::vector<Candidate> candidates(const Descriptor& plugin, const nlohmann::json& parameters,
                                  const std::vector<const Descriptor*>& parts);

}  // namespace ablate
