// Layers of the host's model.
#pragma once

#include "ablate/linear.h"

namespace ablate {

inline constexpr double kEmbeddingDeviation = 0.02;

/// (x - mean) / deviation over the channels, times a weight, plus a bias (Ba et al. 2016).
class LayerNorm final : public Module {
 public:
  explicit LayerNorm(std::int64_t channels)
      : weight_(register_parameter("weight", ones({channels}))), bias_(register_parameter("bias", zeros({channels}))) {}
  Tensor forward(const Tensor& x) const { return layer_norm(x, weight_, bias_); }

 private:
  Tensor weight_, bias_;
};

/// A row for each id, normal with deviation 0.02.
class Table final : public Module {
 public:
  Table(std::int64_t rows, std::int64_t channels, const Generator& generator)
      : weight(register_parameter("weight", empty({rows, channels}).normal_(0, kEmbeddingDeviation, generator))) {}

  Tensor weight;  ///< [rows, channels]
};

}  // namespace ablate
