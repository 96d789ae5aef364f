// What a metric's name says: domain/name, and @group=value behind it where it is over a group of examples.
#pragma once

#include <string_view>

namespace ablate::db {

/// "test/accuracy" of "test/accuracy@pairs=8"; of any other the whole.
constexpr std::string_view without_group(std::string_view metric) { return metric.substr(0, metric.find('@')); }

constexpr bool is_of_group(std::string_view metric) { return metric.find('@') != std::string_view::npos; }

}  // namespace ablate::db
