#include "core/shared/schedules.h"

namespace ablate::schedules {

Pace constant(const RunStep& step) { return {step.rise()}; }

}  // namespace ablate::schedules
