// A value on the way: a trial's curves are made of these.
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
