#include "core/trial/training/checkpoint.h"

#include <ATen/ATen.h>

namespace ablate {
namespace {

std::vector<torch::Tensor> state(const torch::nn::Module& module) {
  auto tensors = module.parameters();
  for (const auto& buffer : module.buffers()) tensors.push_back(buffer);
  return tensors;
}

}  // namespace

torch::Tensor Checkpoint::Kept::tensor() const { return at::from_blob(bytes.get(), sizes, at::TensorOptions().dtype(type)); }

void Checkpoint::keep(const torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  kept_.clear();
  for (const auto& tensor : state(module)) {
    kept_.push_back({std::make_unique<std::byte[]>(tensor.nbytes()), tensor.sizes().vec(), tensor.scalar_type()});
    kept_.back().tensor().copy_(tensor);
  }
}

void Checkpoint::restore(torch::nn::Module& module) const {
  const torch::NoGradGuard no_grad;
  auto tensors = state(module);
  TORCH_CHECK(tensors.size() == kept_.size(), "the model has ", tensors.size(), " tensors, and its checkpoint ", kept_.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto kept = kept_[i].tensor();
    TORCH_CHECK(tensors[i].sizes() == kept.sizes(), "a tensor of the model is ", tensors[i].sizes(), ", and was ",
                kept.sizes());
    tensors[i].copy_(kept);
  }
}

}  // namespace ablate
