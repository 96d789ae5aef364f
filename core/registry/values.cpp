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
