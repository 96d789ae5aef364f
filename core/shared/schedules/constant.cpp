#include "core/shared/schedules.h"

namespace ablate {
namespace {

Pace constant_pace(const RunStep& step) { return {step.rise()}; }

}  // namespace

const Schedule schedules::constant{"constant", "flat after the warm-up", false, constant_pace};

}  // namespace ablate
