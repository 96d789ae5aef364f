// Compares an attention's gradients with central differences, and checks which tensors the gradients reach.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>

#include "core/trial/conformance/attention/contract.h"
#include "core/trial/conformance/engine/registered.h"

namespace ablate::conformance {
namespace {

/// Returns passes over another sequence, plain and masked; a causal one is as long as the queries. Empty if not promised.
std::vector<Pass> across(const AttentionSubject& subject, const Stand& stand) {
  if (!subject.promises().cross_attention || stand.carries) return {};
  const auto n = subject.length(7), keys = stand.causal ? n : subject.length(11);
  const auto queries = random_tokens(2, n, 2);
  const auto pass = [&](const Tensor& mask, const Tensor& query_mask) {
    const auto context = stand.causal ? queries.clone() : random_tokens(2, keys, 4);
    return Pass{.queries = queries.clone(), .context = context, .mask = mask, .query_mask = query_mask};
  };
  std::vector<Pass> all = {pass({}, {})};
  if (!subject.promises().key_padding) return all;
  const auto mask = padding_mask({keys, subject.length(keys / 2)}, keys);
  all.push_back(pass(mask, stand.causal ? mask : Tensor()));
  return all;
}

/// Returns the loss of two segments. The second one continues from the first one's state, with gradients through this state.
Tensor two_segments(const Instance& instance, const Stand& stand, std::int64_t n, std::uint64_t seed) {
  const auto first = forward(instance, {random_tokens(4, n, seed)});
  const auto loss = loss_of(first);
  if (!stand.carries || first.state.empty()) return loss;
  return loss + loss_of(forward(instance, {.queries = random_tokens(4, n, seed + 100), .state = first.state}));
}

/// Elements that gradients have reached, by a parameter's name and shape.
using Reached = std::map<std::pair<std::string, std::vector<std::int64_t>>, Tensor>;

/// A gradient below this share of the largest gradient is the rounding of a sum that is 0.
constexpr double kCancelled = 1e-10;

/// True if these places of a layer's bias change no loss. An example is the keys' bias under a softmax, which changes all
/// scores of a query alike. The gradient there is only rounding.
bool changes_nothing(const Tensor& bias, const Tensor& places, const std::vector<Tensor>& all,
                     const std::function<Tensor()>& loss) {
  const auto is_weight = [&](const Tensor& x) {
    return x.dim() == 2 && (x.size(0) == bias.size(0) || x.size(1) == bias.size(0));
  };
  if (bias.dim() != 1 || std::none_of(all.begin(), all.end(), is_weight)) return false;
  const NoGradGuard none;
  const auto here = loss();
  const auto original = bias.detach().clone();
  // The step is so small that no cluster or bucket changes.
  bias.add_(normal_like(original, 8).masked_fill(places.logical_not(), 0), 1e-5);
  const auto there = loss();
  bias.copy_(original);
  return (there - here).abs().item().toDouble() <= 1e-10 * std::max(1.0, here.abs().item().toDouble());
}

void add_reached(const AttentionSubject& subject, const Stand& stand, std::uint64_t weights, std::int64_t n, Reached& reached) {
  const auto instance = subject.make(weights, Setting{stand, kDouble, true}, n);
  const auto entries = instance->parameters();
  const auto parameters = parameters_of(*instance);
  // Several passes: if a query chooses among heads, one pass may leave some head unchosen.
  for (const std::uint64_t seed : {2, 3, 4, 5}) {
    const auto value = [&] { return two_segments(*instance, stand, n, seed); };
    const auto loss = value();
    refuse_unregistered(loss, parameters);
    if (parameters.empty()) continue;
    const auto found = gradients_of(loss, parameters);
    double largest = 0;
    for (const auto& gradient : found)
      if (gradient.numel() > 0) largest = std::max(largest, gradient.abs().max().item().toDouble());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto name = stripped(entries[i].name);
      auto here = found[i].abs() > largest * kCancelled;
      if (!here.all().item().toBool() && changes_nothing(parameters[i], here.logical_not(), parameters, value))
        here = found[i].abs() > 0;
      auto& all = reached[{name, found[i].sizes().vec()}];
      all = all.defined() ? all.logical_or(here) : here;
    }
  }
}

/// Copies the second place of each table of positions over its first place, because the first causal token sees only itself.
Tensor but_for_first(const Tensor& reached, std::int64_t n) {
  auto all = reached.clone();
  for (std::int64_t dim = 0; dim < all.dim(); ++dim)
    if (all.size(dim) == n) all.narrow(dim, 0, 1).copy_(all.narrow(dim, 1, 1).clone());
  return all;
}

/// Describes the parts of parameters that no gradient reached, by name, in training on n tokens. Covers all causal or
/// all bidirectional places, with all surroundings. Some places have a state, because a parameter may serve only a state.
std::map<std::string, std::string> left_out(const AttentionSubject& subject, bool causal, std::int64_t n) {
  Reached reached;
  std::map<std::string, std::string> missing;
  // Tries several weights, because some weights may close a gate that other weights open.
  const std::uint64_t most = n <= subject.length(40) ? 12 : n <= subject.length(300) ? 3 : 1;
  for (std::uint64_t weights = 1; weights <= most; ++weights) {
    for (const auto& stand : subject.stands())
      if (stand.causal == causal) add_reached(subject, stand, weights, n, reached);
    missing.clear();
    for (const auto& [key, where] : reached)
      if (const auto what = unreached(causal ? but_for_first(where, n) : where, key.first); !what.empty())
        missing[key.first] = what;
    if (missing.empty()) break;
  }
  return missing;
}

/// Returns the loss at the current parameters and inputs. Straight-through calls are replayed (ablate/surrogate.h).
double value_at(const Instance& instance, Pass pass, const std::shared_ptr<Surrogate>& surrogate) {
  const NoGradGuard none;
  pass.surrogate = surrogate;
  surrogate->next = 0;
  return loss_of(forward(instance, pass), queries_of(pass)).item().toDouble();
}

std::shared_ptr<Surrogate> recorded(const Instance& instance, Pass pass) {
  const NoGradGuard none;
  pass.surrogate = std::make_shared<Surrogate>();
  forward(instance, pass);
  pass.surrogate->replays = true;
  return pass.surrogate;
}

/// Returns the tensors whose gradients gradients() returns, in the same order.
std::vector<Tensor> variables_of(const Instance& instance, const Pass& pass) {
  auto all = parameters_of(instance);
  all.push_back(pass.queries);
  if (pass.context.defined()) all.push_back(pass.context);
  return all;
}

/// Compares the gradients with central differences along one direction in all tensors at once.
Difference along_all(const Instance& instance, const Pass& pass, const std::vector<Named>& analytic) {
  const auto surrogate = recorded(instance, pass);
  const auto tensors = variables_of(instance, pass);
  std::vector<Tensor> directions;
  double expected = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    auto direction = normal_like(tensors[i], 300 + i);
    // Padded inputs must have no gradient: the check "poison" covers that.
    const auto& what = analytic[i].what;
    const auto mask = what == "gradient of queries" ? queries_of(pass) : what == "gradient of context" ? pass.mask : Tensor();
    if (mask.defined()) direction = direction.masked_fill(mask.logical_not().unsqueeze(-1), 0);
    expected += (analytic[i].value * direction).sum().item().toDouble();
    directions.push_back(std::move(direction));
  }
  const auto originals = copies(tensors);
  const auto at = [&](double by) {
    const NoGradGuard none;
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].copy_(originals[i] + directions[i] * by);
    return value_at(instance, pass, surrogate);
  };
  const auto off = off_differences(at, expected);
  at(0);
  return off;
}

