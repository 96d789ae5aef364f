// Learning-rate schedules. A new one is a line here and the file that it names: core/shared/schedules/FILE.cpp. Torch-free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace ablate {

/// A step of a run. Steps count from 1.
struct RunStep {
  RunStep(std::int64_t step, std::int64_t of, std::int64_t rising)
      : at(static_cast<double>(step)),
        steps(static_cast<double>(of)),
        warmup(static_cast<double>(std::max<std::int64_t>(rising, 1))) {}

  double at, steps, warmup;  ///< warmup: at least 1

  double rise() const { return std::min(1.0, at / warmup); }  ///< linearly from 0 to 1 over the warm-up
  /// 0 at the end of the warm-up, 1 at the last step.
  double after() const { return steps > warmup ? std::clamp((at - warmup) / (steps - warmup), 0.0, 1.0) : 0.0; }
};

/// File and function; what a study writes; what it is.
#define ABLATE_SCHEDULES(schedule)                                                                                  \
  schedule(constant, "constant", "flat after the warm-up")                                                          \
      schedule(one_cycle, "one-cycle", "from 1/25 up over the warm-up, then linearly to almost 0 at the last step") \
          schedule(cosine, "cosine", "half a cosine to 0") schedule(inverse_sqrt, "inverse-sqrt", "times sqrt(warmup / step)")

namespace schedules {
#define ABLATE_SCHEDULE(file, ...) double file(const RunStep& step);
ABLATE_SCHEDULES(ABLATE_SCHEDULE)
#undef ABLATE_SCHEDULE
}  // namespace schedules

struct Schedule {
  /// The factor on the peak learning rate, in [0, 1].
  double (*factor)(const RunStep& step);
  const char *name, *help;
};

inline constexpr Schedule kSchedules[] = {
#define ABLATE_SCHEDULE(file, ...) {schedules::file, __VA_ARGS__},
    ABLATE_SCHEDULES(ABLATE_SCHEDULE)
#undef ABLATE_SCHEDULE
};

/// Throws std::invalid_argument for a name that is none of them.
const Schedule& schedule_of(const std::string& name);

}  // namespace ablate
