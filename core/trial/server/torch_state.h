// torch's settings for the whole process and for a thread, which a library may change while it is loaded.
#pragma once

#include <ATen/Context.h>
#include <ATen/ThreadLocalState.h>

namespace ablate {

/// The settings as they were when this was made: each of them changes bits of results, or makes every trial fail. On the thread
/// that made it.
class TorchState {
 public:
  TorchState();
  void restore() const;

 private:
  at::ThreadLocalState thread_;  ///< gradients, inference mode, autocast, dispatch
  const char* matmul_;           ///< as setFloat32MatmulPrecision takes it
  bool onednn_, flash_, memory_efficient_, math_, cudnn_attention_, cudnn_tf32_, cudnn_benchmark_;
};

}  // namespace ablate
