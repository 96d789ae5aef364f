#include "core/trial/conformance/attention_promises.h"

#include <c10/util/StringUtil.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "core/trial/conformance/attention_context.h"

namespace ablate::conformance {

namespace {

AttentionOutput forward(Attention& attention, const torch::Tensor& tokens, const AttentionState& state = {},
                        const torch::Tensor& mask = {}) {
  AttentionInput input;
  input.queries = tokens;
  input.context = tokens;
  input.mask = mask;
  input.state = state;
  input.generator = make_generator(17);
  return attention.forward(input);
}

template <class Call>
bool throws(const Call& call) {
  try {
    call();
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

}  // namespace

double long_sequence(const AttentionSubject& subject) {
  const auto n = subject.length(1003);
  const auto attention = subject.make(1, false, torch::kFloat32, n);
  const Pass pass{random_tokens(1, n, 2, torch::kFloat32)};
  const auto output = run(*attention, pass);
  return output.sizes() == pass.queries.sizes() && finite({output}) && finite(gradients(*attention, pass)) ? 0 : kWrong;
}

/// Throws where a gradient runs into a tensor that is none of the parameters.
static void refuse_unregistered(const torch::Tensor& loss, const std::vector<torch::Tensor>& parameters) {
  std::set<const torch::autograd::Node*> seen;
  std::vector<torch::autograd::Node*> open = {loss.grad_fn().get()};
  while (!open.empty()) {
    auto* const node = open.back();
    open.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    if (const auto* leaf = dynamic_cast<const torch::autograd::AccumulateGrad*>(node);
        leaf != nullptr &&
        std::none_of(parameters.begin(), parameters.end(), [&](const auto& one) { return one.is_same(leaf->variable); }))
      throw std::runtime_error(
          fmt::format("a tensor of {} asks for a gradient and is not registered, so that it is neither trained nor saved nor "
                      "moved: register_parameter() it",
                      c10::str(leaf->variable.sizes())));
    for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
  }
}

double trained(const AttentionSubject& subject) {
  const auto attention = subject.make(1);
  attention->train();
  // Several passes: where a query chooses among heads, none may choose some head in one.
  std::map<std::string, bool> reached;
  for (const std::uint64_t seed : {2, 3, 4, 5}) {
    const auto output = forward(*attention, random_tokens(4, subject.length(80), seed));
    auto loss = (output.output * random_tokens(output.output.size(0), output.output.size(1), 23)).sum();
    if (output.auxiliary_loss.defined()) loss = loss + output.auxiliary_loss;
    std::vector<std::string> names;
    std::vector<torch::Tensor> parameters;
    for (const auto& parameter : attention->named_parameters()) {
      names.push_back(parameter.key());
      parameters.push_back(parameter.value());
      if (!parameter.value().requires_grad()) throw std::runtime_error(parameter.key() + " is a parameter without gradient");
    }
    if (loss.requires_grad()) refuse_unregistered(loss, parameters);
    if (parameters.empty()) return 0;
    const auto found = torch::autograd::grad({loss}, parameters, {}, false, false, true);
    for (std::size_t i = 0; i < names.size(); ++i) reached[names[i]] |= found[i].defined() && found[i].ne(0).any().item<bool>();
  }
  std::string missing;
  for (const auto& [name, is_reached] : reached)
    if (!is_reached) missing += (missing.empty() ? "" : ", ") + name;
  if (!missing.empty()) throw std::runtime_error("no gradient reaches " + missing);
  return 0;
}

double instances(const AttentionSubject& subject) {
  const auto changed = subject.make(1), other = subject.make(2);
  const Pass pass{random_tokens(2, subject.length(13), 2)};
  const auto before = run(*other, pass).detach().clone();
  torch::NoGradGuard no_grad;
  auto all = changed->parameters();
  const auto buffers = changed->buffers();
  all.insert(all.end(), buffers.begin(), buffers.end());
  std::vector<torch::Tensor> kept;
  for (auto& tensor : all) {
    kept.push_back(tensor.clone());
    if (tensor.is_floating_point()) tensor.add_(1);
  }
  const double error = difference(run(*other, pass), before);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].copy_(kept[i]);  // whatever is shared, the next checks start as usual
  return error;
}

double half(const AttentionSubject& subject) {
  const auto n = subject.length(33);
  const auto wide = run(*subject.make(1, false, torch::kFloat32), {random_tokens(2, n, 2, torch::kFloat32)});
  double worst = 0;
  for (const auto type : {torch::kHalf, torch::kBFloat16}) {
    const auto attention = subject.make(1, false, type);
    const Pass pass{random_tokens(2, n, 2, type)};
    const auto narrow = run(*attention, pass);
    if (narrow.scalar_type() != type || narrow.sizes() != wide.sizes() || !finite({narrow})) return kWrong;
    if (!finite(gradients(*attention, pass)) || !finite({run(*attention, {pass.queries * 1e4})})) return kWrong;
    // The median: a query near a decision (routing, clusters) may fall otherwise.
    const auto off = (narrow.to(torch::kFloat32) - wide).abs().median().item<double>();
    worst = std::max(worst, off / std::max(1e-3, wide.abs().median().item<double>()));
  }
  return worst;
}

double constants(const AttentionSubject& subject) {
  const auto attention = subject.make(1);
  const auto token = random_tokens(2, 1, 2);
  const auto output = [&](std::int64_t n) { return run(*attention, {token.expand({2, n, -1}).contiguous()}); };
  const auto few = output(subject.length(1));
  double worst = 0;
  for (const std::int64_t more : {7, 32, 80}) {
    const auto many = output(subject.length(more));
    worst = std::max(worst, difference(many, few.narrow(1, 0, 1).expand_as(many)));
  }
  return worst;
}

/// The outputs of a sequence, segment by segment, each with the state of the one before.
static std::vector<torch::Tensor> sequence(Attention& attention, const std::vector<torch::Tensor>& segments) {
  std::vector<torch::Tensor> outputs;
  AttentionState state;
  for (const auto& segment : segments) {
    const auto result = forward(attention, segment, state);
    outputs.push_back(result.output);
    state = result.state;
  }
  return outputs;
}

double state(const AttentionSubject& subject) {
  const auto n = subject.length(kLengths.front());
  const auto attention = subject.make(1);
  // An item among mates 100 times as large and as small, whose states have to stay apart as well.
  const auto scales = torch::tensor({1.0, 100.0, 0.01}, torch::kFloat64).view({3, 1, 1});
  const std::vector<torch::Tensor> segments = {random_tokens(3, n, 2) * scales, random_tokens(3, n, 3) * scales,
                                               random_tokens(3, n, 4) * scales};
  const auto alone = sequence(*subject.make(1), segments);

  // Carried: two sequences by turns, as the host may feed them, with their states told apart by it alone.
  AttentionState one, other;
  double worst = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto result = forward(*attention, segments[i], one);
    worst = std::max(worst, difference(result.output, alone[i]));
    if (result.state.empty()) throw std::runtime_error("stateful is promised, but forward returned no state");
    if (!finite(result.state)) throw std::runtime_error("a state is not finite");
    if (i > 0 && difference(result.output[0], forward(*attention, segments[i]).output[0]) == 0)
      throw std::runtime_error("the state of a segment changes nothing in the next one");
    one = result.state;
    other = forward(*attention, random_tokens(3, n, 10 + i), other).state;
  }
  if (worst > kRounding)
    throw std::runtime_error(fmt::format("two sequences by turns: off by {:.2g}: state is kept inside", worst));
  // Reset: an empty state is the start of a sequence, whatever came before.
  if (difference(forward(*attention, segments[0]).output, alone[0]) > kRounding)
    throw std::runtime_error("an empty state after other segments does not give what a new instance gives");

