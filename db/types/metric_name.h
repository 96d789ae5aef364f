// Syntax of a metric's name: domain/name, followed by @group=value if the metric covers one group of examples.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace ablate::db {

/// Returns "test/accuracy" for "test/accuracy@pairs=8", and any other name unchanged.
constexpr std::string_view without_group(std::string_view metric) { return metric.substr(0, metric.find('@')); }

constexpr bool is_of_group(std::string_view metric) { return metric.find('@') != std::string_view::npos; }

/// Returns the name of a metric on the dev split: "dev/accuracy" for "test/accuracy".
inline std::string on_dev(std::string_view metric) {
  return "dev" + std::string(metric.substr(std::min(metric.find('/'), metric.size())));
}

}  // namespace ablate::db
