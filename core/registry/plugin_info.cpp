#include "core/registry/plugin_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/util/error.h"
#include "core/util/plain_text.h"
#include "core/util/rate_text.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRates = 64;

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

std::optional<Rate> as_rate(const json& value) {
  if (value.is_string()) return parse_rate(value.get<std::string>());
  if (value.is_number()) return rate_from(value.get<double>());
  return std::nullopt;
}

/// 1000000000, not 1e+09: people copy these numbers.
std::string plain(double number) {
  return std::abs(number) < 1e15 && number == std::floor(number) ? fmt::format("{:.0f}", number) : fmt::format("{:g}", number);
}

std::string interval(const ParameterInfo& p) {
  const bool below = p.minimum > std::numeric_limits<double>::lowest(), above = p.maximum < std::numeric_limits<double>::max();
  if (below && above) return fmt::format(" in [{}, {}]", plain(p.minimum), plain(p.maximum));
  if (below) return " of at least " + plain(p.minimum);
  return above ? " of at most " + plain(p.maximum) : "";
}

/// A section that says which plugin it is of.
bool names_plugin(const json& value) {
  const auto plugin = value.is_object() ? value.find("plugin") : value.end();
  return plugin != value.end() && plugin->is_string();
}

}  // namespace

std::optional<Kind> ParameterInfo::plugin_kind() const {
  if (type != ParameterType::kPlugin && type != ParameterType::kPlugins) return std::nullopt;
  return choices.front() == to_text(Kind::kAttention) ? Kind::kAttention : Kind::kCompression;
}

const ParameterInfo* PluginInfo::find_plugin(Kind wanted) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const auto& p) { return p.type == ParameterType::kPlugin && p.plugin_kind() == wanted; });
  return found == parameters.end() ? nullptr : &*found;
}

const ParameterInfo* PluginInfo::find(std::string_view parameter) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == parameter; });
  return found == parameters.end() ? nullptr : &*found;
}

const char* to_text(Kind kind) {
  switch (kind) {
    case Kind::kAttention:
      return "attention";
    case Kind::kCompression:
      return "compression";
    case Kind::kTask:
      return "task";
  }
  return "unknown";
}

const char* to_text(ParameterType type) {
  switch (type) {
    case ParameterType::kBoolean:
      return "boolean";
    case ParameterType::kInteger:
      return "integer";
    case ParameterType::kReal:
      return "real";
    case ParameterType::kText:
      return "text";
    case ParameterType::kRate:
      return "rate";
    case ParameterType::kRates:
      return "rates";
    case ParameterType::kFile:
      return "file";
    case ParameterType::kPlugin:
      return "plugin";
    case ParameterType::kPlugins:
      return "plugins";
  }
  return "unknown";
}

std::string expectation(const ParameterInfo& p) {
  switch (p.type) {
    case ParameterType::kBoolean:
      return "true or false";
    case ParameterType::kInteger:
      return "an integer" + interval(p);
    case ParameterType::kReal:
      return "a number" + interval(p);
    case ParameterType::kText:
      return p.choices.empty() ? "a text in one line" : fmt::format("one of {}", fmt::join(p.choices, ", "));
    case ParameterType::kRate:
      return "a compression rate in (0, 1] with a denominator of at most 1,000,000, such as \"1/8\" or 0.125";
    case ParameterType::kRates:
      return fmt::format(
          "a list of 1 to {} compression rates in (0, 1] with denominators of at most 1,000,000, such as [\"1/2\", 0.125]",
          kMostRates);
    case ParameterType::kFile:
      return "the path of a file, in one line";
    case ParameterType::kPlugin:
      return fmt::format("{} {} plugin", p.plugin_kind() == Kind::kAttention ? "an" : "a", p.choices.front());
    case ParameterType::kPlugins:
      return fmt::format("a list of 1 to {} {} plugins", kMostPlugins, p.choices.front());
  }
  return "";
}

