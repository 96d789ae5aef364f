#include "core/shared/schedules.h"

namespace ablate::schedules {

double constant(const RunStep& step) { return step.rise(); }

}  // namespace ablate::schedules
