// Gradients of a compression: their values, and the tensors that they reach.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <stdexcept>

#include "core/trial/conformance/compression/contract.h"
#include "core/trial/conformance/engine/registered.h"

namespace ablate::conformance {
namespace {

/// Returns the tensors whose gradients pass() returns, in the same order.
std::vector<Tensor> leaves_of(const CompressionInstance& compression, const CompressionInputs& in) {
  std::vector<Tensor> all = {in.queries, in.keys, in.values};
  for (const auto& parameter : parameters_of(compression)) all.push_back(parameter);
  return all;
}

/// Returns the difference of each gradient in `analytic` from central differences of `value`.
template <class Value>
std::vector<Difference> off_each(const Value& value, const std::vector<Tensor>& leaves, const std::vector<Named>& analytic) {
  std::vector<Difference> all;
  for (std::size_t i = 0; i < leaves.size(); ++i) all.push_back(finite_difference(value, leaves[i], analytic[i].value, 20 + i));
  return all;
}

/// Returns for each parameter the elements with a nonzero gradient of the reads or of the auxiliary loss. Covers
/// whole and padded items, and a write onto a held memory of fixed slots if `extends` is promised.
std::vector<Tensor> places_reached(const CompressionSubject& subject, const CompressionInstance& compression,
                                   const CompressionSetting& setting) {
  const auto n = setting.longest;
  std::vector<Tensor> reached(compression->parameters().size());
  const auto held = write(compression, inputs_of(n, {}, 5));
  const bool extends = subject.promises().extends && setting.slots.fixed > 0;
  for (const std::uint64_t seed : {7, 8, 9})
    for (const int how : {0, 1, 2})
      for (const bool auxiliary : {false, true}) {
        if (how == 2 && !extends) continue;
        const auto in = inputs_of(n, how == 1 ? subject.lengths({n, 20, 3}) : std::vector<std::int64_t>{}, seed);
        const auto found = pass(compression, in, {.held = how == 2 ? &held : nullptr, .of_auxiliary = auxiliary}).gradients;
        for (std::size_t i = 0; !found.empty() && i < reached.size(); ++i) {
          const auto here = found[i + 3].value.ne(0);
          reached[i] = reached[i].defined() ? reached[i].logical_or(here) : here;
        }
      }
  return reached;
}

}  // namespace

void gradient(const CompressionSubject& subject, Finding& finding) {
  // Returns true if no discrete choice changed within a step of the differences.
  const auto look_at = [&](const CompressionSetting& setting, std::int64_t n, bool masked, std::uint64_t seed) {
    const auto compression = subject.make(setting);
    const auto in =
        inputs_of(n, masked ? subject.lengths({n, (n + 1) / 2, 1}) : std::vector<std::int64_t>{}, seed, 3, setting.shape);
    const auto surrogate = std::make_shared<Surrogate>();
    const auto analytic = pass(*compression, in, {.surrogate = surrogate}).gradients;
    const auto place = fmt::format("{}, {} tokens{}", setting.text(), n, masked ? ", masked" : "");
    surrogate->replays = true;
    const auto value = [&] {
      surrogate->next = 0;
      return pass(*compression, in, {.surrogate = surrogate, .with_gradients = false}).loss;
    };
    const auto off = off_each(value, leaves_of(*compression, in), analytic);
    bool turns = false;
    for (std::size_t i = 0; i < off.size(); ++i) {
      turns = turns || off[i].turns;
      if (!off[i].turns) finding.off_by(off[i].off, place + ", " + analytic[i].what, kDifferences);
    }
    if (!surrogate->calls.empty() && n == subject.length(9) && masked && !setting.training)
      finding.say("straight-through, against the surrogate that it declares");
    return !turns;
  };
  const auto look = [&](const CompressionSetting& setting, std::int64_t n, bool masked) {
    for (const std::uint64_t seed : {7, 8, 9})
      if (look_at(setting, n, masked, seed)) return;
    finding.leave(kTurns);
  };
  if (subject.full()) {
    for (const auto n : subject.lengths({1, 2, 3, 4, 5, 6, 7})) look({subject.usual(), kDouble}, n, false);
    look({subject.usual(), kDouble, true, 64, kFourHeads}, subject.length(20), true);
  }
  for (const bool training : {false, true})
    for (const bool masked : {false, true}) {
      for (const auto& slots : {Slots{subject.rates().front()}, subject.usual(), subject.uneven()})
        look({slots, kDouble, training}, subject.length(9), masked);
      if (subject.full()) look({subject.usual(), kDouble, training, 150}, subject.length(150), masked);
      // A method may have a separate path for complete segments.
      if (subject.full() && subject.takes(kLowest))
        look({{kLowest}, kDouble, training, 128}, subject.length(2 * kLowest.denominator), masked);
      if (subject.promises().fixed_slots) look({{.fixed = 4}, kDouble, training}, subject.length(9), masked);
    }
}

void trained(const CompressionSubject& subject, Finding& finding) {
  // A table by position may be longer than a short sequence. A longer sequence then reaches all rows of the table.
  std::vector<CompressionSetting> settings;
  for (const std::int64_t n : {64, 300, 1100}) {
    settings.push_back({subject.usual(), kDouble, true, subject.length(n)});
    if (subject.promises().fixed_slots) settings.push_back({{.fixed = 4}, kDouble, true, subject.length(n)});
  }
  finding.saw();
  std::map<std::string, std::string> dead;  // for each parameter, the part that no setting reached
  for (const auto& setting : settings) {
    const auto n = setting.longest;
    const auto is_settled = [&](const auto& one) {
      return one.second.empty() || subject.candidate().exemptions->excuse("trained", one.first) != nullptr;
    };
    if (n > subject.length(64) && std::all_of(dead.begin(), dead.end(), is_settled)) break;
    const auto compression = subject.make(setting);
    const auto parameters = compression->parameters();
    const auto some = inputs_of(n, {});
    const auto memory = write(*compression, some);
    for (const auto similarity : kSimilarities)
      refuse_unregistered(read(*compression, some.queries, memory, similarity).sum(), parameters_of(*compression));
    const auto reached = places_reached(subject, *compression, setting);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto& name = parameters[i].name;
      const auto left = unreached(reached[i], name);
      if (left.empty())
        dead[name].clear();
      else if (dead.count(name) == 0)
        dead[name] = fmt::format("{}: no gradient reaches {}", setting.text(), left);
    }
  }
  for (const auto& [name, what] : dead) {
    if (what.empty()) continue;
    const auto* exempt = subject.candidate().exemptions->excuse("trained", name);
    if (exempt == nullptr) throw std::runtime_error(what);
    finding.say(fmt::format("{}: {}", name, exempt->why));
  }
}

