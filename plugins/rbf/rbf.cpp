// A continuous memory (infinity-former, Martins et al. 2021): slot j is the coefficient of a Gaussian basis function, and a
// query reads the expectation of the signal under its own Gaussian over [0, 1].
//
// Differences from the published code, deep-spin/infinite-former ("there" means in the published code):
// - Basis functions have height 1, centres in the middle of N equal cells and one width, proportional to 1/N (there: unit area,
//   centres from 0 to 1 inclusive, half of the functions .005 and half .01 wide). So the ridge of 0.001 here cannot be compared
//   with the ridge of 0.5 there.
// - The signal is fitted on [0, 1] only (there with zeros around it).
// - A query's Gaussian is truncated to [0, 1] and renormalised (there the mass outside is lost). Its variance is at least
//   1e-6 (there 1e-4). Its mean and variance have biases. Unless a KL term limits the variance (kl), softplus starts the
//   variance near 0.7, so that at first every query reads nearly the mean of all tokens.
// - The inputs come from the attention, usually projected keys and values, and gradients reach them (there layer inputs of the
//   past, without gradients).
// - An extended memory samples its old signal at the middles of equal shares of [0, 1] or, if sticky, of all looks (there at
//   the right edges; sticky at the left edges of 128 cells).
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "ablate/compression.h"
#include "ablate/masked_softmax.h"
#include "ablate/padding.h"
#include "basis.h"
#include "expected_read.h"

namespace {

using ablate::existing_slots;
using ablate::Memory;
using ablate::Tensor;
using ablate::WriteInput;

constexpr ablate::Parameter parameters[] = {
    ablate::real("width", "1.0", {0.25, 2}, "standard deviation of a basis function (published: .005 and .01 of the sequence)",
                 "centre spacings"),
    ablate::real("ridge", "0.001", {1e-9, 100},
                 "lambda of the ridge regression; larger is smoother (published: 0.5, for functions of unit area)"),
    ablate::integer("samples", "512", {1, 4096}, "for extended memories (infinity): samples of the old signal (published: 512)",
                    "places"),
    ablate::real("tau", "0.75", {0.01, 0.99},
                 "for extended memories: share of [0, 1] that the old signal is contracted to (published: 0.5, 0.75)"),
    ablate::real(
        "kl", "0", {0, 1000},
        "weight of the KL divergence of each read's Gaussian from one of deviation sigma_0 (infinity; published: 1e-6)"),
    ablate::real("sigma_0", "0.05", {0.001, 10}, "deviation at which the KL divergence is 0 (published: 0.05)"),
};

constexpr const char* kContraction =
    "an extended signal is sampled and fitted again, so it loses detail (section 3.2, contraction)";
constexpr ablate::Exemption exemptions[] = {
    {"extends", "", kContraction, 250, "tau < 0.1"},
    {"extends", "", kContraction, 40, "samples < 8"},
    {"extends", "", kContraction, 10},
};

constexpr double kVarianceFloor = 1e-6;           // least variance of a query's Gaussian on [0, 1]
constexpr std::int64_t kCachedNumbers = 1 << 24;  // limit for all cached regression matrices together

class RadialBasis final : public ablate::Compression {
 public:
  explicit RadialBasis(const ablate::CompressionContext& context)
      : Compression(context),
        width_(context.parameters.real("width")),
        ridge_(context.parameters.real("ridge")),
        samples_(context.parameters.integer("samples")),
        tau_(context.parameters.real("tau")),
        kl_(context.parameters.real("kl")),
        prior_(context.parameters.real("sigma_0")) {
    const auto count = slots().of(context.max_length);
    const double bound = 1 / std::sqrt(static_cast<double>(count));
    const auto uniform = [&](ablate::IntArrayRef shape) {
      return ablate::empty(shape).uniform_(-bound, bound, context.generator);
    };
    weight_ = register_parameter("weight", uniform({2, count}));
    bias_ = register_parameter("bias", uniform({2}));
  }

  bool follows_similarity() const override { return false; }

 private:
  /// Items with a common regression matrix: the same number of tokens, with or without an old signal.
  struct Case {
    std::int64_t length;
    bool has_past;
    auto operator<=>(const Case&) const = default;
  };

