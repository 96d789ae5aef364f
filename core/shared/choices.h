// Lists of parts that a study chooses by name: optimisers, schedules, poolings, activations, precisions. Each list is a macro
// in a header of this folder. Each line of the macro has a file and designated initialisers: the name in studies and the help.
// A choice may declare parameters, which a study writes in the same section. They are read only if the study makes the choice.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "ablate/parameter.h"
#include "core/registry/plugin_info.h"

namespace ablate {

/// Parameters that a choice declares, in order; an unused entry has no name. The values are in `own` of a trial's section.
using OwnParameters = std::array<Parameter, 6>;

struct TrainSpec;

/// Conflict between a choice and the rest of [train].
struct Misfit {
  std::vector<const char*> of;  ///< paths of the conflicting settings; the error is shown at the first path that the study sets
  std::string why;
};
/// Check of a choice, called before any trial that makes the choice. Returns nullopt if the choice fits the rest of [train].
using Refuse = std::optional<Misfit> (*)(const TrainSpec& train);

/// Entry of a list whose entries need only these members.
struct Choice {
  const char *name, *help;
  OwnParameters own = {};
};

/// Returns the values that a study may write: "mean|cls". Each part must have a name.
template <class Parts>
std::string choices_of(const Parts& parts) {
  std::string all;
  for (const auto& part : parts) all += (all.empty() ? "" : "|") + std::string(part.name);
  return all;
}

/// Returns "HELP: mean (over what is present), cls (a token)". Each part must have a name and a help.
template <class Parts>
std::string help_of(const std::string& help, const Parts& parts) {
  std::string all;
  for (const auto& part : parts) all += (all.empty() ? help + ": " : ", ") + std::string(part.name) + " (" + part.help + ")";
  return all;
}

/// Returns the index of the part that has this name. Throws std::invalid_argument if there is none.
template <class Parts>
std::size_t index_of_choice(const Parts& parts, const std::string& name) {
  const auto found = std::find_if(std::begin(parts), std::end(parts), [&](const auto& one) { return one.name == name; });
  if (found == std::end(parts)) throw std::invalid_argument("\"" + name + "\" is none of " + choices_of(parts));
  return static_cast<std::size_t>(found - std::begin(parts));
}

/// The file name in a line of a list.
#define ABLATE_FILE_OF(file, ...) file,

/// Returns the entry of `files` for the choice `name`. Throws std::invalid_argument if no part has this name.
/// @param parts all choices that a study may write
/// @param files an entry for each part, in the same order
template <class Parts, class Files>
const auto& file_of_choice(const Parts& parts, const Files& files, const std::string& name) {
  static_assert(std::extent_v<Parts> == std::extent_v<Files>);
  return files[index_of_choice(parts, name)];
}

/// Returns the parameters of all parts. A parameter is read if `choice` names the parameter's part and its `when` is true.
template <class Parts>
std::vector<ParameterInfo> own_of(const std::string& choice, const Parts& parts) {
  std::vector<ParameterInfo> all;
  for (const auto& part : parts)
    for (const auto& parameter : part.own) {
      if (parameter.name == nullptr) break;
      all.push_back(describe(parameter));
      auto& when = all.back().when;
      when = choice + " = " + part.name + (when.empty() ? "" : " and " + when);
    }
  return all;
}

}  // namespace ablate
