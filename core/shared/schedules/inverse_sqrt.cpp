// The Long Range Arena's rate times min(1, s/w) / sqrt(max(s, w)), up to the constant 1/sqrt(w). A study without a warm-up is
// refused (core/host/study/cross_checks): its peak would be the first step alone.
#include <cmath>

#include "core/shared/schedules.h"

namespace ablate::schedules {

Pace inverse_sqrt(const RunStep& step) { return {step.at < step.warmup ? step.rise() : std::sqrt(step.warmup / step.at)}; }

}  // namespace ablate::schedules