/// Compares the gradient of each tensor alone with central differences, along the tensor's own direction.
std::vector<Difference> one_by_one(const Instance& instance, const Pass& pass, const std::vector<Named>& analytic) {
  const auto surrogate = recorded(instance, pass);
  const auto value = [&] { return value_at(instance, pass, surrogate); };
  std::vector<Difference> off;
  for (const auto& tensor : variables_of(instance, pass))
    off.push_back(finite_difference(value, tensor, analytic[off.size()].value, 100 + off.size()));
  return off;
}

/// Adds the gradients' errors to the finding. Returns false, and adds none, if a discrete choice changed and hid the errors.
bool judged(const Instance& instance, const Pass& pass, bool each, const std::string& where, Finding& finding) {
  const auto analytic = gradients(instance, pass, queries_of(pass));
  const auto all = along_all(instance, pass, analytic);
  const bool is_right = !all.turns && all.off <= kDifferences.error;
  if (is_right && !each) {
    finding.off_by(all.off, where, kDifferences);
    return true;
  }
  const auto off = one_by_one(instance, pass, analytic);
  const auto is_wrong = [](const Difference& one) { return !one.turns && !(one.off <= kDifferences.error); };
  const bool has_name = std::any_of(off.begin(), off.end(), is_wrong);
  const bool turns = all.turns || std::any_of(off.begin(), off.end(), [](const Difference& one) { return one.turns; });
  if (turns && !has_name) return false;
  if (is_right) finding.off_by(all.off, where, kDifferences);
  for (std::size_t i = 0; i < off.size(); ++i)
    if (!off[i].turns) finding.off_by(off[i].off, where + ", " + analytic[i].what.substr(kGradientOf.size()), kDifferences);
  if (!is_right && !has_name) finding.off_by(all.off, where + ", along all of them at once", kDifferences);
  return true;
}

}  // namespace

