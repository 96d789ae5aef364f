// Layers that make values and outputs in an attention, found by their effect. No check depends on their names.
#pragma once

#include <vector>

#include "core/trial/conformance/attention/subject.h"

namespace ablate::conformance {

/// Linear layer y = weight x + bias among the parameters of an instance. Writing into its tensors changes the instance.
struct Layer {
  Tensor weight;        ///< [out, in]: a parameter, its transpose, or some of its rows
  Tensor bias;          ///< [out]; undefined if there is none
  bool turned = false;  ///< the parameter is [in, out]

  /// True if the layer is a part of this parameter.
  bool owns(const Tensor& parameter) const {
    return weight.is_alias_of(parameter) || (bias.defined() && bias.is_alias_of(parameter));
  }
};

struct Layers {
  std::vector<Layer> outputs;  ///< outputs are linear in the weight, and a row changes only its own output channel
  std::vector<Layer> values;   ///< found while the outputs' weights are the identity; a row changes one channel of each head
  /// Layers on which all values depend: if their weights are 0, outputs depend on no token. Equal to `values`, or one layer
  /// whose numbers pass through other layers before attention reads them. Empty if no such layers are found.
  std::vector<Layer> makers;

  /// True if one layer makes all values and one layer reads them.
  bool are_one() const {
    return outputs.size() == 1 && values.size() == 1 && !makers.empty() &&
           makers.front().weight.is_same(values.front().weight) &&
           outputs.front().weight.size(1) == values.front().weight.size(0);
  }
};

/// Finds the layers by passes over `n` tokens, and restores every parameter. Leaves out layers of queries and keys, which reach
/// other channels, even if outputs are linear in these layers. A layer may be some rows of a parameter whose other rows make
/// queries and keys.
Layers layers_of(const Instance& instance, std::int64_t n);

/// Makes a layer give the same numbers for all tokens. Without a bias, only tokens with equal channel 0 get equal numbers.
void set_alike(const Layer& layer);
/// Returns a copy in which channel 0 of every token is `value`.
/// @param tokens [batch, n, channels]
Tensor first_set(const Tensor& tokens, double value);

}  // namespace ablate::conformance