  for (std::int64_t i = 0; i < 3; ++i) {
    std::vector<torch::Tensor> own;
    for (const auto& segment : segments) own.push_back(item(segment, i, n));
    const auto outputs = sequence(*attention, own);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const auto size = std::max(1.0, outputs[k].abs().max().item<double>());
      if (difference(item(alone[k], i, n), outputs[k]) / size > kRounding)
        throw std::runtime_error(fmt::format("segment {}: an item's state depends on its batch mates", k));
    }
  }

  const auto first = segments[0].clone().requires_grad_();
  AttentionState detached;
  for (const auto& tensor : forward(*attention, first).state) detached.push_back(tensor.detach());
  const auto cut = forward(*attention, segments[1], detached).output;
  const auto gradient = torch::autograd::grad({cut.sum()}, {first}, {}, std::nullopt, false, true);
  if (gradient[0].defined() && gradient[0].ne(0).any().item<bool>())
    throw std::runtime_error("a gradient reaches the first segment past a detached state: the module keeps one of its own");
  worst = std::max(worst, difference(cut, alone[1]));

  if (subject.promises().key_padding) {
    const auto kept = subject.length(kLengths[1]);
    const auto mask = padding_mask({n, kept, n}, n);
    const auto padded = forward(*attention, segments[1], forward(*attention, segments[0], {}, mask).state).output;
    const auto whole = sequence(*attention, {item(segments[0], 1, kept), item(segments[1], 1, n)}).back();
    if (difference(item(padded, 1, n), whole) / std::max(1.0, whole.abs().max().item<double>()) > kRounding)
      throw std::runtime_error("padding in a segment is carried into the next one");
  }
  return worst;
}

double refused(const AttentionSubject& subject) {
  const auto& promises = subject.promises();
  if (!promises.causal && !throws([&] { subject.make(1, true); }))
    throw std::runtime_error("causal is not promised, and a causal instance was made");
  if (promises.takes_compression) {
    const AttentionShape shape{AttentionSubject::kChannels, AttentionSubject::kMaxLength, false};
    if (!throws([&] { make_attention(subject.plugin(), {}, shape, make_generator(1)); }))
      throw std::runtime_error("an instance was made without the compression that it takes");
  }
  if (promises.length_multiple > 1) {
    const auto n = subject.length(13) + 1;
    torch::Tensor output;
    if (!throws([&] { output = run(*subject.make(1), {random_tokens(2, n, 2)}); }) &&
        (output.size(1) != n || !finite({output})))
      throw std::runtime_error(fmt::format("{} tokens, no multiple of {}, were neither refused nor attended to rightly", n,
                                           promises.length_multiple));
  }
  return 0;
}

}  // namespace ablate::conformance
