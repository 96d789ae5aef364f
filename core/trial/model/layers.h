// Layers of the host's model.
#pragma once

#include "ablate/linear.h"

namespace ablate {

inline constexpr double kEmbeddingDeviation = 0.02;

/// Table with a row for each id, drawn from a normal distribution with deviation 0.02.
class Table final : public Module {
 public:
  Table(std::int64_t rows, std::int64_t channels, const Generator& generator)
      : weight(register_parameter("weight", empty({rows, channels}).normal_(0, kEmbeddingDeviation, generator))) {}

  Tensor weight;  ///< [rows, channels]
};

}  // namespace ablate
