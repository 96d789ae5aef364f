// Averages of what is alike: that value, whoever reads it, wherever, and however many there are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trial/conformance/attention_contract.h"
#include "core/trial/conformance/layers.h"

namespace ablate::conformance {
namespace {

constexpr std::int64_t kItemsAlike = 2;

/// Of tokens on the CPU, there.
Tensor read_of(const Tensor& tokens, const Layers& layers) {
  const auto through = [](const Tensor& x, const Layer& layer) {
    return linear(x, layer.weight.cpu(), layer.bias.defined() ? layer.bias.cpu() : Tensor());
  };
  return through(through(tokens, layers.values.front()), layers.outputs.front());
}

Tensor alike(std::int64_t items, std::int64_t n, at::ScalarType type) {
  return random_tokens(items, 1, 2, type).expand({items, n, -1}).contiguous();
}

/// Whether equal values are read as themselves by whoever reads. Not where that depends on who reads (a gate, a choice of
/// heads, a query without any weight under a rectified kernel; of the second half, where a causal read has something to read),
/// nor where other parameters change what is read (set: a layer between its two reads).
bool reads_values(const Instance& instance, const Layers& layers, std::int64_t n) {
  const auto& values = layers.values.front();
  const NoGradGuard none;
  const auto all = parameters_of(instance);
  const auto before = copies(all);
  const auto type = values.weight.scalar_type();
  const auto read_from = [&](const Tensor& tokens) { return run(instance, {tokens}).narrow(1, n / 2, n - n / 2); };
  const auto read = [&] { return read_from(first_set(random_tokens(kItemsAlike, n, 5, type), 1)); };
  const auto equal = alike(kItemsAlike, n, type), equal_before = read_from(equal);
  const auto is_near = [](const Tensor& a, const Tensor& b) { return (a - b).abs().max().item().toDouble() < 1e-6; };
  set_alike(values);
  const auto first = read();
  for (const auto& parameter : all)
    if (!values.owns(parameter) && !layers.outputs.front().owns(parameter)) parameter.add_(normal_like(parameter, 7), 0.05);
  const auto second = read();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (values.owns(all[i])) all[i].copy_(before[i]);
  // Values may be made of what another layer gives, not of the tokens.
  const auto equal_after = read_from(equal);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].copy_(before[i]);
  return is_near(first, first[0][0]) && is_near(second, first) && is_near(equal_after, equal_before);
}

/// What of a causal read is right has to stay so: the first tokens of one over slots have nothing to read, or not in all heads.
/// @return the first position that is right
std::int64_t first_right(const Tensor& output, const Tensor& expected, double allowed) {
  const double size = std::max(1.0, expected.abs().max().item().toDouble());
  const auto right = ((output - expected).abs().amax({0, 2}) <= allowed * size).nonzero().flatten();
  return right.numel() == 0 ? output.size(1) - 1 : right[0].item().toLong();
}

void constants_at(const AttentionSubject& subject, const Setting& setting, const std::vector<std::int64_t>& lengths,
                  const Allowed& allowed, Finding& finding) {
  const NoGradGuard none;
  const auto longest = lengths.front();
  const auto items = setting.type == kDouble ? kItemsAlike : 1;
  const auto alone = subject.length(40);  // at which the layers are found
  const auto instance = subject.make(1, setting, std::max({longest, alone, subject.length(many_lengths().front())}));
  const auto layers = layers_of(*instance, alone);
  const auto whole = run(*instance, {alike(items, longest, setting.type)});
  const bool known = layers.are_one() && reads_values(*instance, layers, std::min(longest, subject.length(80)));
  const auto token = random_tokens(items, 1, 2, setting.type);
  const auto expected = known ? read_of(token, layers) : whole.narrow(1, longest - 1, 1).clone();
  const auto start = setting.stand.causal ? first_right(whole, expected, allowed.error) : 0;
  const auto look = [&](const Tensor& output, const Tensor& mask, const std::string& where) {
    const auto n = output.size(1);
    auto seen = (arange(n) >= start).view({1, n, 1});
    if (mask.defined()) seen = seen.logical_and(mask.unsqueeze(-1));
    const auto hidden = seen.logical_not();
    const auto right = expected.size(0) == output.size(0) ? expected : expected.narrow(0, 0, 1);
    finding.near(output.masked_fill(hidden, 0), right.expand_as(output).masked_fill(hidden, 0),
                 fmt::format("{}, {}", setting.text(), where), allowed);
  };
  look(whole, {}, fmt::format("{} tokens alike", longest));
  for (const auto n : lengths)
    if (n < longest) look(run(*instance, {alike(items, n, setting.type)}), {}, fmt::format("{} tokens alike", n));
  if (!subject.promises().key_padding || setting.type != kDouble) return;
  std::vector<std::vector<std::int64_t>> batches = {lengths_for(subject, every_length(16))};
  if (subject.full() && setting.plain()) batches.push_back(lengths_for(subject, many_lengths()));
  for (const auto& padded : batches) {
    const auto n = padded.front();
    const auto tokens = token.narrow(0, 0, 1).expand({static_cast<std::int64_t>(padded.size()), n, -1}).contiguous();
    const auto mask = padding_mask(padded, n);
    look(run(*instance, {tokens, {}, mask}), mask, fmt::format("{} tokens alike, padded", n));
  }
}

}  // namespace

void constants_everywhere(const AttentionSubject& subject, Finding& finding) {
  std::vector<std::int64_t> lengths = {80, 32};
  if (subject.full()) {
    lengths = {262, 80, 32};
    lengths.insert(lengths.end(), std::begin(kTurning), std::end(kTurning));
  }
  for (const auto& stand : subject.promised_stands(false)) {
    for (const bool training : {false, true})
      if (const Setting setting{stand, kDouble, training}; !subject.draws(setting, finding))
        constants_at(subject, setting, lengths_for(subject, training ? std::vector<std::int64_t>{80, 64} : lengths), kRounding,
                     finding);
    if (!subject.full()) continue;
    for (const auto n : lengths_beyond(subject))
      constants_at(subject, {stand, kFloat}, {n}, {1e-3, "float32, sums of 2,000 terms"}, finding);
  }
}

}  // namespace ablate::conformance
