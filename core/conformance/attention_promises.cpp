#include "core/conformance/attention_promises.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <map>
#include <stdexcept>

#include "core/conformance/attention_context.h"

namespace ablate::conformance {

namespace {

AttentionOutput forward(Attention& attention, const torch::Tensor& tokens, const AttentionState& state = {}) {
  AttentionInput input;
  input.queries = tokens;
  input.context = tokens;
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

double state(const AttentionSubject& subject) {
  const auto attention = subject.make(1);
  const auto n = subject.length(13);
  const auto first = random_tokens(2, n, 2).requires_grad_(), second = random_tokens(2, n, 3);
  const auto start = forward(*attention, first);
  if (start.state.empty()) throw std::runtime_error("stateful is promised, but forward returned no state");
  const auto carried = forward(*attention, second, start.state).output, alone = forward(*attention, second).output;
  if (difference(carried, alone) == 0) throw std::runtime_error("the state of a segment changes nothing in the next one");
  AttentionState detached;
  for (const auto& tensor : start.state) detached.push_back(tensor.detach());
  const auto cut = forward(*attention, second, detached).output;
  const auto gradient = torch::autograd::grad({cut.sum()}, {first}, {}, std::nullopt, false, true);
  if (gradient[0].defined() && gradient[0].ne(0).any().item<bool>())
    throw std::runtime_error("a gradient reaches the first segment past a detached state: the module keeps one of its own");
  // A reset is an empty state: what came before must leave no trace.
  return std::max(difference(cut, carried), difference(forward(*attention, first).output, start.output));
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
