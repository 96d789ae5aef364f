// The parts of an attempt's environment that may change its numbers, and the differences of two environments in these parts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/util/plain_json.h"

namespace ablate {

/// Returns the parts of an environment that may change numbers, if present. OMP_WAIT_POLICY is left out, because it changes
/// only times. Early versions of ablate did not set this variable. Their attempts must stay comparable with later attempts.
inline nlohmann::json number_parts(const nlohmann::json& environment) {
  auto parts = nlohmann::json::object();
  for (const auto* part : {"processor", "cpu_capability", "kernels", "kernels_bfloat16", "torch", "gpus", "gpu_driver",
                           "compiler", "libraries", "variables"})
    if (const auto at = environment.find(part); at != environment.end()) parts[part] = *at;
  if (const auto variables = parts.find("variables"); variables != parts.end() && variables->is_object())
    variables->erase("OMP_WAIT_POLICY");
  return parts;
}

/// Returns a merge patch (RFC 7396) that turns `now` into `before`, in the parts that `before` has: {"kernels": "avx2",
/// "variables": {"MKL_CBWR": null}}. Null stands for a variable that was not set. Both arguments come from number_parts().
inline nlohmann::json environment_difference(const nlohmann::json& before, const nlohmann::json& now) {
  auto patch = nlohmann::json::object();
  for (const auto& [part, value] : before.items()) {
    const auto other = now.value(part, nlohmann::json());
    if (value == other) continue;
    if (!value.is_object() || !other.is_object()) {
      patch[part] = value;
      continue;
    }
    for (const auto& [name, inner] : value.items())
      if (other.value(name, nlohmann::json()) != inner) patch[part][name] = inner;
    for (const auto& [name, unused] : other.items())
      if (!value.contains(name)) patch[part][name] = nullptr;
  }
  return patch;
}

/// Writes a patch as text: "kernels = avx2, variables.MKL_CBWR = unset".
inline std::string difference_text(const nlohmann::json& patch) {
  std::string text;
  const auto add = [&](const std::string& name, const nlohmann::json& value) {
    const auto shown = plain_json(value);
    text += (text.empty() ? "" : ", ") + name + " = ";
    text += value.is_null() ? "unset" : value.is_string() ? shown.substr(1, shown.size() - 2) : shown;
  };
  for (const auto& [part, value] : patch.items()) {
    if (!value.is_object())
      add(part, value);
    else
      for (const auto& [name, inner] : value.items()) add(part + "." + name, inner);
  }
  return text;
}

/// Writes how the environments of an attempt's earlier steps differ from its last environment. Returns "" for no patches.
/// @param patches an array, unless the history was edited by hand
inline std::string differences_text(const nlohmann::json& patches) {
  std::string text;
  if (!patches.is_array()) return text;
  for (const auto& patch : patches) text += (text.empty() ? "" : "; before that, ") + difference_text(patch);
  return text;
}

}  // namespace ablate
