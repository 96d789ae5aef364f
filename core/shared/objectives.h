// What a task's objective asks for beside its head, its loss and its scores. A new one is its enumerator (ablate/task.h), a
// line here, and the file that it names: core/trial/objectives/FILE.cpp. Torch-free.
#pragma once

#include "ablate/task.h"

namespace ablate {

struct Asks {
  bool each = false;     ///< a target for each position, -1 where none is asked; else one for an example, which has it
  bool pooled = false;   ///< of a sequence as a whole: pooling and class token mean something
  bool pairs = false;    ///< of two sequences, too
  bool streams = false;  ///< of segments of a stream, too
  bool in_place() const { return each && !pooled; }  ///< the model sees what stands at the target's position
};

/// Enumerator, file and function, what it asks.
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
  return {};  // a number that no task of this SDK can write
}

}  // namespace ablate
