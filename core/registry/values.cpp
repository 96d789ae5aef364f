#include "core/registry/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/rate_text.h"

namespace ablate {
namespace {

thread_local Reads* hearing = nullptr;

std::string owner_of(const PluginInfo& plugin) { return fmt::format("{} {}", to_text(plugin.kind), plugin.id); }

/// What reads a parameter of a type.
const char* accessor_of(ParameterType type) {
  switch (type) {
    case ParameterType::kBoolean:
      return "boolean()";
    case ParameterType::kInteger:
      return "integer()";
    case ParameterType::kReal:
      return "real()";
    case ParameterType::kText:
      return "text()";
    case ParameterType::kRate:
      return "rate()";
    case ParameterType::kRates:
      return "rates()";
    case ParameterType::kFile:
      return "file()";
    case ParameterType::kPlugin:
    case ParameterType::kPlugins:
      break;
  }
  return "the context's parts";
}

/// check_value has seen that it is one.
Rate to_rate(const nlohmann::json& value) { return parse_rate(value.get<std::string>()).value(); }

}  // namespace

Reads::Reads() : outer_(hearing) { hearing = this; }
Reads::~Reads() { hearing = outer_; }

void Reads::add(const std::string& owner, const std::string& parameter) {
  const std::lock_guard lock(mutex_);
  read_.emplace(owner, parameter);
}

bool Reads::contains(const PluginInfo& plugin, const std::string& parameter) const {
  const std::lock_guard lock(mutex_);
  return read_.contains({owner_of(plugin), parameter});
}

JsonValues::JsonValues(nlohmann::json section, std::span<const ParameterInfo> declared, std::string owner)
    : section_(std::move(section)), declared_(declared.begin(), declared.end()), owner_(std::move(owner)), reads_(hearing) {}

JsonValues::JsonValues(nlohmann::json section, const PluginInfo& plugin)
    : JsonValues(std::move(section), plugin.parameters, owner_of(plugin)) {}

const nlohmann::json& JsonValues::get(const char* name, std::initializer_list<ParameterType> types,
                                      const char* accessor) const {
  const auto declared = std::find_if(declared_.begin(), declared_.end(), [&](const auto& one) { return one.name == name; });
  if (declared == declared_.end()) {
    std::vector<std::string> known;
    for (const auto& one : declared_) known.push_back(one.name);
    throw std::logic_error(fmt::format("{} reads a parameter that its schema lacks: {}{}", owner_, name, hint(name, known)));
  }
  if (std::find(types.begin(), types.end(), declared->type) == types.end())
    throw std::logic_error(
        fmt::format("{} reads its parameter {} by {}, and declares it as {}: read it by {}, or declare it otherwise", owner_,
                    name, accessor, to_text(declared->type), accessor_of(declared->type)));
  if (reads_ != nullptr) reads_->add(owner_, name);
  const auto found = section_.find(name);
  if (found == section_.end()) throw std::logic_error(fmt::format("the section of {} has no value of {}", owner_, name));
  if (const auto checked = check_value(*declared, *found); !checked.ok())
    throw Error(fmt::format("{} of {} is {}, expected {}", name, owner_, found->dump(), checked.expected));
  return *found;
}

const nlohmann::json& JsonValues::plugins_of(const char* name) const {
  return get(name, {ParameterType::kPlugin, ParameterType::kPlugins}, "the context's parts or count()");
}

bool JsonValues::boolean(const char* name) const { return get(name, {ParameterType::kBoolean}, "boolean()").get<bool>(); }
std::int64_t JsonValues::integer(const char* name) const {
  return get(name, {ParameterType::kInteger}, "integer()").get<std::int64_t>();
}
double JsonValues::real(const char* name) const { return get(name, {ParameterType::kReal}, "real()").get<double>(); }
std::string JsonValues::text(const char* name) const { return get(name, {ParameterType::kText}, "text()").get<std::string>(); }
Rate JsonValues::rate(const char* name) const { return to_rate(get(name, {ParameterType::kRate}, "rate()")); }
std::string JsonValues::file(const char* name) const { return get(name, {ParameterType::kFile}, "file()").get<std::string>(); }

std::vector<Rate> JsonValues::rates(const char* name) const {
  std::vector<Rate> result;
  for (const auto& item : get(name, {ParameterType::kRates}, "rates()")) result.push_back(to_rate(item));
  return result;
}

std::int64_t JsonValues::count(const char* plugins) const {
  const auto& value = plugins_of(plugins);
  return value.is_array() ? static_cast<std::int64_t>(value.size()) : 1;
}

const nlohmann::json& JsonValues::section(const char* plugins, std::size_t index) const {
  const auto& value = plugins_of(plugins);
  const auto number = value.is_array() ? value.size() : 1;
  if (index >= number)
    throw std::logic_error(fmt::format("{} asks for number {} of its plugins {}, and there are {} (counted from 0)", owner_,
                                       index, plugins, number));
  return value.is_array() ? value.at(index) : value;
}

}  // namespace ablate
