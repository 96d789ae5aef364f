// The Long Range Arena's rate times min(1, s/w) / sqrt(max(s, w)), up to the constant 1/sqrt(w).
#include <cmath>

#include "core/shared/schedules.h"

namespace ablate::schedules {

Pace inverse_sqrt(const RunStep& step) { return {step.at < step.warmup ? step.rise() : std::sqrt(step.warmup / step.at)}; }

}  // namespace ablate::schedules
