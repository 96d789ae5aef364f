#include "core/trial/conformance/attention_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/trial/conformance/registered.h"

namespace ablate::conformance {
namespace {

/// The loss at the parameters and inputs as they stand, with straight-through calls at what they recorded.
double value_at(const Instance& instance, Pass pass, Surrogate& surrogate) {
  const NoGradGuard none;
  pass.surrogate = &surrogate;
  surrogate.next = 0;
  return loss_of(forward(instance, pass), pass.mask).item().toDouble();
}

Surrogate recorded(const Instance& instance, Pass pass) {
  const NoGradGuard none;
  Surrogate surrogate;
  pass.surrogate = &surrogate;
  forward(instance, pass);
  surrogate.replays = true;
  return surrogate;
}

/// Along a direction in all tensors at once.
double along_all(const Instance& instance, const Pass& pass, const Gradients& analytic) {
  auto surrogate = recorded(instance, pass);
  auto tensors = parameters_of(instance);
  tensors.push_back(pass.queries);
  std::vector<Tensor> directions;
  double expected = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    auto direction = normal_like(tensors[i], 300 + i);
    // What stands under the mask has no gradient and must have none: poison says so.
    if (i + 1 == tensors.size() && pass.mask.defined())
      direction = direction.masked_fill(pass.mask.logical_not().unsqueeze(-1), 0);
    expected += (analytic.tensors[i] * direction).sum().item().toDouble();
    directions.push_back(std::move(direction));
  }
  const auto originals = copies(tensors);
  const auto at = [&](double by) {
    const NoGradGuard none;
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].copy_(originals[i] + directions[i] * by);
    return value_at(instance, pass, surrogate);
  };
  constexpr double step = 1e-6;
  const double numeric = (at(step) - at(-step)) / (2 * step);
  at(0);
  return std::abs(numeric - expected) / std::max(1.0, std::abs(expected));
}

/// The loss of two segments, the second one with the first one's state, as gradients see it.
Tensor two_segments(const Instance& instance, const Stand& stand, std::int64_t n, std::uint64_t seed) {
  const auto first = forward(instance, {random_tokens(4, n, seed)});
  const auto loss = loss_of(first);
  if (!stand.carries || first.state.empty()) return loss;
  return loss + loss_of(forward(instance, {.queries = random_tokens(4, n, seed + 100), .state = first.state}));
}

std::string stripped(const std::string& name) { return name.substr(name.starts_with("attention.") ? 10 : 0); }

/// What no gradient has reached of the parameters, by their names, in training on so many tokens at any stand that has it.
std::map<std::string, std::string> left_out(const AttentionSubject& subject, std::int64_t n) {
  std::map<std::pair<std::string, std::vector<std::int64_t>>, Tensor> reached;  // by name and shape: where one has arrived
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, Setting{stand, kDouble, true}, n);
    const auto entries = instance->parameters();
    const auto parameters = parameters_of(*instance);
    // Several passes: where a query chooses among heads, none may choose some head in one.
    for (const std::uint64_t seed : {2, 3, 4, 5}) {
      const auto loss = two_segments(*instance, stand, n, seed);
      refuse_unregistered(loss, parameters);
      if (parameters.empty()) continue;
      const auto found = gradients_of(loss, parameters);
      for (std::size_t i = 0; i < entries.size(); ++i) {
        auto& all = reached[{stripped(entries[i].name), found[i].sizes().vec()}];
        all = all.defined() ? all.logical_or(found[i].ne(0)) : found[i].ne(0);
      }
    }
  }
  std::map<std::string, std::string> missing;
  for (const auto& [key, where] : reached)
    if (const auto what = unreached(where, key.first); !what.empty()) missing[key.first] = what;
  return missing;
}

}  // namespace

void gradient(const AttentionSubject& subject, Finding& finding) {
  std::vector<std::int64_t> lengths = {subject.length(7)};
  if (subject.full()) lengths.push_back(subject.length(150));
  for (const auto& stand : subject.stands())
    for (const bool training : {false, true})
      for (const auto n : lengths)
        for (const bool padded : {false, true}) {
          if (padded && !subject.promises().key_padding) continue;
          const Setting setting{stand, kDouble, training};
          const auto where = fmt::format("{}, {} tokens{}", setting.text(), n, padded ? ", padded" : "");
          const auto instance = subject.make(1, setting, n);
          Pass pass{random_tokens(2, n, 2)};
          if (padded) pass.mask = padding_mask({n, subject.length(n / 2)}, n);
          const auto analytic = gradients(*instance, pass, pass.mask);
          finding.off_by(along_all(*instance, pass, analytic), where, kDifferences);
          if (training || padded || n > lengths.front()) continue;
          auto surrogate = recorded(*instance, pass);
          auto inputs = parameters_of(*instance);
          inputs.push_back(pass.queries);
          const auto value = [&] { return value_at(*instance, pass, surrogate); };
          for (std::size_t i = 0; i < inputs.size(); ++i)
            finding.off_by(finite_difference(value, inputs[i], analytic.tensors[i], 100 + i), where + ", " + analytic.names[i],
                           kDifferences);
        }
}

