#include "core/kernels/feed_forward.h"

#include "ablate/operation.h"
#include "core/kernels/dropout_noise.h"
#include "core/kernels/tiles_call.h"

namespace ablate::kernels {
namespace {

Tensor reference(const Tensor& x, const FeedForward& w) {
  const auto inner = linear(layer_norm(x, w.gamma, w.beta), w.w1, w.b1);
  const auto active = w.activation == Activation::kGelu ? gelu(inner) : inner.relu();
  return x + dropout(linear(dropout(active, w.inner_dropout), w.w2, w.b2), w.dropout);
}

const float* numbers(const Tensor& tensor) { return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr; }

Tensor noise_like(const Tensor& x, std::int64_t channels, double probability) {
  if (probability == 0) return {};
  auto sizes = x.sizes().vec();
  sizes.back() = channels;
  return dropout_noise(sizes, probability);
}

cpu::FeedForwardCall call_of(const Saved& saved, Activation activation) {
  const auto& x = saved[0];
  return {.tokens = x.numel() / x.size(-1),
          .d = static_cast<int>(x.size(-1)),
          .h = static_cast<int>(saved[3].size(0)),
          .relu = activation == Activation::kRelu,
          .gamma = numbers(saved[1]),
          .beta = numbers(saved[2]),
          .w1 = numbers(saved[3]),
          .b1 = numbers(saved[4]),
          .w2 = numbers(saved[5]),
          .b2 = numbers(saved[6]),
          .x = numbers(x),
          .inner_noise = numbers(saved[7]),
          .noise = numbers(saved[8]),
          .product = product()};
}

cpu::FeedForwardCall part_of(cpu::FeedForwardCall call, std::int64_t begin, std::int64_t end) {
  call.tokens = end - begin;
  call.x += begin * call.d;
  if (call.inner_noise != nullptr) call.inner_noise += begin * call.h;
  if (call.noise != nullptr) call.noise += begin * call.d;
  return call;
}

/// Calls `work` with each thread's number, first token, part of the call and scratch.
template <class Work>
void share_out(const cpu::FeedForwardCall& call, std::int64_t threads, const Work& work) {
  share_tiles(call.tokens, threads, cpu::feed_forward_scratch(call),
              [&](std::int64_t i, std::int64_t begin, std::int64_t end, float* scratch) {
                work(i, begin, part_of(call, begin, end), scratch);
              });
}

std::int64_t threads_for(const cpu::FeedForwardCall& call) { return parts_for_threads(tiles_of(call.tokens)); }

std::vector<Tensor> backward(const cpu::FeedForwardCall& call, const Tensor& dy, const Saved& saved) {
  const auto threads = threads_for(call);
  std::vector<Tensor> gradients{empty(saved[0].sizes(), saved[0].options().requires_grad(false))};
  for (int i = 1; i < 7; ++i) {  // one row for each thread
    auto sizes = saved[i].sizes().vec();
    sizes.insert(sizes.begin(), threads);
    gradients.push_back(empty(sizes, saved[i].options().requires_grad(false)));
  }
  const auto* of_y = dy.const_data_ptr<float>();
  auto* of_x = gradients[0].mutable_data_ptr<float>();
  share_out(call, threads, [&](std::int64_t i, std::int64_t begin, const cpu::FeedForwardCall& part, float* scratch) {
    const auto row = [&](int of) { return gradients[of].mutable_data_ptr<float>() + i * saved[of].numel(); };
    form().feed_forward_backward(part, scratch, of_y + begin * call.d, of_x + begin * call.d,
                                 {row(1), row(2), row(3), row(4), row(5), row(6)});
  });
  for (int i = 1; i < 7; ++i) gradients[i] = sum_of_threads(gradients[i]);
  return gradients;
}

Tensor fused(const Tensor& x, const FeedForward& w) {
  std::vector<Tensor> inputs{x, w.gamma, w.beta, w.w1, w.b1, w.w2, w.b2};
  return with_gradient(
      inputs,
      [&](Saved& saved) {
        for (const auto& input : inputs) saved.push_back(input.contiguous());
        saved.push_back(noise_like(x, w.w1.size(0), w.inner_dropout));
        saved.push_back(noise_like(x, w.w2.size(0), w.dropout));
        auto y = empty(x.sizes(), x.options().requires_grad(false));
        const auto call = call_of(saved, w.activation);
        auto* to = y.mutable_data_ptr<float>();
        share_out(call, threads_for(call),
                  [&](std::int64_t, std::int64_t begin, const cpu::FeedForwardCall& part, float* scratch) {
                    form().feed_forward(part, scratch, to + begin * call.d);
                  });
        return y;
      },
      [activation = w.activation](const Tensor& dy, const Saved& saved) {
        return backward(call_of(saved, activation), dy.contiguous(), saved);
      });
}

/// True if the sizes fit the form. If not, the reference runs: it accepts the sizes, or its error says what is wrong with them.
bool fits(const Tensor& x, const FeedForward& w) {
  if (x.dim() == 0 || w.w1.dim() != 2) return false;
  const auto d = x.size(-1), h = w.w1.size(0);
  return x.numel() > 0 && h > 0 && d % cpu::kLanes == 0 && h % cpu::kLanes == 0 && d * h <= kLargestWeight &&
         w.gamma.sizes().equals({d}) && w.beta.sizes().equals({d}) && w.w1.sizes().equals({h, d}) && w.b1.sizes().equals({h}) &&
         w.w2.sizes().equals({d, h}) && w.b2.sizes().equals({d});
}

}  // namespace

Tensor feed_forward(const Tensor& x, const FeedForward& weights, Choice choice) {
  if (may_fuse(choice, {x, weights.gamma, weights.beta, weights.w1, weights.b1, weights.w2, weights.b2}) && fits(x, weights))
    return fused(x, weights);
  return reference(x, weights);
}

std::int64_t cpu::feed_forward_scratch(const FeedForwardCall& call) {
  const std::int64_t d = call.d, h = call.h;
  return 3 * d * h + (2 + 2 * kTile) * h + (1 + 6 * kTile) * d;
}

}  // namespace ablate::kernels