Checked check_value(const ParameterInfo& p, const json& value) {
  const Checked wrong{nullptr, expectation(p)};
  switch (p.type) {
    case ParameterType::kBoolean:
      return value.is_boolean() ? Checked{value, ""} : wrong;
    case ParameterType::kInteger: {
      if (!value.is_number_integer()) return wrong;
      const auto number = static_cast<double>(value.get<std::int64_t>());
      return number >= p.minimum && number <= p.maximum ? Checked{value.get<std::int64_t>(), ""} : wrong;
    }
    case ParameterType::kReal: {
      if (!value.is_number()) return wrong;
      const auto number = value.get<double>();
      return std::isfinite(number) && number >= p.minimum && number <= p.maximum ? Checked{number, ""} : wrong;
    }
    case ParameterType::kText: {
      if (!value.is_string() || !line_refusal(value.get<std::string>()).empty()) return wrong;
      const auto known =
          p.choices.empty() || std::find(p.choices.begin(), p.choices.end(), value.get<std::string>()) != p.choices.end();
      return known ? Checked{value, ""} : wrong;
    }
    case ParameterType::kRate: {
      const auto rate = as_rate(value);
      return rate ? Checked{to_text(*rate), ""} : wrong;
    }
    case ParameterType::kRates: {
      if (!value.is_array() || value.empty() || value.size() > kMostRates) return wrong;
      json list = json::array();
      for (const auto& item : value) {
        const auto rate = as_rate(item);
        if (!rate) return wrong;
        list.push_back(to_text(*rate));
      }
      return {list, ""};
    }
    case ParameterType::kFile:
      return value.is_string() && line_refusal(value.get<std::string>()).empty() ? Checked{value, ""} : wrong;
    case ParameterType::kPlugin:
      return names_plugin(value) ? Checked{value, ""} : wrong;
    case ParameterType::kPlugins: {
      const bool right = value.is_array() && !value.empty() && value.size() <= kMostPlugins;
      return right && std::all_of(value.begin(), value.end(), names_plugin) ? Checked{value, ""} : wrong;
    }
  }
  return wrong;
}

namespace {

/// Why a text of a descriptor cannot be shown in a line; "" where it can.
std::string text_refusal(const char* text) {
  if (text == nullptr) return "is null";
  return line_refusal(text);
}

/// Where capabilities and factories contradict the kind; "" where they do not.
std::string promise_refusal(const Descriptor& d) {
  if (std::string_view(to_text(d.kind)) == "unknown")
    return fmt::format("its kind is {}, which this host does not know", static_cast<int>(d.kind));
  for (const auto& [kind, there] : {std::pair{Kind::kAttention, d.make_attention != nullptr},
                                    {Kind::kCompression, d.make_compression != nullptr},
                                    {Kind::kTask, d.make_task != nullptr}}) {
    if (there == (kind == d.kind)) continue;
    return there ? fmt::format("its kind is {}, and it has a factory of the kind {}", to_text(d.kind), to_text(kind))
                 : fmt::format("its kind is {0}, and it has no factory, make_{0}", to_text(kind));
  }
  const auto& c = d.capabilities;
  const auto promises = [&](Kind kind, bool promised, const char* name) {
    return promised && d.kind != kind ? fmt::format("promises {}, which only the kind {} can", name, to_text(kind)) : "";
  };
  for (const auto& why :
       {promises(Kind::kAttention, c.causal, "causal"), promises(Kind::kAttention, c.key_padding, "key_padding"),
        promises(Kind::kAttention, c.cross_attention, "cross_attention"), promises(Kind::kAttention, c.stateful, "stateful"),
        promises(Kind::kAttention, c.holes, "holes"), promises(Kind::kAttention, c.recurrent, "recurrent"),
        promises(Kind::kAttention, c.rotary, "rotary"), promises(Kind::kCompression, c.slots_have_keys, "slots_have_keys"),
        promises(Kind::kCompression, c.causal_reads, "causal_reads"),
        promises(Kind::kCompression, c.fixed_slots, "fixed_slots"), promises(Kind::kCompression, c.extends, "extends")})
    if (!why.empty()) return why;
  if (c.length_multiple < 1) return fmt::format("its length_multiple is {}, expected at least 1", c.length_multiple);
  for (const auto& [exponent, name] : {std::pair{c.time_exponent, "time"}, {c.memory_exponent, "memory"}})
    if (!(exponent >= 0 && exponent <= 10)) return fmt::format("its {}_exponent is {}, expected 0 to 10", name, exponent);
  return "";
}

}  // namespace

ParameterInfo describe(const Parameter& p) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("parameter {}: {}", p.name, why), ExitCode::kPlugin);
  };
  for (const auto& [text, name] :
       {std::pair{p.default_value, "default"}, {p.choices, "list of choices"}, {p.unit, "unit"}, {p.help, "help"}})
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
                     .help = p.help};
  if (p.type == ParameterType::kPlugin || p.type == ParameterType::kPlugins) {
    if (*p.default_value != '\0') refuse(fmt::format("the default is {}, and plugins have none", p.default_value));
    if (info.choices != std::vector<std::string>{"attention"} && info.choices != std::vector<std::string>{"compression"})
      refuse(fmt::format("its choices are \"{}\", expected the kind of its plugins, attention or compression", p.choices));
    return info;
  }
  const auto given = json::parse(p.default_value, nullptr, false);
  if (given.is_discarded()) refuse(fmt::format("the default {} is no JSON (a text needs its quotes)", p.default_value));
  const auto checked = check_value(info, given);
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
  return info;
}

}  // namespace ablate
