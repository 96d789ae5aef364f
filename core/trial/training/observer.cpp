#include "core/trial/training/observer.h"

#include <algorithm>
#include <stdexcept>

namespace ablate {

std::vector<NamedObserver> make_observers(const Observed& observed) {
  std::vector<NamedObserver> all;
#define ABLATE_OBSERVER(file) all.push_back({#file, observers::file(observed)});
  ABLATE_OBSERVERS(ABLATE_OBSERVER)
#undef ABLATE_OBSERVER
  return all;
}

Scored training_score(const std::string& name, double value) {
  const auto metrics = training_metrics();
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const auto& one) { return one.name == name; });
  if (found == metrics.end()) throw std::logic_error("no metric " + name);
  return {*found, value};
}

}  // namespace ablate
