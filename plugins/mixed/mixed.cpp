// Attentions side by side in one layer, each with its own heads and its share of the width: for example half the heads local
// and half routing (Roy et al. 2020, section 5).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "ablate/attention.h"
#include "divergence.h"

namespace {

using ablate::AttentionState;
using ablate::Capabilities;
using ablate::Rate;

constexpr ablate::Parameter parameters[] = {
    ablate::plugins("parts", "attention", "the attentions, each with its own parameters"),
    ablate::rates("shares", "[\"1\"]", "share of the layer's width for each part, with sum 1; a single 1: equal shares"),
    ablate::integer(
        "divergence_examples", "0", {0, 65536},
        "examples of each evaluation batch to compare the heads' attention distributions on, at one pass per d_head keys "
        "each; 0: none",
        "examples"),
};

/// Makes only promises that all parts make, except for a state: one part with a state suffices. Parts without a state read only
/// their segment, as they would in their own layer. Costs are the costs of the most expensive part.
Capabilities promises(const Capabilities& declared, const ablate::Values&, std::span<const Capabilities> parts) {
  auto can = declared;
  can.stateful = false;
  can.sparse = true;
  for (const auto& part : parts) {
    can.causal &= part.causal;
    can.key_padding &= part.key_padding;
    can.cross_attention &= part.cross_attention;
    can.bidirectional &= part.bidirectional;
    can.holes &= part.holes;
    can.rotary &= part.rotary;
    can.weight_dropout &= part.weight_dropout;
    can.stateful |= part.stateful;
    can.recurrent &= part.recurrent;
    can.sparse &= part.sparse;
    can.averages &= part.averages;
    can.half_precision &= part.half_precision;
    can.cuda &= part.cuda;
    can.deterministic &= part.deterministic;
    can.length_multiple = std::lcm(can.length_multiple, part.length_multiple);
    can.time_exponent = std::max(can.time_exponent, part.time_exponent);
    can.memory_exponent = std::max(can.memory_exponent, part.memory_exponent);
  }
  return can;
}

std::string text(Rate rate) { return std::to_string(rate.numerator) + "/" + std::to_string(rate.denominator); }

/// Returns the channels of each part. Throws std::invalid_argument if the shares do not fit.
std::vector<std::int64_t> widths_of(const std::vector<Rate>& parameter, std::size_t parts, std::int64_t width) {
  auto shares = parameter;
  if (parameter == std::vector<Rate>{{1, 1}}) shares.assign(parts, {1, static_cast<std::int64_t>(parts)});
  if (shares.size() != parts)
    throw std::invalid_argument("shares = " + std::to_string(shares.size()) + " entries, expected one for each of " +
                                std::to_string(parts) + " parts");
  std::vector<std::int64_t> widths;
  std::int64_t sum = 0;
  for (const auto& share : shares) {
    const auto channels = width * share.numerator;
    if (channels % share.denominator != 0)
      throw std::invalid_argument("shares = " + text(share) + " of " + std::to_string(width) + " channels is " +
                                  std::to_string(static_cast<double>(width) * share.value()) + ", expected a whole number");
    widths.push_back(channels / share.denominator);
    sum += widths.back();
  }
  if (sum != width)
    throw std::invalid_argument("shares = numbers that add up to " + text(ablate::reduced({sum, width})) + ", expected 1");
  return widths;
}

/// The sum of the parts' outputs. Each part has its own output projection. Together these act as one projection of all heads,
/// so their initial weights are scaled. Unscaled weights, within 1 / sqrt(width), fit a part's own width: each part's output
/// would be as large as a whole layer's, and the sum of k equal parts would be sqrt(k) times too large.
class MixedAttention final : public ablate::Attention {
 public:
  explicit MixedAttention(const ablate::AttentionContext& context) {
    const auto count = static_cast<std::size_t>(context.parameters.count("parts"));
    const auto widths = widths_of(context.parameters.rates("shares"), count, context.width);
    for (std::size_t i = 0; i < count; ++i)
      parts_.push_back(register_module(name(i), context.parts.attention("parts", i, widths[i])));
    const ablate::NoGradGuard none;
    for (std::size_t i = 0; i < count; ++i) {
      const auto share = static_cast<double>(widths[i]) / static_cast<double>(context.width);
      for (const auto& projection : parts_[i]->output_projections()) {
        projection->weight.mul_(std::sqrt(share));
        if (projection->bias.defined()) projection->bias.mul_(std::sqrt(share / static_cast<double>(count)));
      }
      state_sizes_.push_back(parts_[i]->initial_state(1).size());
    }
    if (const auto examples = context.parameters.integer("divergence_examples"); examples > 0)
      divergence_.emplace(parts_, examples, context);
  }

 private:
  static std::string name(std::size_t part) { return "part_" + std::to_string(part); }

  ablate::AttentionOutput do_forward(const ablate::AttentionInput& input) override {
    ablate::AttentionOutput all;
    auto own = input;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      own.state.clear();
      if (!input.state.empty())
        for (auto left = state_sizes_[i]; left > 0; --left) own.state.push_back(input.state.at(taken++));
      auto attended = parts_[i]->forward(own);
      add(all.output, attended.output);
      if (attended.auxiliary_loss.defined()) add(all.auxiliary_loss, attended.auxiliary_loss);
      for (auto& tensor : attended.state) all.state.push_back(std::move(tensor));
      for (auto& metric : attended.metrics) all.metrics.push_back({name(i) + "_" + metric.name, metric.value, metric.unit});
    }
    if (input.measure && divergence_)
      for (auto& metric : divergence_->of(input)) all.metrics.push_back(std::move(metric));
    return all;
  }

  static void add(ablate::Tensor& sum, const ablate::Tensor& more) { sum = sum.defined() ? sum + more : more; }

  /// The states of the parts, one after another.
  AttentionState do_initial_state(std::int64_t batch) const override {
    AttentionState state;
    for (const auto& part : parts_)
      for (auto& tensor : part->initial_state(batch)) state.push_back(std::move(tensor));
    return state;
  }

  std::vector<std::shared_ptr<ablate::Linear>> do_output_projections() const override {
    std::vector<std::shared_ptr<ablate::Linear>> all;
    for (const auto& part : parts_)
      for (auto& projection : part->output_projections()) all.push_back(std::move(projection));
    return all;
  }

  void do_step(std::int64_t step, const ablate::Generator& generator) override {
    for (const auto& part : parts_) part->on_step(step, generator);
  }

  std::vector<std::shared_ptr<ablate::Attention>> parts_;
  std::vector<std::size_t> state_sizes_;  ///< tensors of each part's state; the same in training and evaluation
  std::optional<ablate::mixed::Divergence> divergence_;
};

}  // namespace

ABLATE_ATTENTION(MixedAttention,
                 {.id = "mixed",
                  .version = "1.2.0",
                  .summary = "attentions side by side in one layer, each with its share of the width",
                  .paper = "Roy et al. 2020, Routing Transformer, arXiv 2003.05997, section 5 (half local, half routing)",
                  .capabilities = {.causal = true,
                                   .key_padding = true,
                                   .cross_attention = true,
                                   .stateful = true,
                                   .holes = true,
                                   .recurrent = true,
                                   .rotary = true,
                                   .weight_dropout = true,
                                   .averages = true,
                                   .half_precision = true},
                  .parameters = parameters,
                  .promises = promises})
