// Learning-rate schedules. A new schedule needs a line here and the file named in that line: core/shared/schedules/FILE.cpp.
// Torch-free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/shared/choices.h"
#include "core/shared/model_choices.h"

namespace ablate {

/// A step of a run. Steps count from 1.
struct RunStep {
  /// @param brought values of the schedule's own parameters, by name
  RunStep(std::int64_t step, std::int64_t of, std::int64_t rising, nlohmann::json brought = {})
      : at(static_cast<double>(step)),
        steps(static_cast<double>(of)),
        warmup(static_cast<double>(std::max<std::int64_t>(rising, 1))),
        own(std::move(brought)) {}

  double at, steps, warmup;  ///< warmup: at least 1
  nlohmann::json own;

  double rise() const { return std::min(1.0, at / warmup); }  ///< rises linearly from 0 to 1 over the warm-up
  /// 0 at the end of the warm-up, 1 at the last step.
  double after() const { return steps > warmup ? std::clamp((at - warmup) / (steps - warmup), 0.0, 1.0) : 0.0; }
};

/// Learning rate of a step, as a factor, and the position of values that cycle with the rate.
struct StepRate {
  double factor;     ///< of the peak learning rate, in [0, 1]
  double cycle = 0;  ///< 0: a cycling value is at its upper end; 1: at its lower end, while the rate is at its peak
};

/// Each line: a file and its function, then the fields of a Schedule.
// clang-format off
#define ABLATE_SCHEDULES(schedule)                                                                            \
  schedule(constant, .name = "constant", .help = "flat after the warm-up")                                    \
  schedule(one_cycle, .name = "one-cycle",                                                                    \
           .help = "from 1/25 up over the warm-up, then linearly to almost 0 at the last step")               \
  schedule(cosine, .name = "cosine", .help = "half a cosine down to cosine_floor",                            \
           .own = {real("cosine_floor", "0", {0, 1}, "share of the peak rate at which the cosine ends")})     \
  schedule(wsd, .name = "wsd", .help = "warm-up, stable, decay: flat, then down to 0 over the last steps",    \
           .refuse = schedules::falls_in_warmup,                                                              \
           .own = {real("cooldown", "0.2", {0, 1}, "share of all steps, at the end, when the rate falls"),    \
                   text("cooldown_shape", "\"linear\"", kCooldownShapes, "shape of the fall")})               \
  schedule(inverse_sqrt, .name = "inverse-sqrt", .help = "times sqrt(warmup / step)",                         \
           .refuse = schedules::needs_warmup)
// clang-format on

namespace schedules {
#define ABLATE_SCHEDULE(file, ...) StepRate file(const RunStep& step);
ABLATE_SCHEDULES(ABLATE_SCHEDULE)
#undef ABLATE_SCHEDULE

std::optional<Misfit> needs_warmup(const TrainSpec& train);
std::optional<Misfit> falls_in_warmup(const TrainSpec& train);
}  // namespace schedules

struct Schedule {
  StepRate (*rate)(const RunStep& step);
  const char *name, *help;
  Refuse refuse = nullptr;
  OwnParameters own = {};
};

inline constexpr Schedule kSchedules[] = {
#define ABLATE_SCHEDULE(file, ...) {.rate = schedules::file, __VA_ARGS__},
    ABLATE_SCHEDULES(ABLATE_SCHEDULE)
#undef ABLATE_SCHEDULE
};

/// Throws std::invalid_argument for an unknown name.
inline const Schedule& schedule_of(const std::string& name) { return kSchedules[index_of_choice(kSchedules, name)]; }

}  // namespace ablate
