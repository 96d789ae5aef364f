// my-method, an attention: for now a scaled dot product with a learned temperature for each head, whose softmax has its own
// kernel on a CUDA device (kernel.h). Put your idea into attend(). ablate/headwise.h and ablate/attention.h state its contract,
// and `ablate check` tests it, on the CPU and with --device cuda.
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cmath>
#include <stdexcept>

#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"
#include "ablate/operation.h"
#include "kernel.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::real("temperature", "1", {0.01, 100}, "divides the scores, at the start; learned, one for each head"),
};

#ifdef ABLATE_HAS_CUDA_SOURCES
void* stream_of(const ablate::Tensor& x) {
  return c10::impl::VirtualGuardImpl(x.device().type()).getStream(x.device()).native_handle();
}

void throw_if(const char* error) {
  if (error != nullptr) throw std::runtime_error(error);
}

/// @param scores [batch, heads, n, keys] float32, on a device
/// @param padded [batch, keys] bool, or undefined
ablate::Tensor softmax_on_device(const ablate::Tensor& scores, const ablate::Tensor& padded) {
  const auto keys = scores.size(-1), rows = keys == 0 ? 0 : scores.numel() / keys, rows_each = scores.size(1) * scores.size(2);
  const auto forward = [=](ablate::Saved& saved) {
    const auto from = scores.contiguous();
    const auto hidden = padded.defined() ? padded.contiguous() : padded;
    auto weights = ablate::zeros(from.sizes(), from.options());
    throw_if(my_method::softmax(from.const_data_ptr<float>(), hidden.defined() ? hidden.const_data_ptr<bool>() : nullptr,
                                weights.mutable_data_ptr<float>(), rows, keys, rows_each, stream_of(from)));
    saved = {weights};
    return weights;
  };
  const auto backward = [=](const ablate::Tensor& gradient, const ablate::Saved& saved) {
    const auto d_weights = gradient.contiguous();
    auto d_scores = ablate::zeros(d_weights.sizes(), d_weights.options());
    throw_if(my_method::softmax_gradient(saved[0].const_data_ptr<float>(), d_weights.const_data_ptr<float>(),
                                         d_scores.mutable_data_ptr<float>(), rows, keys, stream_of(d_weights)));
    return std::vector{d_scores};
  };
  return ablate::with_gradient({scores}, forward, backward);
}
#endif

/// Computes a softmax without the padded keys; the result is 0 if all keys are padded.
/// @param mask [batch, keys], true for a token, or undefined
ablate::Tensor softmax(const ablate::Tensor& scores, const ablate::Tensor& mask) {
  const auto padded = mask.defined() ? mask.logical_not() : mask;
#ifdef ABLATE_HAS_CUDA_SOURCES
  if (scores.is_cuda() && scores.scalar_type() == ablate::kFloat) return softmax_on_device(scores, padded);
#endif
  return ablate::masked_softmax(scores, padded.defined() ? padded.unsqueeze(1).unsqueeze(1) : padded);  // [batch, 1, 1, keys]
}

class MyMethod final : public ablate::HeadwiseAttention {
 public:
  explicit MyMethod(const ablate::AttentionContext& context)
      : ablate::HeadwiseAttention(context, context.parameters.integer("heads")) {
    const double start = std::log(context.parameters.real("temperature"));
    log_temperature_ = register_parameter("log_temperature", ablate::full({heads(), 1, 1}, start));
  }

 private:
  /// input.q [batch, heads, n, d_head], k and v [batch, heads, keys, d_head], mask [batch, keys], true for a token, undefined
  /// without padding. `input` also has the layer's input and the state that is carried from segment to segment.
  ablate::HeadOutput attend(const ablate::HeadInput& input) override {
    const auto scale = log_temperature_.exp() * std::sqrt(static_cast<double>(d_head()));
    const auto scores = input.q.matmul(input.k.transpose(-1, -2)) / scale;  // [batch, heads, n, keys]
    return {.values = softmax(scores, input.mask).matmul(input.v)};
  }

  ablate::Tensor log_temperature_;
};

}  // namespace

ABLATE_ATTENTION(MyMethod, {.id = "my-method",
                            .version = "0.1.0",
                            .summary = "scaled dot product with a learned temperature",
                            .paper = "",
                            .capabilities = {.key_padding = true,      // promises: each is checked. The host never
                                             .cross_attention = true,  // uses an ability without a promise.
                                             .rotary = true,
                                             .time_exponent = 2,
                                             .memory_exponent = 2},
                            .parameters = parameters})
