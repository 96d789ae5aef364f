#include "core/shared/schedules.h"

namespace ablate::schedules {

StepRate constant(const RunStep& step) { return {step.rise()}; }

}  // namespace ablate::schedules
