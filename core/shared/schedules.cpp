#include "core/shared/schedules.h"

#include <stdexcept>

namespace ablate {

const Schedule& schedule_of(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kSchedules), std::end(kSchedules), [&](const auto& one) { return one.name == name; });
  if (found == std::end(kSchedules)) throw std::invalid_argument("no such schedule: " + name);
  return *found;
}

}  // namespace ablate
