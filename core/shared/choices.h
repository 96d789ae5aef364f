// Lists of parts that a study chooses by name: optimisers, schedules, poolings, activations, types. Each list is a macro of
// lines in a header of this folder; a line names a file and says, by designated initialisers, what a study writes and what that
// is. It may bring parameters of its own, which stand in the section beside the choice and are read with that choice alone.
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

/// What a choice brings, in order; what is unused has no name. Their values are in the `own` of a trial's section.
using OwnParameters = std::array<Parameter, 6>;

struct TrainSpec;

/// Why a choice does not go with the rest of [train].
struct Misfit {
  std::vector<const char*> of;  ///< what does not go together; the first that a study sets is where it is told
  std::string why;
};
/// Told before any trial, of those that make the choice; nothing where it goes with the rest.
using Refuse = std::optional<Misfit> (*)(const TrainSpec& train);

/// Of most lists.
struct Choice {
  const char *name, *help;
  OwnParameters own = {};
};

/// "mean|cls": what may be written. @param parts each with a name
template <class Parts>
std::string choices_of(const Parts& parts) {
  std::string all;
  for (const auto& part : parts) all += (all.empty() ? "" : "|") + std::string(part.name);
  return all;
}

/// "HELP: mean (over what is present), cls (a token)". @param parts each with a name and a help
template <class Parts>
std::string help_of(const std::string& help, const Parts& parts) {
  std::string all;
  for (const auto& part : parts) all += (all.empty() ? help + ": " : ", ") + std::string(part.name) + " (" + part.help + ")";
  return all;
}

/// Which of the parts has a name. Throws std::invalid_argument where none has.
template <class Parts>
std::size_t index_of_choice(const Parts& parts, const std::string& name) {
  const auto found = std::find_if(std::begin(parts), std::end(parts), [&](const auto& one) { return one.name == name; });
  if (found == std::end(parts)) throw std::invalid_argument("\"" + name + "\" is none of " + choices_of(parts));
  return static_cast<std::size_t>(found - std::begin(parts));
}

/// Of a list's line: what its file defines.
#define ABLATE_FILE_OF(file, ...) file,

/// What the file of a choice defines. @param parts all that a study may write @param files of their lines, in order. Throws as
/// index_of_choice does
template <class Parts, class Files>
const auto& file_of_choice(const Parts& parts, const Files& files, const std::string& name) {
  static_assert(std::extent_v<Parts> == std::extent_v<Files>);
  return files[index_of_choice(parts, name)];
}

/// What all parts bring, each read where the parameter `choice` has its part's value, and where the part's own condition holds.
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
