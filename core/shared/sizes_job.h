// Sizes of models before training: a job that counts them for [grid.match]. Its JSON form is in jobs.cpp.
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
  std::vector<TrialSpec> models;  ///< all with the same task
  bool operator==(const CountSizesJob&) const = default;
};
struct CountedSizes {
  static constexpr const char* kName = "answer of count-sizes";
  struct Sizes {
    std::int64_t parameters = 0;   ///< same count as the metric model/parameters
    std::int64_t state_bytes = 0;  ///< same count as memory/state; 0: the model carries no state
    std::string refused;           ///< reason why there is no such model; "": there is one
    bool operator==(const Sizes&) const = default;
  };
  std::map<std::string, std::string> files;  ///< see DescribedTask::files
  std::vector<Sizes> sizes;                  ///< an entry for each model
  bool operator==(const CountedSizes&) const = default;
};

}  // namespace ablate
