#include "core/trial/training/snapshot.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>

namespace ablate {

at::Tensor Snapshot::Kept::view() const { return at::from_blob(bytes.get(), sizes, at::TensorOptions().dtype(type)); }

void Snapshot::keep(const std::vector<at::Tensor>& tensors) {
  const c10::NoGradGuard no_grad;
  kept_.clear();
  for (const auto& tensor : tensors) {
    kept_.push_back({std::shared_ptr<std::byte[]>(new std::byte[tensor.nbytes()]), tensor.sizes().vec(), tensor.scalar_type()});
    kept_.back().view().copy_(tensor);
  }
}

void Snapshot::restore(const std::vector<at::Tensor>& tensors) const {
  const c10::NoGradGuard no_grad;
  TORCH_CHECK(tensors.size() == kept_.size(), "there are ", tensors.size(), " tensors, and were ", kept_.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto kept = kept_[i].view();
    TORCH_CHECK(tensors[i].sizes() == kept.sizes(), "a tensor is ", tensors[i].sizes(), ", and was ", kept.sizes());
    tensors[i].copy_(kept);
  }
}

std::vector<at::Tensor> Snapshot::tensors() const {
  std::vector<at::Tensor> all;
  for (const auto& kept : kept_) all.push_back(kept.view().clone());
  return all;
}

std::vector<at::Tensor> Snapshot::views() const {
  std::vector<at::Tensor> all;
  for (const auto& kept : kept_) all.push_back(kept.view());
  return all;
}

}  // namespace ablate
