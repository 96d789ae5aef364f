// What models have before they are trained: a job that counts for [grid.match].
#pragma once

#include <limits>

#include "core/shared/message_json.h"

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

void fields(auto& f, Is<CountSizesJob> auto& m) {
  fields(f, m.libraries);
  f("models", m.models);
}

void fields(auto& f, Is<CountedSizes::Sizes> auto& m) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  f("parameters", m.parameters, 0, kMost);
  f("state_bytes", m.state_bytes, 0, kMost);
  f("refused", m.refused);
}

void fields(auto& f, Is<CountedSizes> auto& m) {
  f("files", m.files);
  f("sizes", m.sizes);
}

}  // namespace ablate
