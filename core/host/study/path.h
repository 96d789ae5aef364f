// The spelling of a value's path in a trial: "attention.parts.0.heads".
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace ablate {

/// The section and the key: "attention.parts.0.heads" -> {"attention.parts.0", "heads"}; {"seed", ""} where there is no dot.
inline std::pair<std::string, std::string> split_path(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? std::pair(path, std::string()) : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

/// The first part and the rest: "attention.heads" -> {"attention", "heads"}; {"seed", ""}.
inline std::pair<std::string, std::string> split_first(const std::string& path) {
  const auto dot = path.find('.');
  return dot == std::string::npos ? std::pair(path, std::string()) : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

/// Whether a part of a path counts an entry of a list: "0", "12", but not "01".
inline bool is_index(std::string_view part) {
  const bool digits =
      !part.empty() && part.size() <= 4 && std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && (part.size() == 1 || part.front() != '0');
}

}  // namespace ablate
