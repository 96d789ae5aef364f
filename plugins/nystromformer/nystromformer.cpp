// Nystromformer (Xiong et al. 2021): softmax attention through landmarks, F A^+ B, with an iterated pseudo-inverse, plus a
// depthwise convolution of the values.
#include <ATen/ops/eye.h>

#include <cmath>
#include <optional>

#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"
#include "ablate/segments.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("landmarks", "64", {1, 4096}, "m: means of segments; m means of queries and m means of keys", "landmarks"),
    ablate::integer("iterations", "6", {1, 100}, "steps of the pseudo-inverse"),
    ablate::integer("kernel", "33", {0, 1023}, "tokens of the convolution of values beside the attention, odd; 0: none",
                    "tokens"),
};

class Nystromformer final : public ablate::HeadwiseAttention {
 public:
  explicit Nystromformer(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        landmarks_(std::min(context.parameters.integer("landmarks"), context.max_length)),
        iterations_(context.parameters.integer("iterations")) {
    const auto kernel = context.parameters.integer("kernel");
    if (kernel == 0) return;
    if (kernel % 2 == 0)
      throw std::invalid_argument("kernel = " + std::to_string(kernel) + " is even, expected odd: the token is in the middle");
    const double bound = 1 / std::sqrt(static_cast<double>(kernel));
    kernel_ = register_parameter("kernel", ablate::empty({heads(), kernel}).uniform_(-bound, bound, context.generator));
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("nystromformer: queries and context have to be one sequence");
    const auto type = input.q.scalar_type();
    const auto q = ablate::widened(input.q) * (1 / std::sqrt(static_cast<double>(d_head()))), k = ablate::widened(input.k),
               v = ablate::widened(input.v);
    // Landmarks are means of present tokens, in order. Holes are skipped.
    const auto order = input.mask.defined() ? input.mask.logical_not().to(ablate::kLong).argsort(true, 1) : Tensor();
    const auto segments = segments_of(input, order);
    const auto query_means = means(closed_up(q, order), segments), key_means = means(closed_up(k, order), segments);
    // [batch or 1, 1, m]: true for segments without a token, in items with fewer tokens than landmarks.
    const auto absent = segments ? segments->tokens() == 0 : Tensor();
    const auto transposed = key_means.transpose(-1, -2);
    const auto gone_landmark = absent.defined() ? absent.unsqueeze(-2) : Tensor();
    const auto gone_key = input.mask.defined() ? input.mask.logical_not().unsqueeze(1).unsqueeze(1) : Tensor();
    auto kernel = ablate::masked_softmax(query_means.matmul(transposed), gone_landmark);
    if (absent.defined()) kernel = kernel.masked_fill(absent.unsqueeze(-1), 0);
    // [batch, heads, m, d]: the reads of the landmarks, by torch's fused kernel.
    const auto seen = gone_key.defined() ? gone_key.logical_not().logical_or(gone_key.all(-1, true)) : Tensor();
    const auto read = ablate::scaled_dot_product_attention(query_means, k, v, seen, false, 1.0);
    auto values = ablate::masked_softmax(q.matmul(transposed), gone_landmark).matmul(inverse(kernel).matmul(read));
    if (kernel_.defined()) values = values + convolved(v);
    return {.values = values.to(type)};
  }

  /// Returns nullopt if all segments have n / m tokens. `order` has present tokens first.
  std::optional<ablate::Segments> segments_of(const HeadInput& input, const Tensor& order) const {
    const auto n = input.q.size(2);
    if (!order.defined() && n % landmarks_ == 0) return std::nullopt;
    return ablate::Segments({.fixed = landmarks_}, n, order.defined() ? input.mask.gather(1, order) : Tensor(),
                            input.q.options());
  }

  /// Moves the present tokens of x [batch, heads, n, d] to the front.
  /// @param order [batch, n]; undefined: unchanged
  static Tensor closed_up(const Tensor& x, const Tensor& order) {
    return order.defined() ? x.gather(2, order.unsqueeze(1).unsqueeze(-1).expand_as(x)) : x;
  }

  /// Means over an item's own tokens: [batch, heads, m, d].
  Tensor means(const Tensor& x, const std::optional<ablate::Segments>& segments) const {
    if (!segments) return x.unflatten(2, {landmarks_, -1}).mean(3);
    return segments->of(x).sum(3) / segments->tokens().clamp_min(1).unsqueeze(-1);
  }

  /// Returns A^+ of each matrix, by iterating Z <- Z (13 I - A Z (15 I - A Z (7 I - A Z))) / 4 (section 3.1). Rows and columns
  /// of 0, which belong to absent landmarks, stay 0.
  Tensor inverse(const Tensor& a) const {
    const auto scale = a.sum(-2, true).amax(-1, true) * a.sum(-1, true).amax(-2, true);
    auto z = a.transpose(-1, -2) / scale.masked_fill(scale == 0, 1);
    const auto eye = at::eye(landmarks_, a.options().requires_grad(false));
    for (std::int64_t i = 0; i < iterations_; ++i) {
      const auto az = a.matmul(z);
      z = z.matmul(13 * eye - az.matmul(15 * eye - az.matmul(7 * eye - az))) * 0.25;
    }
    return z;
  }

  /// Convolves the sequence with one kernel per head, shared by its channels; padded values are 0. Multiplies blocks of tokens
  /// and their surroundings by the band matrix of the kernel, because at::conv2d writes out of bounds if the kernel is longer
  /// than the sequence (torch 2.11, float64, one head).
  Tensor convolved(const Tensor& v) const {
    const auto n = v.size(2), size = kernel_.size(1), width = kBlock + size - 1;
    const auto missing = (kBlock - n % kBlock) % kBlock;
    const auto blocks = ablate::pad(v, {0, 0, size / 2, size / 2 + missing}).unfold(2, width, kBlock);  // [..., d, width]
    // Rows of width + 1 are read as rows of width, so each row begins one position further right.
    const auto row = ablate::pad(kernel_.to(v.scalar_type()), {0, kBlock}).unsqueeze(1).expand({-1, kBlock, -1});
    const auto band = row.flatten(1).narrow(1, 0, kBlock * width).view({heads(), 1, kBlock, width});
    return band.matmul(blocks.transpose(-1, -2)).flatten(2, 3).narrow(2, 0, n);
  }

  static constexpr std::int64_t kBlock = 64;
  std::int64_t landmarks_;  ///< at most max_length, so that every landmark can have a token
  std::int64_t iterations_;
  Tensor kernel_;  ///< [heads, kernel], or undefined
};

}  // namespace

ABLATE_ATTENTION(Nystromformer,
                 {.id = "nystromformer",
                  .version = "1.0.0",
                  .summary = "softmax attention through landmarks and an iterated pseudo-inverse, in linear time",
                  .paper = "Xiong et al. 2021, arXiv 2102.03902, Eq. 13 to 15 and section 3",
                  .capabilities = {.key_padding = true, .holes = true, .half_precision = true},
                  .parameters = parameters})
