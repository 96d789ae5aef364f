// A continuous memory (infinity-former, Martins et al. 2021): slot j is a Gaussian basis function's coefficient, and a query
// reads the expectation of the signal under a Gaussian of its own over [0, 1].
//
// Otherwise than in the published code (deep-spin/infinite-former):
// - Basis functions have height 1, centres in the middle of N equal cells and one width that follows N (there: unit area,
//   centres from 0 to 1 inclusive, half of them .005 and half .01 wide): so the ridge of 0.001 is not to be compared with its
//   0.5.
// - The signal is fitted on [0, 1] alone (there with zeros around it).
// - A query's Gaussian is truncated to [0, 1] and renormalised (there the mass outside is lost); its variance is at least
//   1e-6 (there 1e-4); its mean and variance have biases. No KL term holds the variance down: softplus starts it near 0.7, so
//   that at first every query reads about the mean of all.
// - What is compressed is what the attention hands in, keys and values already projected as a rule, and gradients reach it
//   (there layer inputs of the past, without gradients).
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "ablate/compression.h"
#include "ablate/padding.h"
#include "basis.h"
#include "expected_read.h"

namespace {

using ablate::existing_slots;
using ablate::Memory;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::real("width", "1.0", {0.25, 2}, "standard deviation of a basis function (published: .005 and .01 of the sequence)",
                 "centre spacings"),
    ablate::real("ridge", "0.001", {1e-9, 100},
                 "lambda of the ridge regression; larger is smoother (published: 0.5, for functions of unit area)"),
};

constexpr double kVarianceFloor = 1e-6;           // of a query's Gaussian on [0, 1]
constexpr std::int64_t kCachedNumbers = 1 << 24;  // of regression matrices, one a length

class RadialBasis final : public ablate::Compression {
 public:
  explicit RadialBasis(const ablate::CompressionContext& context)
      : Compression(context), width_(context.parameters.real("width")), ridge_(context.parameters.real("ridge")) {
    const auto count = slots().of(context.max_length);
    const double bound = 1 / std::sqrt(static_cast<double>(count));
    const auto uniform = [&](ablate::IntArrayRef shape) {
      return ablate::empty(shape).uniform_(-bound, bound, context.generator);
    };
    weight_ = register_parameter("weight", uniform({2, count}));
    bias_ = register_parameter("bias", uniform({2}));
  }

 private:
  Memory do_write(const ablate::WriteInput& input) override {
    const auto &keys = input.keys, &values = input.values, &mask = input.mask;
    const auto count = slots().of(keys.size(2));
    Memory memory;
    memory.slots = existing_slots(slots(), mask);
    if (!mask.defined()) {
      const auto regression = matrix(keys.size(2), keys.options());
      memory.keys = regression.matmul(keys);
      memory.values = regression.matmul(values);
      return memory;
    }
    // Items of one length share centres and token positions, and so one matrix.
    std::map<std::int64_t, std::vector<std::int64_t>> items;
    const auto lengths = mask.sum(-1).cpu();
    for (std::int64_t i = 0; i < lengths.size(0); ++i) items[lengths[i].item<std::int64_t>()].push_back(i);
    std::vector<Tensor> key_parts, value_parts;
    std::vector<std::int64_t> place(lengths.size(0));
    std::int64_t next = 0;
    for (const auto& [length, members] : items) {
      for (const auto i : members) place[i] = next++;
      const auto index = ablate::integers(members).to(keys.device());
      const auto regress = [&, length = length](const Tensor& x) {
        const auto own = x.index_select(0, index).narrow(2, 0, length);
        const auto b = length > 0 ? matrix(length, x.options()).matmul(own) : own;
        const auto missing = count - b.size(2);
        return missing > 0 ? ablate::pad(b, {0, 0, 0, missing}) : b;
      };
      key_parts.push_back(regress(keys));
      value_parts.push_back(regress(values));
    }
    const auto order = ablate::integers(place).to(keys.device());
    memory.keys = ablate::cat(key_parts).index_select(0, order);
    memory.values = ablate::cat(value_parts).index_select(0, order);
    return memory;
  }

