#include "core/trial/server/warm_up.h"

#include <ATen/Parallel.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

namespace ablate {

void warm_up() {
  constexpr std::int64_t kBatch = 2, kLength = 8, kWidth = 16, kClasses = 4;
  const int threads = at::get_num_threads();
  at::set_num_threads(1);  // a team of threads would not survive a fork
  for (const auto type : {at::kFloat, at::kDouble}) {
    // Requires gradients, which are not computed: the engine for them may make threads.
    const auto weight = at::full({kWidth, kWidth}, 0.1, type).requires_grad_();
    const auto bias = at::zeros({kWidth}, type).requires_grad_();
    const auto tokens = at::arange(kBatch * kLength, at::kLong).reshape({kBatch, kLength}).remainder(kWidth);
    auto x = at::embedding(weight, tokens);  // [batch, length, width]
    x = at::layer_norm(x, {kWidth}, bias, bias);
    const auto q = at::linear(x, weight, bias);
    const auto read = at::softmax(at::matmul(q, q.transpose(-1, -2)), -1).matmul(x);
    x = at::add(x, at::linear(at::gelu(at::linear(read, weight, bias)), weight));
    const auto logits = at::linear(x.mean(1), weight.narrow(0, 0, kClasses));
    at::cross_entropy_loss(logits, at::zeros({kBatch}, at::kLong)).item();
  }
  at::set_num_threads(threads);
}

}  // namespace ablate
