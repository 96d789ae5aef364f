// A point of a trial's curves.
#pragma once

#include <cstdint>
#include <string>

namespace ablate {

struct CurvePoint {
  std::string metric;
  std::int64_t step;
  double value;

  bool operator==(const CurvePoint&) const = default;
};

}  // namespace ablate