  ablate::ReadOutput do_read(const ablate::ReadInput& input) override {
    const auto& queries = input.queries;
    const auto& memory = input.memory;
    const auto count = memory.keys.size(2);
    auto keys = memory.keys, values = memory.values;
    auto own = ablate::full({1, 1, 1, 1}, count, keys.options());
    if (memory.slots.defined()) {
      const auto gone = memory.slots.logical_not().unsqueeze(-1);
      keys = keys.masked_fill(gone, 0);
      values = values.masked_fill(gone, 0);
      own = memory.slots.sum(-1).clamp_min(1).to(keys.scalar_type()).view({-1, 1, 1, 1});
    }
    // affine(K q / sqrt(d)) is linear in q before its bias: w^T (K q) = (w^T K) q, without a score for every slot.
    const auto directions = weight_.narrow(1, 0, count).matmul(keys);  // [batch, heads, 2, d_key]
    const auto affine = queries.matmul(directions.transpose(-1, -2)) / std::sqrt(static_cast<double>(queries.size(-1))) + bias_;
    const auto mean = affine.narrow(-1, 0, 1).sigmoid();
    const auto variance = ablate::softplus(affine.narrow(-1, 1, 1)) + kVarianceFloor;
    // A slot that the item does not have would lie beyond 1; its value is 0, its centre only has to be harmless.
    const auto centres = ((ablate::arange(count, keys.options()) + 0.5) / own).clamp_max(1);
    ablate::ReadOutput result{.values = ablate::expected_read(mean, variance, values, centres, width_ / own)};
    if (input.looks) result.usage = looks(input, mean.detach(), variance.detach(), own);
    return result;
  }

  /// A place is a cell of the signal, as many as the item has slots: the share of each query's Gaussian there.
  static Tensor looks(const ablate::ReadInput& input, const Tensor& mean, const Tensor& variance, const Tensor& own) {
    constexpr std::int64_t rows = 256;  // queries whose shares exist at one time
    const auto count = input.memory.keys.size(2);
    const auto edges = (ablate::arange(count + 1, own.options()) / own).clamp_max(1);
    auto usage = ablate::zeros({mean.size(0), mean.size(1), count}, mean.options());
    for (std::int64_t begin = 0; begin < mean.size(2); begin += rows) {
      const auto size = std::min(rows, mean.size(2) - begin);
      auto shares = ablate::shares_between(mean.narrow(2, begin, size), variance.narrow(2, begin, size), edges);
      if (input.query_mask.defined())
        shares = shares.masked_fill(input.query_mask.narrow(1, begin, size).logical_not().unsqueeze(1).unsqueeze(-1), 0);
      usage += shares.sum(2);
    }
    const auto& exist = input.memory.slots;
    return exist.defined() ? usage.masked_fill(exist.logical_not(), 0) : usage;
  }

  /// The regression for a length, in the type and on the device of the inputs: [slots.of(length), length].
  const Tensor& matrix(std::int64_t length, const ablate::TensorOptions& options) {
    auto& found = matrices_[length];
    if (found.defined() && found.dtype() == options.dtype() && found.device() == options.device()) return found;
    const auto numbers = length * slots().of(length);
    if (cached_ + numbers > kCachedNumbers) {
      matrices_.clear();
      cached_ = 0;
    }
    cached_ += numbers;
    ablate::NoGradGuard no_grad;
    return matrices_[length] = ablate::ridge_matrix(length, slots().of(length), width_, ridge_).to(options);
  }

  double width_, ridge_;
  Tensor weight_;  // [2, slots.of(max_length)]: of a query's mean and variance; shared by heads, whose number may change
  Tensor bias_;    // [2]
  std::map<std::int64_t, Tensor> matrices_;  // by length: no buffers, since they follow from the parameters
  std::int64_t cached_ = 0;
};

}  // namespace

ABLATE_COMPRESSION(RadialBasis,
                   {.id = "rbf",
                    .version = "1.1.0",
                    .summary = "a continuous memory of Gaussian basis functions, fitted by ridge regression",
                    .paper = "Martins et al. 2021, arXiv 2109.00301, section 3",
                    .capabilities = {.slots_have_keys = true, .fixed_slots = true, .time_exponent = 2, .memory_exponent = 2},
                    .parameters = parameters})
