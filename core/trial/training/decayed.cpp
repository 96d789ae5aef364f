#include "core/trial/training/decayed.h"

#include <algorithm>

namespace ablate {

std::vector<Module::Entry> decayed(std::vector<Module::Entry> parameters, const std::vector<Tensor>& embeddings,
                                   const std::string& which) {
  if (which == "all") return parameters;
  for (auto& [name, tensor, kept] : parameters) {
    const auto& parameter = tensor;
    const bool embeds =
        std::any_of(embeddings.begin(), embeddings.end(), [&](const auto& one) { return one.is_same(parameter); });
    if (embeds || parameter.dim() < 2 || name.ends_with("bias")) kept.decay = false;
  }
  return parameters;
}

}  // namespace ablate
