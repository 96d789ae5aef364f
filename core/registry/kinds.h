// The kinds of plugins, from the SDK's list of them. Torch-free.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ablate/plugin.h"

namespace ablate {

struct KindInfo {
  Kind kind;
  const char* name;
  bool part;  ///< may be a parameter of another plugin
};

inline constexpr KindInfo kPluginKinds[] = {
#define ABLATE_KIND(enumerator, ...) {Kind::enumerator, __VA_ARGS__},
    ABLATE_KINDS(ABLATE_KIND)
#undef ABLATE_KIND
};

/// "attention"; "unknown" for a number that no kind of this host has.
constexpr const char* to_text(Kind kind) {
  for (const auto& one : kPluginKinds)
    if (one.kind == kind) return one.name;
  return "unknown";
}

constexpr std::optional<Kind> kind_of_name(std::string_view name) {
  for (const auto& one : kPluginKinds)
    if (one.name == name) return one.kind;
  return std::nullopt;
}

/// "an attention".
inline std::string with_article(Kind kind) {
  const std::string name = to_text(kind);
  return (std::string_view("aeiou").find(name.front()) == std::string_view::npos ? "a " : "an ") + name;
}

/// "attention, compression or task". @param parts_alone those that may be parameters of other plugins
inline std::string kind_names(bool parts_alone = false) {
  std::vector<std::string> names;
  for (const auto& one : kPluginKinds)
    if (one.part || !parts_alone) names.emplace_back(one.name);
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) all += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return all;
}

/// The kind of a part; nothing for every other name.
constexpr std::optional<Kind> part_kind_of_name(std::string_view name) {
  for (const auto& one : kPluginKinds)
    if (one.part && one.name == name) return one.kind;
  return std::nullopt;
}

}  // namespace ablate