void additive(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(13);
  for (const auto& stand : subject.stands())
    for (const bool training : {false, true}) {
      const Setting setting{stand, kDouble, training};
      if (subject.draws(setting, finding)) continue;
      const auto instance = subject.make(1, setting);
      const bool padded = subject.promises().key_padding;
      const std::vector<std::int64_t> lengths = {n, padded ? subject.length(8) : n, padded ? subject.length(1) : n};
      const auto tokens = random_tokens(3, n, 2), weights = random_tokens(3, n, 23);
      const auto mask = padded ? padding_mask(lengths, n) : Tensor();
      const auto inputs = parameters_of(*instance);
      const auto loss = [&](const Tensor& output, const Tensor& weight) { return (output * weight).sum(); };
      auto whole = run(*instance, {tokens, {}, mask});
      auto weight = weights;
      if (padded) {
        const auto gone = mask.logical_not().unsqueeze(-1);
        whole = whole.masked_fill(gone, 0);
        weight = weight.masked_fill(gone, 0);
      }
      const auto together = gradients_of(loss(whole, weight), inputs);
      std::vector<Tensor> sum;
      for (std::int64_t i = 0; i < 3; ++i) {
        const auto own = lengths[static_cast<std::size_t>(i)];
        const auto alone = gradients_of(loss(run(*instance, {item(tokens, i, own)}), item(weights, i, own)), inputs);
        for (std::size_t k = 0; k < alone.size(); ++k) i == 0 ? sum.push_back(alone[k]) : void(sum[k] = sum[k] + alone[k]);
      }
      const auto entries = instance->parameters();
      for (std::size_t k = 0; k < sum.size(); ++k)
        finding.near(together[k], sum[k],
                     fmt::format("{}{}, gradient of {} in a batch, expected the sum of its items'", setting.text(),
                                 padded ? ", padded" : "", stripped(entries[k].name)));
    }
}

void trained(const AttentionSubject& subject, Finding& finding) {
  // A table by distance may be longer than a short sequence, and has then its gradients from a longer one.
  std::map<std::string, std::string> missing;  // by name
  for (const auto n : {subject.length(40), subject.length(150), subject.length(300), subject.length(1100)}) {
    const auto now = left_out(subject, n);
    if (n == subject.length(40)) missing = now;
    std::erase_if(missing, [&](const auto& one) { return now.count(one.first) == 0; });
    for (auto& [name, what] : missing) what = now.at(name);
    std::erase_if(missing, [&](const auto& one) {
      const auto* exempt = subject.candidate().exemptions->excuse("trained", one.first);
      if (exempt != nullptr) finding.say(fmt::format("{} has no gradient, exempt: {}", one.second, exempt->why));
      return exempt != nullptr;
    });
    if (missing.empty()) return finding.saw();
  }
  std::string all;
  for (const auto& [name, what] : missing) all += (all.empty() ? "" : ", ") + what;
  throw std::runtime_error("no gradient reaches " + all);
}

void auxiliary(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, Setting{stand, kDouble, true});
    const Pass pass{random_tokens(2, subject.length(13), 2)};
    const auto loss_at = [&](double factor) {
      const NoGradGuard none;
      const auto all = parameters_of(*instance);
      const auto originals = copies(all);
      for (const auto& tensor : all) tensor.mul_(factor);
      const auto loss = forward(*instance, pass).auxiliary_loss;
      for (std::size_t i = 0; i < all.size(); ++i) all[i].copy_(originals[i]);
      return loss;
    };
    const auto now = loss_at(1);
    if (!now.defined()) continue;
    finding.saw();
    const auto result = forward(*instance, pass);
    if (!result.auxiliary_loss.requires_grad())
      throw std::runtime_error(stand.text() + ": the auxiliary loss is cut off from every parameter");
    for (const double factor : {10.0, 100.0, 1000.0}) {
      const auto then = loss_at(factor);
      finding.finite(then, fmt::format("{}, auxiliary loss, parameters times {}", stand.text(), factor));
      const double floor = -10 * std::max(1.0, std::abs(now.item().toDouble()));
      if (then.item().toDouble() < floor)
        throw std::runtime_error(
            fmt::format("{}: the auxiliary loss falls from {:.3g} to {:.3g} where the parameters are {} "
                        "times as large: training would drive it down without end",
                        stand.text(), now.item().toDouble(), then.item().toDouble(), factor));
    }
  }
}

}  // namespace ablate::conformance
