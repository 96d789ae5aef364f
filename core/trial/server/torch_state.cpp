#include "core/trial/server/torch_state.h"

#include <c10/core/DefaultDtype.h>

namespace ablate {

TorchState::TorchState() {
  const auto& context = at::globalContext();
  switch (context.float32MatmulPrecision()) {
    case at::Float32MatmulPrecision::HIGH:
      matmul_ = "high";
      break;
    case at::Float32MatmulPrecision::MEDIUM:
      matmul_ = "medium";
      break;
    default:
      matmul_ = "highest";
  }
  onednn_ = context.userEnabledMkldnn();
  flash_ = context.userEnabledFlashSDP(), memory_efficient_ = context.userEnabledMemEfficientSDP();
  math_ = context.userEnabledMathSDP(), cudnn_attention_ = context.userEnabledCuDNNSDP();
  cudnn_tf32_ = context.allowTF32CuDNN(), cudnn_benchmark_ = context.benchmarkCuDNN();
}

void TorchState::restore() const {
  at::ThreadLocalState::setThreadLocalState(thread_);
  c10::set_default_dtype(caffe2::TypeMeta::Make<float>());
  auto& context = at::globalContext();
  context.setFloat32MatmulPrecision(matmul_);
  context.setUserEnabledMkldnn(onednn_);
  context.setSDPUseFlash(flash_);
  context.setSDPUseMemEfficient(memory_efficient_);
  context.setSDPUseMath(math_);
  context.setSDPUseCuDNN(cudnn_attention_);
  context.setAllowTF32CuDNN(cudnn_tf32_);
  context.setBenchmarkCuDNN(cudnn_benchmark_);
}

}  // namespace ablate
