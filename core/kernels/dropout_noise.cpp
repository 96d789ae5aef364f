#include "core/kernels/dropout_noise.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/dropout.h>

#include <mutex>

#include "core/kernels/choice.h"

namespace ablate::kernels {
namespace {

std::uint64_t drawn() {
  const auto generator = at::detail::getDefaultCPUGenerator();
  auto* numbers = at::check_generator<at::CPUGeneratorImpl>(generator);
  const std::scoped_lock lock(numbers->mutex_);
  return numbers->random64();
}

}  // namespace

Tensor dropout_noise(IntArrayRef sizes, double probability) {
  constexpr double kRange = 2147483648;  // 2^31
  const auto threshold = static_cast<std::int32_t>(probability * kRange + 0.5);
  auto noise = empty(sizes, TensorOptions().dtype(kFloat));
  form().noise(drawn(), threshold, static_cast<float>(kRange / (kRange - threshold)), noise.numel(),
               noise.mutable_data_ptr<float>());
  return noise;
}

Tensor dropout(const Tensor& x, double probability) {
  if (probability == 0) return x;
  if (!x.device().is_cpu()) return at::dropout(x, probability, true);
  return x * dropout_noise(x.sizes(), probability).to(x.scalar_type());
}

}  // namespace ablate::kernels