void gradient(const AttentionSubject& subject, Finding& finding) {
  std::vector<std::int64_t> lengths = {subject.length(7)};
  if (subject.full()) lengths.push_back(subject.length(150));
  for (const auto& setting : subject.settings(subject.stands(), kDouble)) {
    for (const auto n : lengths)
      for (const bool padded : {false, true}) {
        if (padded && !subject.promises().key_padding) continue;
        Pass pass{random_tokens(2, n, 2)};
        if (padded) pass.mask = padding_mask({n, subject.length(n / 2)}, n);
        differences(*subject.make(1, setting, n), pass, !setting.training && !padded && n == lengths.front(),
                    fmt::format("{}, {} tokens{}", setting.text(), n, padded ? ", padded" : ""), finding);
      }
    for (const auto& pass : across(subject, setting.stand))
      differences(*subject.make(1, setting), pass, false,
                  setting.text() + ", over another sequence" + (pass.mask.defined() ? ", padded" : ""), finding);
  }
}

void additive(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(13);
  for (const auto& setting : subject.settings(subject.stands(), kDouble)) {
    if (subject.draws(setting, finding)) continue;
    const auto instance = subject.make(1, setting);
    const bool padded = subject.promises().key_padding;
    const std::vector<std::int64_t> lengths = {n, padded ? subject.length(8) : n, padded ? subject.length(1) : n};
    const auto tokens = random_tokens(3, n, 2), weights = random_tokens(3, n, 23);
    const auto mask = padded ? padding_mask(lengths, n) : Tensor();
    const auto inputs = parameters_of(*instance);
    const auto loss = [&](const Tensor& output, const Tensor& weight) { return (output * weight).sum(); };
    const auto together = gradients_of(loss(real(run(*instance, {tokens, {}, mask}), mask), real(weights, mask)), inputs);
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
  std::string all;
  for (const bool causal : {false, true}) {
    if (!(causal ? subject.promises().causal : subject.promises().bidirectional)) continue;
    // A table by distance may be longer than a short sequence. A longer sequence then reaches all rows of the table.
    std::map<std::string, std::string> missing;  // by name
    for (const auto n : {subject.length(40), subject.length(150), subject.length(300), subject.length(1100)}) {
      const auto now = left_out(subject, causal, n);
      if (n == subject.length(40)) missing = now;
      std::erase_if(missing, [&](const auto& one) { return now.count(one.first) == 0; });
      for (auto& [name, what] : missing) what = now.at(name);
      std::erase_if(missing, [&](const auto& one) {
        const auto* exempt = subject.candidate().exemptions->excuse("trained", one.first);
        if (exempt != nullptr) finding.say(fmt::format("{} has no gradient, exempt: {}", one.second, exempt->why));
        return exempt != nullptr;
      });
      if (missing.empty()) break;
    }
    finding.saw();
    for (const auto& [name, what] : missing)
      all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", what, Stand{causal}.text());
  }
  if (!all.empty()) throw std::runtime_error("no gradient reaches " + all);
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
    const double size = std::max(1.0, std::abs(now.item().toDouble()));
    const auto refuse = [&](double from, double to, double factor) {
      throw std::runtime_error(
          fmt::format("{}: the auxiliary loss falls from {:.3g} to {:.3g} if the parameters are {} "
                      "times as large: training would drive it down without end",
                      stand.text(), from, to, factor));
    };
    for (const double factor : {0.001, 0.01, 0.1, 10.0, 100.0, 1000.0, -0.1, -1.0, -10.0, -100.0, -1000.0}) {
      const auto then = loss_at(factor);
      if (factor > 0) finding.finite(then, fmt::format("{}, auxiliary loss, parameters times {}", stand.text(), factor));
      if (const double worth = then.item().toDouble(); worth < -10 * size) refuse(now.item().toDouble(), worth, factor);
    }
    // The loss must converge when the parameters go to 0. A logarithm does not converge.
    const double small = loss_at(1e-20).item().toDouble(), smaller = loss_at(1e-30).item().toDouble();
    if (small - smaller >= 0.01 * size) refuse(small, smaller, 1e-30);
  }
}

void differences(const Instance& instance, const Pass& pass, bool each, const std::string& where, Finding& finding) {
  // Queries and context get the same factor, so that a context that equals the queries stays equal.
  for (const double size : {1.0, 0.9, 1.1}) {
    auto elsewhere = pass;
    for (auto* tensor : {&elsewhere.queries, &elsewhere.context})
      if (tensor->defined()) *tensor = *tensor * size;
    if (judged(instance, elsewhere, each, where, finding)) return;
  }
  finding.leave(kTurns);
}

}  // namespace ablate::conformance
