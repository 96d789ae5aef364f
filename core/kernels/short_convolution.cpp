#include "core/kernels/short_convolution.h"

#include "ablate/operation.h"
#include "core/kernels/choice.h"
#include "core/kernels/cpu/short_convolution.h"
#include "core/kernels/heads_call.h"

namespace ablate::kernels {
namespace {

struct ConvolutionSaved {
  enum : std::size_t { kX, kFilter, kBias, kBefore };  ///< kX, kBefore: with one head; kFilter: [tokens, channels]
};

cpu::ShortConvolutionCall convolution_call(const Saved& saved) {
  using S = ConvolutionSaved;
  const auto &x = saved[S::kX], &filter = saved[S::kFilter], &bias = saved[S::kBias], &before = saved[S::kBefore];
  return {.batch = x.size(0),
          .tokens = x.size(2),
          .channels = static_cast<int>(x.size(3)),
          .length = static_cast<int>(filter.size(0)),
          .x = read_heads(x),
          .before = before.defined() ? read_heads(before) : cpu::Heads<const float>(),
          .filter = filter.const_data_ptr<float>(),
          .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr};
}

/// Calls `work` for each thread with the thread's first sequence, its part of the call, and scratch.
template <class Work>
void share_convolution(const cpu::ShortConvolutionCall& call, const Work& work) {
  share_sequences(call.batch, cpu::short_convolution_scratch(call), [&](std::int64_t begin, std::int64_t end, float* scratch) {
    auto part = call;
    part.batch = end - begin;
    part.x = from_sequence(part.x, begin), part.before = from_sequence(part.before, begin);
    work(begin, part, scratch);
  });
}

Tensor forward_of_convolution(const Saved& saved) {
  const auto& x = saved[ConvolutionSaved::kX];
  auto y = empty({x.size(0), x.size(2), x.size(3)}, x.options().requires_grad(false));
  const auto to = write_heads(y.unsqueeze(1));
  share_convolution(convolution_call(saved), [&](std::int64_t begin, const cpu::ShortConvolutionCall& part, float* scratch) {
    form().short_convolution(part, scratch, from_sequence(to, begin));
  });
  return y;
}

std::vector<Tensor> backward_of_convolution(const Tensor& gradient, const Saved& saved) {
  const auto call = convolution_call(saved);
  const auto& x = saved[ConvolutionSaved::kX];
  const auto& before = saved[ConvolutionSaved::kBefore];
  const auto options = x.options().requires_grad(false);
  const auto d_out = with_rows(gradient.unsqueeze(1));
  auto dx = empty(x.sizes(), options), d_before = before.defined() ? empty(before.sizes(), options) : Tensor(),
       d_weights = empty({call.batch, call.length + 1, call.channels}, options);
  const cpu::Heads<float> to_x = write_heads(dx), to_before = write_heads(d_before);
  auto* const to_weights = d_weights.mutable_data_ptr<float>();
  const auto weights = (call.length + 1) * static_cast<std::int64_t>(call.channels);
  share_convolution(call, [&](std::int64_t begin, const cpu::ShortConvolutionCall& part, float* scratch) {
    form().short_convolution_backward(
        part, scratch, from_sequence(read_heads(d_out), begin),
        {from_sequence(to_x, begin), from_sequence(to_before, begin), to_weights + begin * weights});
  });
  // Summed by sequence, so that no bit depends on the number of threads.
  const auto sums = d_weights.sum(0);
  return {dx.squeeze(1), sums.narrow(0, 0, call.length).t().contiguous(),
          call.bias != nullptr ? sums.select(0, call.length).contiguous() : Tensor(),
          d_before.defined() ? d_before.squeeze(1) : Tensor()};
}

/// True if the sizes fit the form. If not, the reference runs: it accepts the sizes, or its error says what is wrong with them.
bool convolution_fits(const ShortConvolution& of) {
  if (of.x.dim() != 3 || of.filter.dim() != 2 || of.x.numel() == 0) return false;
  const auto batch = of.x.size(0), channels = of.x.size(2), length = of.filter.size(1);
  if (channels % cpu::kLanes != 0 || length < 1 || length > cpu::kLongestFilter || of.filter.size(0) != channels) return false;
  if (of.bias.defined() && !of.bias.sizes().equals({channels})) return false;
  return !of.before.defined() || of.before.sizes().equals({batch, length - 1, channels});
}

}  // namespace

bool may_fuse_short_convolution(const ShortConvolution& of) {
  std::vector<Tensor> tensors{of.x, of.filter};
  for (const auto* tensor : {&of.bias, &of.before})
    if (tensor->defined()) tensors.push_back(*tensor);
  return may_fuse(Choice::kFused, tensors) && convolution_fits(of);
}

Tensor fused_short_convolution(const ShortConvolution& of) {
  return with_gradient(
      {of.x, of.filter, of.bias, of.before},
      [&](Saved& saved) {
        const auto as_head = [](const Tensor& x) { return x.defined() ? with_rows(x.unsqueeze(1)) : Tensor(); };
        saved = {as_head(of.x), of.filter.t().contiguous(), of.bias.defined() ? of.bias.contiguous() : Tensor(),
                 as_head(of.before)};
        return forward_of_convolution(saved);
      },
      backward_of_convolution);
}

std::int64_t cpu::short_convolution_scratch(const ShortConvolutionCall& call) {
  return (2 * call.length + 2) * static_cast<std::int64_t>(call.channels);
}

}  // namespace ablate::kernels