  Memory do_write(const WriteInput& input) override {
    // Half precision would be too coarse for coefficients, which are sums of terms of both signs.
    const auto keys = ablate::widened(input.keys), &mask = input.mask;
    const auto type = input.keys.scalar_type();
    Memory memory;
    memory.slots = existing_slots(slots(), mask);
    const bool is_one =
        input.keys.is_same(input.values) && (input.held == nullptr || input.held->keys.is_same(input.held->values));
    const auto values = is_one ? keys : ablate::widened(input.values);
    if (!mask.defined() && input.held == nullptr) {
      const auto& fit = matrix({keys.size(2), false}, keys.options());
      memory.keys = fit.matmul(keys).to(type);
      memory.values = is_one ? memory.keys : fit.matmul(values).to(type);
      return memory;
    }
    if (input.held != nullptr && slots().fixed == 0)
      throw std::logic_error("rbf extends a memory of a fixed number of slots; at a rate it would get more slots");
    const auto places = input.held != nullptr ? sampled_places(input) : Tensor();
    std::map<Case, std::vector<std::int64_t>> items;
    const auto cases = cases_of(input);
    for (std::size_t i = 0; i < cases.size(); ++i) items[cases[i]].push_back(static_cast<std::int64_t>(i));
    std::vector<Tensor> key_parts, value_parts;
    std::vector<std::int64_t> place(cases.size());
    std::int64_t next = 0;
    for (const auto& [which, members] : items) {
      for (const auto i : members) place[static_cast<std::size_t>(i)] = next++;
      const auto index = ablate::integers(members).to(keys.device());
      const auto regress = [&, which = which](const Tensor& x, const Tensor& held) {
        const auto own = x.index_select(0, index).narrow(2, 0, which.length);
        if (which.has_past) return extended(ablate::widened(held.index_select(0, index)), own, places.index_select(0, index));
        const auto b = which.length > 0 ? matrix(which, x.options()).matmul(own) : own;
        const auto missing = slots().of(keys.size(2)) - b.size(2);
        return missing > 0 ? ablate::pad(b, {0, 0, 0, missing}) : b;
      };
      key_parts.push_back(regress(keys, input.held != nullptr ? input.held->keys : Tensor()));
      if (!is_one) value_parts.push_back(regress(values, input.held != nullptr ? input.held->values : Tensor()));
    }
    const auto order = ablate::integers(place).to(keys.device());
    memory.keys = ablate::cat(key_parts).index_select(0, order).to(type);
    memory.values = is_one ? memory.keys : ablate::cat(value_parts).index_select(0, order).to(type);
    return memory;
  }

  /// Returns the case of each item. A signal of zeros counts as no signal, because an item without tokens leaves zeros.
  static std::vector<Case> cases_of(const WriteInput& input) {
    const auto batch = input.keys.size(0);
    Tensor lengths, past;
    if (input.mask.defined()) lengths = input.mask.sum(-1).cpu();
    if (input.held != nullptr)
      past = input.held->keys.ne(0).flatten(1).any(1).logical_or(input.held->values.ne(0).flatten(1).any(1)).cpu();
    std::vector<Case> cases;
    for (std::int64_t i = 0; i < batch; ++i)
      cases.push_back(
          {lengths.defined() ? lengths[i].item<std::int64_t>() : input.keys.size(2), past.defined() && past[i].item<bool>()});
    return cases;
  }

  /// Returns the places at which the old signal is sampled: evenly spaced, or quantiles of the looks (sticky memories). The
  /// quantiles are random in training. [batch, heads or 1, samples], rising, float32 or wider
  Tensor sampled_places(const WriteInput& input) const {
    const auto& usage = input.held->usage;
    const auto options = ablate::wide_options(input.keys);
    const auto batch = input.keys.size(0);
    if (!usage.defined()) return ablate::middles(samples_, options).expand({batch, 1, samples_});
    const auto looks = usage.detach().to(options.dtype());
    auto shares = ablate::middles(samples_, options).expand({batch, looks.size(1), samples_});
    if (is_training()) shares = std::get<0>(ablate::empty(shares.sizes(), options).uniform_(0, 1, input.generator).sort(-1));
    return ablate::place_of(looks, shares.contiguous());
  }

  /// Contracts the old signal to [0, tau] and appends the new tokens. Without new tokens the signal is unchanged.
  /// @param held [items, heads, slots, d]
  /// @param own [items, heads, tokens, d]
  /// @param places [items, heads or 1, samples]
  Tensor extended(const Tensor& held, const Tensor& own, const Tensor& places) {
    if (own.size(2) == 0) return held;
    const auto count = held.size(2);
    const auto centres = ablate::middles(count, places.options());
    const auto signal = ablate::basis_at(places.unsqueeze(-1), centres, count, width_).matmul(held);
    return matrix({own.size(2), true}, own.options()).matmul(ablate::cat({signal, own}, 2));
  }

