// A model's state as it was at one moment.
#pragma once

#include <torch/nn/module.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace ablate {

/// Parameters and buffers of a module, in the host's own memory: no tensor, so that peak memory (device.h) is that of training,
/// whether and when a checkpoint was kept.
class Checkpoint {
 public:
  /// Keeps the state as it is now, in place of an earlier one.
  void keep(const torch::nn::Module& module);
  /// Puts the state back into the module it is from. Throws c10::Error where its tensors have another shape by now.
  void restore(torch::nn::Module& module) const;

 private:
  struct Kept {
    std::unique_ptr<std::byte[]> bytes;
    std::vector<std::int64_t> sizes;
    torch::ScalarType type;

    torch::Tensor tensor() const;  ///< a view of the bytes
  };

  std::vector<Kept> kept_;
};

}  // namespace ablate
