// Converts a plugin's descriptor to the host's PluginInfo, and refuses faulty descriptors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "core/registry/conditions.h"
#include "core/registry/plugin_info.h"
#include "core/registry/promises.h"
#include "core/util/error.h"
#include "core/util/plain_text.h"

namespace ablate {
namespace {

using nlohmann::json;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool is_name(std::string_view text, char joint) {
  if (text.empty() || text.front() < 'a' || text.front() > 'z') return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == joint; });
}

/// Returns why a text of a descriptor cannot be shown in a line; "" if it can.
std::string text_refusal(const char* text) {
  if (text == nullptr) return "is null";
  return line_refusal(text);
}

/// Returns why the factories do not fit the kind: the factory of the kind is missing, or there is another factory; "" if they
/// fit. The first three kinds have their factory in the descriptor, all other kinds in an extension.
std::string factory_refusal(const Descriptor& d) {
  bool is_own = false;
  for (const auto& [kind, there] : {std::pair{Kind::kAttention, d.make_attention != nullptr},
                                    {Kind::kCompression, d.make_compression != nullptr},
                                    {Kind::kTask, d.make_task != nullptr}}) {
    is_own = is_own || kind == d.kind;
    if (there == (kind == d.kind)) continue;
    return there ? fmt::format("its kind is {}, and it has a factory of the kind {}", to_text(d.kind), to_text(kind))
                 : fmt::format("its kind is {0}, and it has no factory, make_{0}", to_text(kind));
  }
  const auto name = fmt::format("ablate.{}/1", to_text(d.kind));
  if (is_own || (d.extension != nullptr && d.extension(name.c_str()) != nullptr)) return "";
  return fmt::format("its kind is {}, and it has no factory, the extension {}", to_text(d.kind), name);
}

/// Returns why capabilities or factories contradict the kind; "" if they do not.
std::string promise_refusal(const Descriptor& d) {
  if (std::string_view(to_text(d.kind)) == "unknown")
    return fmt::format("its kind is {}, which this host does not know", static_cast<int>(d.kind));
  if (auto why = factory_refusal(d); !why.empty()) return why;
  const auto& c = d.capabilities;
  for (const auto& promise : promises()) {
    const bool is_theirs =
        (promise.attention && d.kind == Kind::kAttention) || (promise.compression && d.kind == Kind::kCompression);
    if (c.*promise.field && !(Capabilities{}.*promise.field) && !is_theirs)
      return fmt::format("promises {}, which no plugin of the kind {} can promise", promise.name, to_text(d.kind));
  }
  if (c.length_multiple < 1) return fmt::format("its length_multiple is {}, expected at least 1", c.length_multiple);
  for (const auto& [exponent, name] : {std::pair{c.time_exponent, "time"}, {c.memory_exponent, "memory"}})
    if (!(exponent >= 0 && exponent <= 10)) return fmt::format("its {}_exponent is {}, expected 0 to 10", name, exponent);
  return "";
}

using Refuse = std::function<void(const std::string& why)>;

/// Returns why a `when` is no condition or can never be true; "" if it is valid.
std::string condition_refusal(const std::string& when, const PluginInfo& info) {
  if (when.empty()) return "";
  const auto [name, comparison, text] = condition_of(when);
  const auto* parameter = info.find(name);
  if (parameter == nullptr) return "expected \"PARAMETER = VALUE\" with a parameter of the plugin (> and < for numbers)";
  const auto value = json::parse(text, nullptr, false);
  if (comparison != '=') {
    const bool numbers =
        value.is_number() && (parameter->type == ParameterType::kInteger || parameter->type == ParameterType::kReal);
    if (numbers && (comparison == '>' ? value.get<double>() < parameter->maximum : value.get<double>() > parameter->minimum))
      return "";
    return fmt::format("but {} accepts {}", parameter->name, expectation(*parameter));
  }
  if (check_value(*parameter, text).ok() || (!value.is_discarded() && check_value(*parameter, value).ok())) return "";
  return fmt::format("but {} accepts {}", parameter->name, expectation(*parameter));
}

void check_conditions(const PluginInfo& info, const Refuse& refuse) {
  for (const auto& p : info.parameters) {
    auto why = condition_refusal(p.when, info);
    if (condition_of(p.when).name == p.name && !p.when.empty()) why = "but a condition needs another parameter";
    if (!p.when.empty() && p.plugin_kind()) why = "but a parameter that names plugins is always read";
    if (!why.empty()) refuse(fmt::format("its parameter {} is read when \"{}\", {}", p.name, p.when, why));
  }
}

void add_exemptions(const Descriptor& d, PluginInfo& info, const Refuse& refuse) {
  for (std::size_t i = 0; i < d.exemption_count; ++i) {
    const auto& e = d.exemptions[i];
    for (const auto* text : {e.check, e.what, e.why, e.when})
      if (const auto why = text_refusal(text); !why.empty()) refuse(fmt::format("a text of its exemption {} {}", i + 1, why));
    if (const auto why = condition_refusal(e.when, info); !why.empty())
      refuse(fmt::format("its exemption from {} holds when \"{}\", {}", e.check, e.when, why));
    if (!(e.tolerance > 0 && std::isfinite(e.tolerance)))
      refuse(
          fmt::format("its exemption from {} states the tolerance {}, expected a number above 0: the largest error that is "
                      "allowed, as `ablate check` reports it; 1 if the check says yes or no",
                      e.check, e.tolerance));
    info.exemptions.push_back({e.check, e.what, e.why, e.tolerance, e.when});
  }
}

