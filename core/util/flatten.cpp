#include "core/util/flatten.h"

#include <algorithm>
#include <string_view>

namespace ablate {
namespace {

std::string element_text(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

void add(const std::string& path, const nlohmann::json& value, std::map<std::string, nlohmann::json>& leaves) {
  if (value.is_object()) {
    for (const auto& [name, inner] : value.items()) {
      if (name == "plugin" && !path.empty())
        add(path, inner, leaves);
      else
        add(path.empty() ? name : path + "." + name, inner, leaves);
    }
  } else if (value.is_array() && !value.empty() && value.front().is_object()) {
    for (std::size_t i = 0; i < value.size(); ++i) add(path + "." + std::to_string(i), value[i], leaves);
  } else if (value.is_array()) {
    std::string all;
    for (const auto& element : value) all += (all.empty() ? "" : ",") + element_text(element);
    leaves[path] = all;
  } else {
    leaves[path] = value;
  }
}

}  // namespace

std::map<std::string, nlohmann::json> flatten(const nlohmann::json& resolved) {
  std::map<std::string, nlohmann::json> leaves;
  add("", resolved, leaves);
  return leaves;
}

std::string history_path(const std::string& path) {
  constexpr std::string_view kPlugin = ".plugin";
  return path.ends_with(kPlugin) ? path.substr(0, path.size() - kPlugin.size()) : path;
}

}  // namespace ablate
