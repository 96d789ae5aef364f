// Properties of a task's objective besides head, loss and scores. A new objective needs its enumerator (ablate/task.h), a
// line here, and the file named in that line: core/trial/objectives/FILE.cpp. Torch-free.
#pragma once

#include "ablate/task.h"

namespace ablate {

struct Asks {
  bool each = false;     ///< true: a target for each position, -1 for none; false: one target for each example
  bool pooled = false;   ///< the head reads one vector of the sequence: pooling and class token apply
  bool pairs = false;    ///< works also with two sequences
  bool streams = false;  ///< works also with segments of a stream
  bool in_place() const { return each && !pooled; }  ///< the model sees the token at the target's position
};

/// Each line: an enumerator, a file and its function, then the properties.
#define ABLATE_OBJECTIVES(objective)                                             \
  objective(kClass, class_objective, {.pooled = true, .pairs = true})            \
      objective(kPositions, position_objective, {.each = true, .streams = true}) \
          objective(kDecoded, decoded_objective, {.each = true, .pooled = true})

constexpr Asks asks_of(Objective objective) {
  switch (objective) {
#define ABLATE_OBJECTIVE(enumerator, file, ...) \
  case Objective::enumerator:                   \
    return __VA_ARGS__;
    ABLATE_OBJECTIVES(ABLATE_OBJECTIVE)
#undef ABLATE_OBJECTIVE
  }
  return {};  // a number that no task of this SDK can have
}

}  // namespace ablate
