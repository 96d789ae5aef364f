// train.device = "auto".
#pragma once

#include "core/host/study/draft.h"
#include "core/host/study/study.h"

namespace ablate {

/// Puts the kind of device that this machine has in place of "auto", in base values, the grid and rules: keys are made of a
/// kind, so that a trial that was computed on a device is no trial of another. @param kind asked at most once, and only where
/// the study says "auto"
void replace_auto_device(Draft& draft, const AutoDevice& kind);

}  // namespace ablate