void reach(const CompressionSubject& subject, Finding& finding) {
  // Heads are separate memories: each head reads its own values.
  const auto look_at_heads = [&](const HeadShape& shape) {
    const CompressionSetting setting{subject.usual(), kDouble, false, 64, shape};
    const auto compression = subject.make(setting);
    auto in = inputs_of(subject.length(40), {}, 7, 3, shape);
    in.values.requires_grad_();
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      const auto found = read(compression, in.queries, write(compression, in), Similarity::kSoftmax).select(1, head);
      if (gradients_of(found.sum(), {in.values})[0].select(1, head).eq(0).all().item().toBool())
        throw std::runtime_error(fmt::format("{}: reads of head {} do not depend on its values", setting.text(), head));
    }
  };
  // A method that selects tokens selects each token in at least one of `contents` items.
  const auto look = [&](const Slots& slots, std::int64_t n, std::int64_t contents) {
    for (const bool training : {false, true})
      for (const bool masked : {false, true}) {
        const CompressionSetting setting{slots, kDouble, training, n};
        const auto own = masked ? subject.length(n - 2) : n;
        const auto in = inputs_of(
            n, masked ? std::vector<std::int64_t>(static_cast<std::size_t>(contents), own) : std::vector<std::int64_t>{}, 7,
            contents);
        const auto gradient = pass(*subject.make(setting), in).gradients[2].value.narrow(2, 0, own);
        const auto left_out = gradient.ne(0).transpose(0, 2).flatten(1).any(1).logical_not().nonzero().flatten();
        finding.saw();
        if (left_out.numel() > 0)
          throw std::runtime_error(fmt::format("{}, {} tokens{}: no read depends on the values of {} of them, from {} on{}",
                                               setting.text(), own, masked ? ", masked" : "", left_out.numel(),
                                               left_out[0].item().toLong(), kWhereSparse));
      }
  };
  look(subject.usual(), subject.length(13), 48);
  if (!subject.full()) return;
  for (const auto& shape : {kFourHeads, kEightHeads}) look_at_heads(shape);
  for (const std::int64_t n : {65, 300}) look(subject.usual(), subject.length(n), 48);
  look(subject.usual(), subject.length(1100), 24);
  if (subject.takes(kLowest)) look({kLowest}, subject.length(80), 512);
}

