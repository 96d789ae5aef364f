// Which weights take weight decay: what `train.decayed` names.
#pragma once

#include <string>
#include <vector>

#include "ablate/module.h"

namespace ablate {

/// A model's parameters for an optimiser. "all": each as its module registered it. "matrices": without decay are also those of
/// less than two dimensions (norms, biases), what is named a bias ("content_bias"), and the embeddings: a tied output has the
/// table of one. Tables that a plugin keeps decay, unless it says otherwise (Kept).
/// @param embeddings among the parameters: Model::embeddings
std::vector<Module::Entry> decayed(std::vector<Module::Entry> parameters, const std::vector<Tensor>& embeddings,
                                   const std::string& which);

}  // namespace ablate
