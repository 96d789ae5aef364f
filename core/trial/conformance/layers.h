// The layers that make values and outputs in an attention, found by what they do: no check depends on their names.
#pragma once

#include <string>
#include <vector>

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

/// Linear layer among the parameters of an instance: PREFIX.weight, and PREFIX.bias unless it has none.
struct Layer {
  std::string prefix;
  Tensor weight;  ///< [out, in]
  Tensor bias;    ///< undefined if there is none

  bool is_square() const { return weight.size(0) == weight.size(1); }
  bool owns(const Tensor& parameter) const { return parameter.is_same(weight) || parameter.is_same(bias); }
};

struct Layers {
  std::vector<Layer> outputs;  ///< outputs are linear in the weight; a row moves the output channel of its own alone
  std::vector<Layer> values;   ///< the same, once the outputs' weights are the identity, of all heads that share the row

  /// The same layers of another instance.
  Layers of(const Instance& other) const;
};

/// Finds the layers by passes over `n` tokens; every parameter is put back. Queries and keys are told apart by the channels
/// that they reach, even if outputs are linear in them.
Layers layers_of(const Instance& instance, std::int64_t n);

/// The identity; repeated below itself, or cut, if it has another shape.
void set_identity(const Tensor& weight);

}  // namespace ablate::conformance