void auxiliary(const CompressionSubject& subject, Finding& finding) {
  for (const bool training : {false, true})
    for (const bool masked : {false, true}) {
      const auto n = subject.length(12);
      const CompressionSetting setting{subject.usual(), kDouble, training};
      const auto compression = subject.make(setting);
      const auto in = inputs_of(n, masked ? subject.lengths({12, 5, 1}) : std::vector<std::int64_t>{});
      const auto place = setting.text() + (masked ? ", masked" : "");
      const auto value = [&] {
        const auto found = pass(*compression, in, {.with_gradients = false}).auxiliary;
        return found.defined() ? found.item().toDouble() : 0.0;
      };
      const auto base = pass(*compression, in, {.of_auxiliary = true});
      if (!base.auxiliary.defined()) continue;
      finding.finite(base.auxiliary, place);
      const auto leaves = leaves_of(*compression, in);
      // A loss whose graph is cut has no gradients. Gradients may stop before the inputs, but not before a parameter.
      auto analytic = base.gradients;
      if (analytic.empty()) throw std::runtime_error(place + ": the auxiliary loss has no graph");
      const auto off = off_each(value, leaves, analytic);
      bool reaches = false;
      for (const auto& one : analytic) reaches = reaches || one.value.ne(0).any().item().toBool();
      if (!reaches) throw std::runtime_error(place + ": the auxiliary loss has no gradient anywhere");
      for (std::size_t i = 0; i < off.size(); ++i)
        if (off[i].turns)
          finding.leave(kTurns);
        else if (i >= 3 || analytic[i].value.ne(0).any().item().toBool())
          finding.off_by(off[i].off, place + ", auxiliary loss, " + analytic[i].what, kDifferences);
      if (masked) {
        const auto other = pass(*compression, in.padded_with(std::nan("")), {.of_auxiliary = true});
        finding.near(other.auxiliary, base.auxiliary, place + ", auxiliary loss with NaN under the mask", kRounding);
      }
      // Checks the loss while parameters or inputs grow. If the loss kept falling, training would make them grow without end.
      const auto falls = [&](const std::vector<Tensor>& scaled, double sign, const char* what) {
        if (scaled.empty()) return;
        const PutBack usual(scaled);
        const auto originals = copies(scaled);
        std::vector<double> worth;
        for (const double by : {1.0, 10.0, 100.0, 1000.0}) {
          const NoGradGuard none;
          for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i].copy_(originals[i] * (by * sign));
          worth.push_back(value());
        }
        const double size = std::max(1.0, std::abs(worth[0]));
        if (worth[2] - worth[3] >= size)
          throw std::runtime_error(
              fmt::format("{}: {} by {} 1, 10, 100 and 1000, the auxiliary loss is {:.4g}, {:.4g}, {:.4g} and {:.4g}", place,
                          what, sign > 0 ? "plus" : "minus", worth[0], worth[1], worth[2], worth[3]));
      };
      for (const double sign : {1.0, -1.0}) {
        falls(parameters_of(*compression), sign, "with parameters times");
        falls({in.queries, in.keys, in.values}, sign, "with inputs times");
      }
    }
}

}  // namespace ablate::conformance
