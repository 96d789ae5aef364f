// What a list of parts (poolings, schedules) says in a parameter's declaration.
#pragma once

#include <string>

namespace ablate {

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

}  // namespace ablate
