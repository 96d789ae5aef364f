// What attentions report of a forward pass.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ablate/attention.h"

namespace ablate {

/// Sums of what layers report, and over how many.
class LayerMeans {
 public:
  /// Throws Error for a name or a unit that no metric may have.
  void add(const std::string& plugin, const std::vector<Measurement>& metrics);
  /// "PLUGIN/name"; nothing is left.
  std::vector<Measurement> take();

 private:
  std::map<std::string, std::pair<Measurement, int>> sums_;
};

}  // namespace ablate
