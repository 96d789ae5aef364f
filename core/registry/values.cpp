#include "core/registry/values.h"

#include <stdexcept>

#include "core/util/rate_text.h"

namespace ablate {
namespace {

template <class T>
T as(const nlohmann::json& value, const char* name, const char* type) {
  try {
    return value.get<T>();
  } catch (const nlohmann::json::exception&) {
    throw std::logic_error(std::string("the plugin reads its parameter ") + name + " as " + type +
                           ", but the schema declares another type");
  }
}

Rate to_rate(const nlohmann::json& value, const char* name) {
  const auto rate = parse_rate(as<std::string>(value, name, "a rate"));
  if (!rate)
    throw std::logic_error(std::string("the plugin reads its parameter ") + name +
                           " as a rate, but the schema declares another type");
  return *rate;
}

}  // namespace

const nlohmann::json& JsonValues::get(const char* name) const {
  const auto found = object_.find(name);
  if (found == object_.end())
    throw std::logic_error(std::string("the plugin reads a parameter that its schema lacks: ") + name);
  return *found;
}

bool JsonValues::boolean(const char* name) const { return as<bool>(get(name), name, "a boolean"); }
std::int64_t JsonValues::integer(const char* name) const { return as<std::int64_t>(get(name), name, "an integer"); }
double JsonValues::real(const char* name) const { return as<double>(get(name), name, "a real"); }
std::string JsonValues::text(const char* name) const { return as<std::string>(get(name), name, "a text"); }
Rate JsonValues::rate(const char* name) const { return to_rate(get(name), name); }

std::string JsonValues::file(const char* name) const { return as<std::string>(get(name), name, "a file"); }

std::int64_t JsonValues::count(const char* plugins) const {
  const auto& value = get(plugins);
  if (!value.is_array() && !value.is_object())
    throw std::logic_error(std::string("the plugin reads its parameter ") + plugins +
                           " as plugins, but the schema declares another type");
  return value.is_array() ? static_cast<std::int64_t>(value.size()) : 1;
}

const nlohmann::json& JsonValues::section(const char* plugins, std::size_t index) const {
  if (static_cast<std::int64_t>(index) >= count(plugins))
    throw std::logic_error(std::string("the plugin asks for number ") + std::to_string(index) + " of its plugins " + plugins +
                           ", and there are " + std::to_string(count(plugins)) + " (counted from 0)");
  const auto& value = get(plugins);
  return value.is_array() ? value.at(index) : value;
}

std::vector<Rate> JsonValues::rates(const char* name) const {
  std::vector<Rate> result;
  const auto& list = get(name);
  if (!list.is_array())
    throw std::logic_error(std::string("the plugin reads its parameter ") + name +
                           " as rates, but the schema declares another type");
  for (const auto& item : list) result.push_back(to_rate(item, name));
  return result;
}

}  // namespace ablate
