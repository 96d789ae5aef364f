// What models have before they are trained: a job that counts for [grid.match]. How it is written, jobs.cpp says.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/shared/jobs.h"

namespace ablate {

struct CountSizesJob {
  static constexpr const char* kName = "count-sizes";
  using Answer = struct CountedSizes;
  Libraries libraries;
  std::vector<TrialSpec> models;  ///< of one task
  bool operator==(const CountSizesJob&) const = default;
};
struct CountedSizes {
  static constexpr const char* kName = "answer of count-sizes";
  struct Sizes {
    std::int64_t parameters = 0;   ///< as the metric model/parameters counts them
    std::int64_t state_bytes = 0;  ///< as memory/state has them; 0: the model hands on no state
    std::string refused;           ///< why there is no such model; "": there is
    bool operator==(const Sizes&) const = default;
  };
  std::map<std::string, std::string> files;  ///< as DescribedTask::files
  std::vector<Sizes> sizes;                  ///< of each model
  bool operator==(const CountedSizes&) const = default;
};

}  // namespace ablate
