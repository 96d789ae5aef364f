// Poolings, named by the option `pooling`: functions that turn a sequence into one vector.
#pragma once

#include <nlohmann/json.hpp>

#include "ablate/tensor.h"
#include "core/shared/poolings.h"

namespace ablate {

/// @param x [rows, positions, channels]
/// @param mask [rows, positions] bool, true = not padding; undefined: no padding
/// @param own values of the pooling's own parameters, by name
/// @return [rows, channels]
using Pool = Tensor (*)(const Tensor& x, const Tensor& mask, const nlohmann::json& own);

/// Each pooling's function, in its own file.
namespace poolings {
#define ABLATE_POOLING(file, ...) Tensor file(const Tensor& x, const Tensor& mask, const nlohmann::json& own);
ABLATE_POOLINGS(ABLATE_POOLING)
#undef ABLATE_POOLING
inline constexpr Pool kFiles[] = {ABLATE_POOLINGS(ABLATE_FILE_OF)};
}  // namespace poolings

/// @param pooling one of kPoolings
inline Pool pool_of(const PoolingInfo* pooling) { return poolings::kFiles[pooling - kPoolings]; }

}  // namespace ablate
