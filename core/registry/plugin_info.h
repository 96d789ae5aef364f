// What the host knows of a plugin without its code: made from a descriptor in a worker, kept as JSON, used everywhere else.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// A Parameter (ablate/parameter.h) with its strings parsed.
struct ParameterInfo {
  std::string name;
  ParameterType type = ParameterType::kText;
  nlohmann::json default_value;      ///< canonical: rates as "1/8", lists as arrays; null for plugins, which have none
  double minimum = 0, maximum = 0;   ///< integer and real
  std::vector<std::string> choices;  ///< text; empty: any. Plugins: their kind
  std::string unit, help;
  std::string when;  ///< "NAME = VALUE", of the same plugin's parameters; empty: always

  /// Of the plugin, or of each of the plugins, that are its value; nothing for every other type.
  std::optional<Kind> plugin_kind() const;
};

/// The plugins that a list names.
inline constexpr std::size_t kMostPlugins = 16;

/// An Exemption (ablate/plugin.h).
struct ExemptionInfo {
  std::string check, what, why;
  double tolerance = 0;
  std::string when;
};

/// An Oracle, its parameters parsed.
struct OracleInfo {
  nlohmann::json at;
  std::string plugin;
  nlohmann::json with;
};

struct PluginInfo {
  Kind kind = Kind::kAttention;
  std::string id, version, summary, paper, code_digest;
  Capabilities capabilities;
  bool promises_depend = false;  ///< on parameters and parts: a worker has to be asked; capabilities are those declared
  std::vector<ParameterInfo> parameters;
  std::vector<ExemptionInfo> exemptions;
  std::vector<OracleInfo> oracles;
  std::filesystem::path path;  ///< of the library
  std::string content_hash;    ///< SHA-256 of the library file

  /// What a trial's identity depends on: the digest of the sources, or the library's own hash where it has none.
  const std::string& code_identity() const { return code_digest.empty() ? content_hash : code_digest; }
  const ParameterInfo* find(std::string_view parameter) const;
  /// The first parameter that is one plugin of a kind; nullptr where there is none.
  const ParameterInfo* find_plugin(Kind kind) const;
};

const char* to_text(
    ParameterType type);  ///< "integer", "real", "boolean", "text", "rate", "rates", "file", "plugin", "plugins"

/// Parses a descriptor's schema. Throws Error naming plugin and parameter for a default out of its range, a default that is no
/// JSON, a name twice, reserved or not snake_case, an id not kebab-case.
PluginInfo describe(const Descriptor& descriptor);
ParameterInfo describe(const Parameter& parameter);

nlohmann::json to_json(const Capabilities& capabilities);
Capabilities capabilities_from_json(const nlohmann::json& json);
nlohmann::json to_json(const PluginInfo& info);
PluginInfo plugin_info_from_json(const nlohmann::json& json);

/// The value in canonical form, or an explanation of what was expected ("an integer in [1, 64]"): rates become "1/8", whole
/// reals stay reals. Exactly one of the two is set. Of plugins it is checked that each is a section that names one; of a file,
/// that it is a path.
struct Checked {
  nlohmann::json value;
  std::string expected;
  bool ok() const { return expected.empty(); }
};
Checked check_value(const ParameterInfo& parameter, const nlohmann::json& value);

/// "an integer in [1, 64]", "one of relu, elu+1", "a compression plugin": what check_value expects.
std::string expectation(const ParameterInfo& parameter);

}  // namespace ablate
