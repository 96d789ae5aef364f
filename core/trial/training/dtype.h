// The type that a study's `train.dtype` names.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>

#include "core/shared/choices.h"
#include "core/shared/dtypes.h"
#include "core/util/error.h"

namespace ablate {

/// Throws Error for a name that is none of kDtypes.
inline c10::ScalarType scalar_type_of(const std::string& dtype) {
#define ABLATE_DTYPE(type, name) \
  if (dtype == name) return c10::ScalarType::type;
  ABLATE_DTYPES(ABLATE_DTYPE)
#undef ABLATE_DTYPE
  throw Error("train.dtype is \"" + dtype + "\", expected one of " + choices_of(kDtypes));
}

}  // namespace ablate
