// Tensors and numbers as they were, in the host's own memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

namespace ablate {

/// No tensor, so that peak memory (device.h) is that of training, whether and when one was taken.
class Snapshot {
 public:
  /// Keeps the tensors as they are now, in place of what was kept.
  void keep(const std::vector<at::Tensor>& tensors);
  /// Puts them back into the same tensors, or such of another object made alike. Throws c10::Error where their number or a
  /// shape differs.
  void restore(const std::vector<at::Tensor>& tensors) const;
  /// New tensors of what was kept, on the CPU.
  std::vector<at::Tensor> tensors() const;

  /// What is kept, in place: as long as it is kept.
  std::vector<at::Tensor> views() const;

  bool empty() const { return kept_.empty(); }

  nlohmann::json numbers;  ///< what is no tensor

 private:
  struct Kept {
    std::shared_ptr<std::byte[]> bytes;  ///< shared by copies of a snapshot, which nobody changes
    std::vector<std::int64_t> sizes;
    at::ScalarType type;

    at::Tensor view() const;
  };

  std::vector<Kept> kept_;
};

}  // namespace ablate
