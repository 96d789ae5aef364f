// Checks the weights and output projections that an attention reports beside its outputs.
#include <fmt/format.h>

#include <stdexcept>

#include "core/trial/conformance/attention/contract.h"
#include "core/trial/conformance/attention/layers.h"

namespace ablate::conformance {
namespace {

/// True if `has` accepts some instance. Also true if an instance throws, because the check then fails.
template <class Has>
bool any_instance(const AttentionSubject& subject, const Has& has) try {
  for (const auto& stand : subject.promised_stands())
    if (has(*subject.make(1, stand))) return true;
  return false;
} catch (const std::exception&) {
  return true;
}

/// Returns a pass of self-attention, and of cross-attention if promised. If padding is promised, adds a padded pass of each.
std::vector<std::pair<Pass, std::string>> reported_passes(const AttentionSubject& subject, const Setting& setting) {
  const auto n = subject.length(13), keys = subject.length(21);
  const auto tokens = random_tokens(3, n, 2, setting.type), context = random_tokens(3, keys, 3, setting.type);
  const auto mask = padding_mask({n, subject.length(5), n}, n), other = padding_mask({subject.length(8), keys, keys}, keys);
  std::vector<std::pair<Pass, std::string>> all = {{{tokens}, setting.text()}};
  if (subject.promises().key_padding) all.push_back({{tokens, {}, mask}, setting.text() + ", padded"});
  if (!subject.crosses(setting.stand) || setting.stand.causal) return all;
  all.push_back({{tokens, context}, setting.text() + ", over another sequence"});
  if (subject.promises().key_padding)
    all.push_back({{tokens, context, other, mask}, setting.text() + ", over another sequence, padded"});
  return all;
}

/// Returns the output computed from weights [batch, heads, n, keys] and layers.
Tensor output_of(const Tensor& weights, const Pass& pass, const Layers& layers) {
  const auto &value = layers.values.front(), &output = layers.outputs.front();
  const auto tokens = real(pass.context.defined() ? pass.context : pass.queries, pass.mask).to(value.weight.device());
  const auto values = split_heads(linear(tokens, value.weight, value.bias), weights.size(1));
  return linear(merge_heads(weights.to(values.scalar_type()).matmul(values)), output.weight, output.bias).cpu();
}

void look_at_weights(const Instance& instance, const Setting& setting, const Pass& pass, const Layers& layers,
                     const std::string& where, Finding& finding) {
  const auto found = instance.attention().weights(input_of(instance, pass));
  if (!found.defined()) return;
  const auto n = pass.queries.size(1), keys = pass.context.defined() ? pass.context.size(1) : n;
  if (found.scalar_type() != kDouble || found.requires_grad() || found.size(0) != pass.queries.size(0) || found.size(2) != n ||
      found.size(3) != keys)
    throw std::runtime_error(c10::str(where, ": weights() gave ", found.scalar_type(), " ", found.sizes(),
                                      found.requires_grad() ? " with a graph" : "", ", expected Double [", pass.queries.size(0),
                                      ", heads, ", n, ", ", keys, "] without a graph"));
  const auto all = found.cpu(), sum = all.sum(-1);  // [batch, heads, n]
  const auto allowed = setting.type == kDouble ? kRounding : Allowed{1e-4, "float32"};
  const auto asked = queries_of(pass).defined() ? queries_of(pass).unsqueeze(1) : ones({1, 1, 1}, TensorOptions(kBool));
  // 1e-2 is the tolerance of HeadwiseAttention for a mean.
  if (const double off = (sum - sum.round().clamp(0, 1) * asked).abs().max().item().toDouble(); !(off <= 1e-2))
    throw std::runtime_error(fmt::format(
        "{}: expected each row of weights() to add up to 1, or to 0 if its query sees no token: off by {:.2g}", where, off));
  // At a causal place and a low rate, perhaps no slot is complete. Then the bias is the output of each query.
  const auto output = run(instance, pass);
  if (!(sum > 0.5).any().item().toBool() &&
      real(output - output.flatten(0, -2)[0], queries_of(pass)).abs().max().item().toDouble() > 1e-6)
    throw std::runtime_error(where + ": all rows of weights() are 0, and outputs differ");
  if (layers.are_one())
    finding.near(real(output_of(found, pass, layers), queries_of(pass)), real(output, queries_of(pass)),
                 where + ": weights() times values, through the output projection", allowed);
  else if (setting.type == kDouble)  // larger steps in float32 may move a maximum to another token, so layers_of() finds none
    finding.leave("weights() are not compared with outputs: no layers of values and outputs were found");
}

}  // namespace

bool has_weights(const AttentionSubject& subject) {
  return any_instance(subject, [&](const Instance& instance) {
    return instance.attention().weights(input_of(instance, {random_tokens(1, subject.length(5), 2)})).defined();
  });
}

bool has_projections(const AttentionSubject& subject) {
  return any_instance(subject, [](const Instance& instance) { return !instance.attention().output_projections().empty(); });
}

void weights(const AttentionSubject& subject, Finding& finding) {
  const NoGradGuard none;
  std::vector<Setting> settings;
  // The check reads no states, so only places without a state are checked.
  for (auto stand : subject.stands()) {
    if (stand.carries) continue;
    settings.push_back({stand, kDouble});
    if (stand != stand.alone()) continue;
    if (subject.full()) settings.push_back({stand, kFloat});
    stand.positions = Positions::kRotary;
    if (subject.promises().rotary) settings.push_back({stand, kDouble});
  }
  for (const auto& setting : settings) {
    const auto instance = subject.make(1, setting);
    const auto before = copies(contents(*instance));
    const auto layers = layers_of(*instance, subject.length(40));
    for (const auto& [pass, where] : reported_passes(subject, setting))
      look_at_weights(*instance, setting, pass, layers, where, finding);
    finding.near(contents(*instance), before, setting.text() + ": parameters and buffers after weights()");
  }
}

void projections(const AttentionSubject& subject, Finding& finding) {
  const NoGradGuard none;
  for (const auto& setting : subject.settings(subject.stands(), kDouble)) {
    const auto instance = subject.make(1, setting);
    auto sum = zeros({1, 1, AttentionSubject::kChannels}, TensorOptions(kDouble));
    const auto all = instance->attention().output_projections();
    for (const auto& projection : all) {
      if (!projection) throw std::runtime_error(setting.text() + ": output_projections() contains a null pointer");
      projection->weight.zero_();
      if (projection->bias.defined()) sum = sum + projection->bias.cpu();
    }
    for (const auto& [pass, where] : reported_passes(subject, setting))
      if (const auto output = run(*instance, pass); !all.empty())
        finding.near(real(output, queries_of(pass)), real(sum.expand_as(output), queries_of(pass)),
                     where + ": with all weights of output_projections() at 0, expected the sum of their biases");
  }
}

}  // namespace ablate::conformance
