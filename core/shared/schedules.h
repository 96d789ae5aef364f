// Learning-rate schedules. A new one is a line here and the file that it names: core/shared/schedules/FILE.cpp, which says what
// a study writes, and which parameters of [train] are the schedule's own. Torch-free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "ablate/parameter.h"

namespace ablate {

/// Of a schedule without parameters of its own.
inline const nlohmann::json kNoValues = nlohmann::json::object();

/// A step of a run. Steps count from 1.
struct RunStep {
  /// @param given values of the schedule's own parameters, by name; outlives the step
  RunStep(std::int64_t step, std::int64_t of, std::int64_t rising, const nlohmann::json& given = kNoValues)
      : at(static_cast<double>(step)),
        steps(static_cast<double>(of)),
        warmup(static_cast<double>(std::max<std::int64_t>(rising, 1))),
        own(given) {}

  double at, steps, warmup;  ///< warmup: at least 1
  const nlohmann::json& own;

  double rise() const { return std::min(1.0, at / warmup); }  ///< linearly from 0 to 1 over the warm-up
  /// 0 at the end of the warm-up, 1 at the last step.
  double after() const { return steps > warmup ? std::clamp((at - warmup) / (steps - warmup), 0.0, 1.0) : 0.0; }
};

/// What a step trains with.
struct Pace {
  double rate;       ///< factor on the peak learning rate, in [0, 1]
  double cycle = 0;  ///< in [0, 1]: how far beta1 has gone from the end of its range to the other
};

/// The file of each, in the order of the help.
// clang-format off
#define ABLATE_SCHEDULES(schedule) \
  schedule(constant)               \
  schedule(one_cycle)              \
  schedule(cosine)                 \
  schedule(inverse_sqrt)
// clang-format on

struct Schedule {
  const char *name, *help;  ///< what a study writes; what it is
  bool cycles;              ///< train.beta1_low means something
  Pace (*pace)(const RunStep& step);
  std::span<const Parameter> parameters = {};  ///< of its own, as train.NAME: read with this schedule alone
};

namespace schedules {
#define ABLATE_SCHEDULE(file) extern const Schedule file;
ABLATE_SCHEDULES(ABLATE_SCHEDULE)
#undef ABLATE_SCHEDULE
}  // namespace schedules

const std::vector<Schedule>& all_schedules();

/// Throws std::invalid_argument for a name that is none of them.
const Schedule& schedule_of(const std::string& name);

}  // namespace ablate