  ablate::ReadOutput do_read(const ablate::ReadInput& input) override {
    const auto queries = ablate::widened(input.queries);
    const auto& memory = input.memory;
    const auto count = memory.keys.size(2);
    auto keys = ablate::widened(memory.keys), values = ablate::widened(memory.values);
    auto own = ablate::full({1, 1, 1, 1}, count, keys.options());
    if (memory.slots.defined()) {
      const auto gone = memory.slots.logical_not().unsqueeze(-1);
      keys = keys.masked_fill(gone, 0);
      values = values.masked_fill(gone, 0);
      own = memory.slots.sum(-1).clamp_min(1).to(keys.scalar_type()).view({-1, 1, 1, 1});
    }
    // affine(K q / sqrt(d)) is linear in q before its bias: w^T (K q) = (w^T K) q, so no [queries, slots] scores are needed.
    const auto directions = ablate::widened(weight_).narrow(1, 0, count).matmul(keys);  // [batch, heads, 2, d_key]
    const auto affine = queries.matmul(directions.transpose(-1, -2)) / std::sqrt(static_cast<double>(queries.size(-1))) +
                        ablate::widened(bias_);
    const auto mean = affine.narrow(-1, 0, 1).sigmoid();
    const auto variance = ablate::softplus(affine.narrow(-1, 1, 1)) + kVarianceFloor;
    // The centre of a missing slot would be beyond 1. The slot's value is 0, so any centre in [0, 1] will do.
    const auto centres = ((ablate::arange(count, keys.options()) + 0.5) / own).clamp_max(1);
    const auto read = ablate::expected_read(mean, variance, values, centres, width_ / own);
    ablate::ReadOutput result{.values = read.to(input.queries.scalar_type())};
    if (!input.looks) return result;
    result.usage = looks(input, mean.detach(), variance.detach(), own);
    if (kl_ > 0 && is_training()) result.auxiliary_loss = divergence(input, variance) * kl_;
    return result;
  }

  /// KL(N(mean, variance) || N(mean, sigma_0^2)), mean over heads and over real queries, in items with a memory.
  Tensor divergence(const ablate::ReadInput& input, const Tensor& variance) const {
    const auto ratio = variance.squeeze(-1) / (prior_ * prior_);  // [batch, heads, n]
    auto counts = input.memory.keys.ne(0).flatten(1).any(1).view({-1, 1, 1});
    if (input.query_mask.defined()) counts = counts.logical_and(input.query_mask.unsqueeze(1));
    counts = counts.expand_as(ratio);
    const auto all = ((ratio - ratio.log() - 1) * 0.5).masked_fill(counts.logical_not(), 0);
    return all.sum() / counts.sum().clamp_min(1);
  }

  /// Returns the mass that the Gaussians of all queries have in each cell of the signal. An item has as many cells as slots.
  static Tensor looks(const ablate::ReadInput& input, const Tensor& mean, const Tensor& variance, const Tensor& own) {
    constexpr std::int64_t rows = 256;  // queries that are processed at one time
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

  /// Returns the regression matrix for this number of tokens, in the type and on the device of the inputs: [slots.of(length),
  /// length]; with an old signal [slots, samples + length].
  const Tensor& matrix(Case which, const ablate::TensorOptions& options) {
    auto& found = matrices_[which];
    if (found.defined() && found.dtype() == options.dtype() && found.device() == options.device()) return found;
    const auto count = slots().of(which.length);
    const auto numbers = (which.length + (which.has_past ? samples_ : 0)) * count;
    if (cached_ + numbers > kCachedNumbers) {
      matrices_.clear();
      cached_ = 0;
    }
    cached_ += numbers;
    ablate::NoGradGuard no_grad;
    const auto fit = which.has_past ? ablate::contraction_matrix(samples_, which.length, tau_, count, width_, ridge_)
                                    : ablate::ridge_matrix(which.length, count, width_, ridge_);
    return matrices_[which] = fit.to(options);
  }

  double width_, ridge_;
  std::int64_t samples_;
  double tau_, kl_, prior_;
  Tensor weight_;  // [2, slots.of(max_length)]: for a query's mean and variance; shared by heads, whose number may change
  Tensor bias_;    // [2]
  std::map<Case, Tensor> matrices_;  // not buffers, because the parameters determine them
  std::int64_t cached_ = 0;
};

}  // namespace

ABLATE_COMPRESSION(RadialBasis, {.id = "rbf",
                                 .version = "1.2.0",
                                 .summary = "a continuous memory of Gaussian basis functions, fitted by ridge regression",
                                 .paper = "Martins et al. 2021, arXiv 2109.00301, section 3",
                                 .capabilities = {.slots_have_keys = true,
                                                  .fixed_slots = true,
                                                  .extends = true,
                                                  .half_precision = true,
                                                  .time_exponent = 2,
                                                  .memory_exponent = 2},
                                 .parameters = parameters,
                                 .exemptions = exemptions})
