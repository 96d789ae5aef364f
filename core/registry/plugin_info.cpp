#include "core/registry/plugin_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/util/plain_text.h"
#include "core/util/rate_text.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRates = 64;

std::optional<Rate> as_rate(const json& value) {
  if (value.is_string()) return parse_rate(value.get<std::string>());
  if (value.is_number()) return rate_from(value.get<double>());
  return std::nullopt;
}

/// Writes 1000000000, not 1e+09, because users copy these numbers.
std::string plain(double number) {
  return std::abs(number) < 1e15 && number == std::floor(number) ? fmt::format("{:.0f}", number) : fmt::format("{:g}", number);
}

std::string interval(const ParameterInfo& p) {
  const auto bound = [&](double value) {  // all digits of an integer
    return p.type == ParameterType::kInteger ? fmt::format("{:.0f}", value) : plain(value);
  };
  const bool below = p.minimum > std::numeric_limits<double>::lowest(), above = p.maximum < std::numeric_limits<double>::max();
  if (below && above) return fmt::format(" in [{}, {}]", bound(p.minimum), bound(p.maximum));
  if (below) return " of at least " + bound(p.minimum);
  return above ? " of at most " + bound(p.maximum) : "";
}

/// True if the value is a section that names its plugin.
bool names_plugin(const json& value) {
  const auto plugin = value.is_object() ? value.find("plugin") : value.end();
  return plugin != value.end() && plugin->is_string();
}

}  // namespace

std::optional<Kind> ParameterInfo::plugin_kind() const {
  if (type != ParameterType::kPlugin && type != ParameterType::kPlugins) return std::nullopt;
  return kind_of_name(choices.front());
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
      return "a fraction in (0, 1] with a denominator of at most 1,000,000, such as \"1/8\" or 0.125";
    case ParameterType::kRates:
      return fmt::format(
          "a list of 1 to {} fractions in (0, 1] with denominators of at most 1,000,000, such as [\"1/2\", 0.125]", kMostRates);
    case ParameterType::kFile:
      return "the path of a file, in one line";
    case ParameterType::kPlugin:
      return with_article(*p.plugin_kind()) + " plugin";
    case ParameterType::kPlugins:
      return fmt::format("a list of 1 to {} {} plugins", kMostPlugins, p.choices.front());
  }
  return "";
}

Checked check_value(const ParameterInfo& p, const json& value) {
  Checked wrong{nullptr, expectation(p)};
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

}  // namespace ablate
