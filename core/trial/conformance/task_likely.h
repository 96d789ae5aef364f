// What many failed checks of a task may have in common (likely_cause.h).
#pragma once

#include "core/trial/conformance/task_subject.h"

namespace ablate {

/// By new instances where they load in a moment, else by the one that is loaded. What it throws is no cause.
std::string likely_cause(const TaskSubject& subject);

}  // namespace ablate