void add_oracles(const Descriptor& d, PluginInfo& info, const Refuse& refuse) {
  for (std::size_t i = 0; i < d.oracle_count; ++i) {
    const auto& o = d.oracles[i];
    for (const auto* text : {o.at, o.plugin, o.with})
      if (const auto why = text_refusal(text); !why.empty()) refuse(fmt::format("a text of its oracle {} {}", i + 1, why));
    const auto at = json::parse(o.at, nullptr, false), with = json::parse(o.with, nullptr, false);
    if (!at.is_object() || !with.is_object())
      refuse(fmt::format("its oracle {} has the parameters {} and {}, expected two JSON objects", o.plugin, o.at, o.with));
    info.oracles.push_back({at, o.plugin, with});
  }
}

}  // namespace

ParameterInfo describe(const Parameter& p) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("parameter {}: {}", p.name, why), ExitCode::kPlugin);
  };
  for (const auto& [text, name] : {std::pair{p.default_value, "default"},
                                   {p.choices, "list of choices"},
                                   {p.unit, "unit"},
                                   {p.help, "help"},
                                   {p.when, "condition"}})
    if (const auto why = text_refusal(text); !why.empty()) refuse(fmt::format("its {} {}", name, why));
  if (std::string_view(to_text(p.type)) == "unknown")
    refuse(fmt::format("its type is {}, which this host does not know", static_cast<int>(p.type)));
  if (std::isnan(p.minimum) || std::isnan(p.maximum)) refuse("a bound of its range is nan");
  using Limits = std::numeric_limits<double>;  // JSON has no infinity
  ParameterInfo info{.name = p.name,
                     .type = p.type,
                     .minimum = std::max(p.minimum, Limits::lowest()),
                     .maximum = std::min(p.maximum, Limits::max()),
                     .choices = split(p.choices, '|'),
                     .unit = p.unit,
                     .help = p.help,
                     .when = p.when};
  if (p.type == ParameterType::kPlugin || p.type == ParameterType::kPlugins) {
    if (*p.default_value != '\0') refuse(fmt::format("the default is {}, and plugins have none", p.default_value));
    if (!part_kind_of_name(p.choices))
      refuse(fmt::format("its choices are \"{}\", expected the kind of its plugins, {}", p.choices, kind_names(true)));
    return info;
  }
  const auto parsed = json::parse(p.default_value, nullptr, false);
  if (parsed.is_discarded()) refuse(fmt::format("the default {} is no JSON (a text needs its quotes)", p.default_value));
  const auto checked = check_value(info, parsed);
  if (!checked.ok()) refuse(fmt::format("the default is {}, expected {}", p.default_value, checked.expected));
  info.default_value = checked.value;
  return info;
}

PluginInfo describe(const Descriptor& d) {
  for (const auto& [text, name] : {std::pair{d.id, "id"},
                                   {d.version, "version"},
                                   {d.summary, "summary"},
                                   {d.paper, "paper"},
                                   {d.code_digest, "code digest"}})
    if (const auto why = text_refusal(text); !why.empty())
      throw Error(fmt::format("the descriptor's {} {}", name, why), ExitCode::kPlugin);
  PluginInfo info{.kind = d.kind,
                  .id = d.id,
                  .version = d.version,
                  .summary = d.summary,
                  .paper = d.paper,
                  .code_digest = d.code_digest,
                  .capabilities = d.capabilities,
                  .promises_depend = d.promises != nullptr};
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("plugin \"{}\": {}", info.id, why), ExitCode::kPlugin);
  };
  if (!is_name(info.id, '-')) refuse("an id is lower-case letters, digits and '-'");
  if (const auto why = promise_refusal(d); !why.empty()) refuse(why);
  if (d.parameters == nullptr && d.parameter_count > 0)
    refuse(fmt::format("declares {} parameters, and its list of them is null", d.parameter_count));
  std::set<std::string> names;
  for (std::size_t i = 0; i < d.parameter_count; ++i) {
    const auto& p = d.parameters[i];
    if (const auto why = text_refusal(p.name); !why.empty()) refuse(fmt::format("the name of parameter {} {}", i + 1, why));
    if (!is_name(p.name, '_') || std::string_view(p.name) == "plugin")
      refuse(fmt::format("the parameter name \"{}\" is not snake_case, or reserved", p.name));
    if (!names.insert(p.name).second) refuse(fmt::format("declares the parameter {} twice", p.name));
    try {
      info.parameters.push_back(describe(p));
    } catch (const Error& error) {
      refuse(error.what());
    }
  }
  check_conditions(info, refuse);
  add_exemptions(d, info, refuse);
  add_oracles(d, info, refuse);
  return info;
}

}  // namespace ablate
