// Description of a plugin without its code: made from a descriptor in a worker, stored as JSON, used everywhere else.
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

/// "attention, compression or task". With `parts_alone`, only kinds that may be parameters of other plugins.
inline std::string kind_names(bool parts_alone = false) {
  std::vector<std::string> names;
  for (const auto& one : kPluginKinds)
    if (one.part || !parts_alone) names.emplace_back(one.name);
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) all += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return all;
}

/// Returns the kind of a part; nullopt for every other name.
constexpr std::optional<Kind> part_kind_of_name(std::string_view name) {
  for (const auto& one : kPluginKinds)
    if (one.part && one.name == name) return one.kind;
  return std::nullopt;
}

/// A Parameter (ablate/parameter.h) with its strings parsed.
struct ParameterInfo {
  std::string name;
  ParameterType type = ParameterType::kText;
  nlohmann::json default_value;      ///< canonical: rates as "1/8", lists as arrays; null for plugins, which have no default
  double minimum = 0, maximum = 0;   ///< for an integer or a real
  std::vector<std::string> choices;  ///< for a text; empty: any text. For plugins: their kind
  std::string unit, help;
  std::string when;  ///< "NAME = VALUE", of the same plugin's parameters; empty: always

  /// Kind of the plugins that are the parameter's value; nullopt for every other type.
  std::optional<Kind> plugin_kind() const;
};

/// Maximum number of plugins in a list.
inline constexpr std::size_t kMostPlugins = 16;

/// An Exemption (ablate/plugin.h).
struct ExemptionInfo {
  std::string check, what, why;
  double tolerance = 0;
  std::string when;
};

/// An Oracle with its parameters parsed.
struct OracleInfo {
  nlohmann::json at;
  std::string plugin;
  nlohmann::json with;
};

struct PluginInfo {
  Kind kind = Kind::kAttention;
  std::string id, version, summary, paper, code_digest;
  Capabilities capabilities;
  bool promises_depend = false;  ///< true if a worker computes promises from parameters; `capabilities` are as declared
  std::vector<ParameterInfo> parameters;
  std::vector<ExemptionInfo> exemptions;
  std::vector<OracleInfo> oracles;
  std::filesystem::path path;  ///< path of the library
  std::string content_hash;    ///< SHA-256 of the library file

  /// The code's part of a trial's identity: the digest of the sources, or, without a digest, the library's hash.
  const std::string& code_identity() const { return code_digest.empty() ? content_hash : code_digest; }
  const ParameterInfo* find(std::string_view parameter) const;
  /// Returns the first parameter that is a single plugin of this kind; nullptr if there is none.
  const ParameterInfo* find_plugin(Kind kind) const;
};

const char* to_text(
    ParameterType type);  ///< "integer", "real", "boolean", "text", "rate", "rates", "file", "plugin", "plugins"

/// Parses a descriptor's schema. Throws Error, which names the plugin and the parameter, if a default is out of its range or
/// not JSON, if a name is repeated, reserved or not snake_case, or if an id is not kebab-case.
PluginInfo describe(const Descriptor& descriptor);
ParameterInfo describe(const Parameter& parameter);

nlohmann::json to_json(const Capabilities& capabilities);
Capabilities capabilities_from_json(const nlohmann::json& json);
nlohmann::json to_json(const PluginInfo& info);
PluginInfo plugin_info_from_json(const nlohmann::json& json);

/// The value in canonical form, or an explanation of what was expected ("an integer in [1, 64]"). Exactly one is set. Rates
/// become "1/8", and whole reals stay reals. A plugin must be a section that names a plugin, and a file must be a path.
struct Checked {
  nlohmann::json value;
  std::string expected;
  bool ok() const { return expected.empty(); }
};
Checked check_value(const ParameterInfo& parameter, const nlohmann::json& value);

/// Returns the values that check_value accepts: "an integer in [1, 64]", "one of relu, elu+1", "a compression plugin".
std::string expectation(const ParameterInfo& parameter);

}  // namespace ablate
