// The type that a study's `train.dtype` names.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>

#include "core/shared/dtypes.h"

namespace ablate {

/// Throws std::invalid_argument for a name that is none of kDtypes.
inline c10::ScalarType scalar_type_of(const std::string& dtype) {
  constexpr c10::ScalarType kAll[] = {
#define ABLATE_DTYPE(type, ...) c10::ScalarType::type,
      ABLATE_DTYPES(ABLATE_DTYPE)
#undef ABLATE_DTYPE
  };
  return kAll[place_of_choice(kDtypes, dtype)];
}

}  // namespace ablate
