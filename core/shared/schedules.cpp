#include "core/shared/schedules.h"

#include <stdexcept>

namespace ablate {

const std::vector<Schedule>& all_schedules() {
  static const std::vector<Schedule> all = {
#define ABLATE_SCHEDULE(file) schedules::file,
      ABLATE_SCHEDULES(ABLATE_SCHEDULE)
#undef ABLATE_SCHEDULE
  };
  return all;
}

const Schedule& schedule_of(const std::string& name) {
  const auto& all = all_schedules();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  if (found == all.end()) throw std::invalid_argument("no such schedule: " + name);
  return *found;
}

}  // namespace ablate
