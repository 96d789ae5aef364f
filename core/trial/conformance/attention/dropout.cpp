// Checks dropout of attention weights: the mean over draws must be the output without dropout. Reads weights one by one to
// check how many are dropped, and that each item, head, query and key has its own draws.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "core/trial/conformance/attention/contract.h"
#include "core/trial/conformance/attention/layers.h"
#include "core/trial/conformance/engine/registered.h"

namespace ablate::conformance {
namespace {

constexpr double kDropped = 0.4;
constexpr std::uint64_t kFewDraws = 100, kManyDraws = 400;

/// Statistics of outputs over many seeds.
struct Draws {
  Tensor mean, variance;  ///< variance of the mean
};

Draws draws_of(const Instance& instance, Pass pass, std::uint64_t count) {
  pass.seed = 100;
  const auto first = real(run(instance, pass), pass.mask);  // subtracted, so that squares lose no digits
  auto sum = zeros_like(first), squares = zeros_like(first);
  for (std::uint64_t draw = 1; draw < count; ++draw) {
    ++pass.seed;
    const auto off = real(run(instance, pass), pass.mask) - first;
    sum += off;
    squares += off * off;
  }
  const double all = static_cast<double>(count);
  const auto mean = sum / all;
  return {first + mean, (squares / all - mean * mean).clamp_min(0) / all};
}

/// Checks that dropping weights changes the output, and that the mean over many draws is the output without dropout. If the
/// method also draws for another reason, both outputs are means. The distance is in standard errors, over the whole output.
void unbiased(const Instance& dropping, const Instance& plain, const Pass& pass, std::uint64_t count, const std::string& where,
              Finding& finding) {
  const NoGradGuard none;
  const auto found = draws_of(dropping, pass, count);
  auto other = pass;
  ++other.seed;
  const bool draws = !run(plain, other).equal(run(plain, pass));
  const auto expected = draws_of(plain, pass, draws ? count : 1);
  const auto total = [](const Tensor& x) { return x.sum().item().toDouble(); };
  if (found.variance.max().item().toDouble() < 1e-22) throw std::runtime_error(where + ": nothing is dropped in training");
  const auto error = total((found.mean - expected.mean).square()) / (total(found.variance) + total(expected.variance));
  constexpr Allowed allowed{3, "squared distance in standard errors, expected 1; correlated numbers may increase it"};
  finding.off_by(error, fmt::format("{}: the mean of {} draws is off", where, count), allowed);
}

/// Rate p of dropout in the check of draws. Weights that are kept with probability p, not 1 - p, have nine times the variance.
constexpr double kDrawn = 0.25;
/// Number of keys that one pass distinguishes, each by its own channel. Scores depend only on the other channels.
constexpr std::int64_t kKeysAtOnce = 8;
/// A method may draw once for several queries, for instance for a cluster. Up to this many weights count as one draw.
constexpr double kSharing = 8;
/// Draws with at least this correlation count as the same. With fewer than kFewestPairs pairs, chance may correlate draws.
constexpr double kTogether = 0.8;
constexpr double kFewestPairs = 480;
constexpr double kSeen = 1e-8;  // smaller weights count as 0

/// Sets layers so that each value is the key's code and each output shows the values that were read: outputs are then weights.
/// Other layers read only the channels without a code. Returns false if no such layers were found.
bool read_out(const Instance& instance, const Layers& layers) {
  const NoGradGuard none;
  const auto in_groups = [](std::int64_t channels) { return channels % kKeysAtOnce == 0; };
  std::int64_t inner = 0;
  for (const auto& layer : layers.outputs) inner += in_groups(layer.weight.size(1)) ? layer.weight.size(1) : 0;
  if (layers.values.empty() || inner != AttentionSubject::kChannels) return false;
  for (const auto& layer : layers.values)
    if (!in_groups(layer.weight.size(0))) return false;
  for (const auto& entry : instance.parameters()) {
    const auto& x = entry.tensor;
    const auto tokens = layers.values.front().turned && x.dim() > 1 ? x.dim() - 2 : x.dim() - 1;
    if (x.dim() > 0 && x.size(tokens) == AttentionSubject::kChannels) x.narrow(tokens, 0, kKeysAtOnce).zero_();
  }
  const auto set = [](const Layer& layer, const Tensor& column, std::int64_t columns) {
    layer.weight.copy_(column.unsqueeze(1).eq(arange(columns)));
    if (layer.bias.defined()) layer.bias.zero_();
  };
  for (const auto& layer : layers.values)
    set(layer, arange(layer.weight.size(0)).remainder(kKeysAtOnce), AttentionSubject::kChannels);
  std::int64_t first = 0;  // first output channel that shows what this layer reads
  for (const auto& layer : layers.outputs) {
    set(layer, arange(AttentionSubject::kChannels) - first, layer.weight.size(1));
    first += layer.weight.size(1);
  }
  return true;
}

/// Code of the keys. kPlain: each key has a 1 in its own channel. kScaled: 0.5, 0.75, ... kTurned: two keys exchange channels.
enum class Coded { kPlain, kScaled, kTurned };

/// Two equal items. In a short sequence every key has a code, in a long one only some keys: at the start, near 128, at the end.
struct CodedKeys {
  std::int64_t n;
  std::vector<std::vector<std::int64_t>> keys;  ///< by pass
  bool masked = false;

  std::int64_t count() const {
    std::int64_t all = 0;
    for (const auto& some : keys) all += static_cast<std::int64_t>(some.size());
    return all;
  }
  Pass pass(const std::vector<std::int64_t>& some, const std::vector<double>& codes, std::uint64_t seed) const {
    Pass pass{random_tokens(1, n, 3)};
    pass.queries.narrow(2, 0, kKeysAtOnce).zero_();
    for (std::size_t c = 0; c < some.size(); ++c) pass.queries[0][some[c]][static_cast<std::int64_t>(c)].fill_(codes[c]);
    pass.queries = pass.queries.expand({2, -1, -1}).contiguous();
    if (masked) pass.mask = padding_mask({n, n}, n);
    pass.seed = seed;
    return pass;
  }
  /// Returns outputs divided by codes: [items, n, groups of channels, keys]. A group is a head or a part of one head.
  /// @param passes maximum number of passes to use, from the first one on
  Tensor weights(const Instance& instance, std::uint64_t seed, Coded coded = Coded::kPlain, std::size_t passes = 100) const {
    std::vector<Tensor> all;
    for (const auto& given : keys) {
      if (all.size() == passes) break;
      auto some = given;
      if (coded == Coded::kTurned)
        for (std::size_t c = 0; c + 1 < some.size(); c += 2) std::swap(some[c], some[c + 1]);
      std::vector<double> codes(some.size(), 1);
      for (std::size_t c = 0; coded == Coded::kScaled && c < codes.size(); ++c) codes[c] = 0.5 + 0.25 * static_cast<double>(c);
      const auto read = run(instance, pass(some, codes, seed)).unflatten(2, {-1, kKeysAtOnce});
      std::vector<Tensor> by_key;
      for (std::size_t c = 0; c < some.size(); ++c) {
        const auto channel = coded == Coded::kTurned && (c ^ 1) < some.size() ? c ^ 1 : c;
        by_key.push_back(read.select(3, static_cast<std::int64_t>(channel)) / codes[c]);
      }
      all.push_back(ablate::stack(by_key, 3));
    }
    return ablate::cat(all, 3);
  }
};

CodedKeys coded_keys(std::int64_t n) {
  CodedKeys all{n, {}};
  const auto add = [&](std::int64_t first) {
    auto& some = all.keys.emplace_back();
    for (std::int64_t key = first; key < std::min(n, first + kKeysAtOnce); ++key) some.push_back(key);
  };
  if (n < 100)
    for (std::int64_t first = 0; first < n; first += kKeysAtOnce) add(first);
  else
    for (const auto first : {std::int64_t{0}, std::min<std::int64_t>(124, n - kKeysAtOnce), n - kKeysAtOnce}) add(first);
  return all;
}

/// Drawn factors: a weight divided by its value without dropout. If each weight is drawn alone, a factor is 0 or a constant.
struct Factors {
  Tensor expected;  ///< [items, n, groups, keys]: the weight
  Tensor seen;      ///< bool, same shape: the weight is not 0
  Tensor drawn;     ///< [draws, items, n, groups, keys]
  bool is_plain;    ///< each factor is 0, 1 (never dropped), or one number common to all; so no weight is a sum
};

double sum_of(const Tensor& x) { return x.sum().item().toDouble(); }

Factors factors_of(const Instance& dropping, const Tensor& expected, const CodedKeys& keys, std::uint64_t draws) {
  Factors all{expected, expected.abs() > kSeen, {}, false};
  const auto whole = expected.masked_fill(all.seen.logical_not(), 1);
  std::vector<Tensor> drawn;
  for (std::uint64_t draw = 0; draw < draws; ++draw)
    drawn.push_back((keys.weights(dropping, 100 + draw) / whole).masked_fill(all.seen.logical_not(), 1));
  all.drawn = ablate::stack(drawn);
  const auto off =
      all.drawn.abs().minimum((all.drawn - all.drawn.max()).abs()).minimum((all.drawn - 1).abs());  // 1: not dropped
  all.is_plain = sum_of(off > 1e-6) < 0.01 * static_cast<double>(draws) * sum_of(all.seen);
  return all;
}

/// Returns a bound for the error of a mean of `count` numbers in [0, 1]. By chance, one of some hundred means exceeds it once
/// in 10^10 times (Hoeffding).
double by_chance(double count) { return std::sqrt(15 * kSharing / count); }
constexpr const char* kByChance = "by chance, the mean of that many draws is off by more once in 10^10 times (Hoeffding)";

/// Checks the share of dropped weights, over all and along each axis. For sums of several weights, checks only the variance.
void share(const Factors& all, const std::string& where, Finding& finding) {
  const auto seen = all.seen.expand_as(all.drawn);
  const auto square = (all.drawn - 1).square().masked_fill(seen.logical_not(), 0);
  const double count = sum_of(seen), usual = kDrawn / (1 - kDrawn);
  if (count == 0) return;
  finding.off_by(
      std::max(0.0, sum_of(square) / count - usual),
      fmt::format("{}: a weight divided by its value without dropout has a variance of {:.3g}, expected p / (1 - p) = {:.3g}",
                  where, sum_of(square) / count, usual),
      {by_chance(count), kByChance});
  if (!all.is_plain) return;
  const auto gone = (all.drawn < 0.5).logical_and(seen);
  const auto look = [&](const Tensor& dropped, const Tensor& of, const std::string& what) {
    const double some = sum_of(of);
    if (some == 0 || by_chance(some) > kDrawn) return;  // too few to judge
    const double found = sum_of(dropped) / some;
    finding.off_by(
        std::abs(found - kDrawn),
        fmt::format("{}: {:.1f} % of the weights{} are dropped, expected {:.0f} %", where, 100 * found, what, 100 * kDrawn),
        {by_chance(some), kByChance});
  };
  look(gone, seen, "");
  const std::pair<std::int64_t, const char*> axes[] = {{1, "item"}, {3, "group of channels"}, {4, "key"}};
  for (const auto& [axis, name] : axes)
    for (std::int64_t i = 0; i < seen.size(axis); ++i)
      look(gone.select(axis, i), seen.select(axis, i), fmt::format(" of {} {}", name, i));
  constexpr std::int64_t rows = 32;
  for (std::int64_t i = 0; i + rows <= seen.size(2); i += rows)
    look(gone.narrow(2, i, rows), seen.narrow(2, i, rows), fmt::format(" of queries {} to {}", i, i + rows - 1));
}

/// Checks that two parts of `drawn` were not drawn together: `count` entries of the axis from `first` on and from `other` on.
/// @param alike false: leaves out equal weights, which may share draws, like the queries of a cluster
void apart(const Factors& all, std::int64_t axis, std::int64_t first, std::int64_t other, std::int64_t count, bool alike,
           const std::string& where, Finding& finding) {
  const auto one = all.drawn.narrow(axis, first, count) - 1, two = all.drawn.narrow(axis, other, count) - 1;
  const auto weight = all.expected.narrow(axis - 1, first, count), mate = all.expected.narrow(axis - 1, other, count);
  auto both = all.seen.narrow(axis - 1, first, count).logical_and(all.seen.narrow(axis - 1, other, count));
  if (!alike) both = both.logical_and((weight - mate).abs() > weight.abs() * 1e-9);
  both = both.expand_as(one);
  if (sum_of(both) < kFewestPairs) return;
  const auto gone = both.logical_not();
  const auto product = [&](const Tensor& x, const Tensor& y) { return sum_of((x * y).masked_fill(gone, 0)); };
  const double size = std::sqrt(product(one, one) * product(two, two));
  if (size == 0) return;
  finding.off_by(std::max(0.0, product(one, two) / size), where + ": the correlation of the dropped weights",
                 {kTogether, "independent draws have a correlation of 0"});
}

/// Checks that the weights of one query are not all dropped together. The allowed correlation covers keys that share a slot.
void rows_apart(const Factors& all, const std::string& where, Finding& finding) {
  const auto off = all.drawn - 1;
  const auto count = all.seen.sum(-1).expand_as(off.select(-1, 0)), squares = off.square().sum(-1);
  const double pairs = sum_of(count * (count - 1));
  if (pairs < kFewestPairs) return;
  const double together = sum_of(off.sum(-1).square() - squares), most = sum_of(squares * (count - 1).clamp_min(0));
  if (most > 0)
    finding.off_by(std::max(0.0, together / most), where + ", keys of one query: the correlation of the dropped weights",
                   {kTogether, "independent draws have a correlation of 0"});
}

void apart(const Factors& all, const std::string& where, Finding& finding) {
  const auto groups = all.drawn.size(3), n = all.drawn.size(2);
  apart(all, 1, 0, 1, 1, true, where + ", two items of a batch", finding);
  for (std::int64_t g = 1; g < groups; ++g)
    apart(all, 3, 0, g, 1, false,
          fmt::format("{}, channels 0 to {} and {} to {}", where, kKeysAtOnce - 1, g * kKeysAtOnce, (g + 1) * kKeysAtOnce - 1),
          finding);
  // Compares queries at these distances, because faulty code may use the same draws for all queries, or for all of a block.
  for (std::int64_t by = 1; by < n; by = by < 8 ? by + 1 : by + 8 - by % 8)
    apart(all, 2, 0, by, n - by, false, fmt::format("{}, queries that are {} apart", where, by), finding);
  rows_apart(all, where, finding);
}

/// Checks that equal items differ after dropout. This also works if weights cannot be read.
void items_differ(const Instance& dropping, const Instance& plain, std::int64_t n, const std::string& where) {
  const Pass pass{random_tokens(1, n, 3).expand({2, -1, -1}).contiguous()};
  const auto without = run(plain, pass), with = run(dropping, pass);
  if (without[0].equal(without[1]) && with[0].equal(with[1]) && !with.equal(without))
    throw std::runtime_error(where + ": two items of a batch with the same tokens drop the same weights");
}

}  // namespace

void weight_dropout(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(13);
  for (auto stand : subject.stands()) {
    const auto plain = subject.make(1, {.stand = stand, .training = true});
    stand.dropout = kDropped;
    const auto dropping = subject.make(1, {.stand = stand, .training = true}), evaluated = subject.make(1, stand);
    Pass pass{random_tokens(3, n, 2)};
    if (subject.promises().key_padding) pass.mask = padding_mask({n, subject.length(5), n}, n);
    const auto where = stand.text();
    plain->eval();
    finding.near(real(run(*evaluated, pass), pass.mask), real(run(*plain, pass), pass.mask), where + ", in evaluation", kExact);
    plain->train();

    const auto global = set_global(3);
    const auto before = global.get_state();
    const auto first = gradients(*dropping, pass, pass.mask);
    const auto output = real(run(*dropping, pass), pass.mask);
    if (!global.get_state().equal(before)) throw std::runtime_error(where + ": torch's global generator has moved");
    set_global(4);
    finding.near(gradients(*dropping, pass, pass.mask), first, where + ", the same seed again", kExact);
    auto other = pass;
    other.seed = 18;
    if (real(run(*dropping, other), pass.mask).equal(output))
      throw std::runtime_error(where + ": another seed drops the same weights, or none are dropped");
    if (pass.mask.defined()) {
      auto poisoned = pass;
      poisoned.queries = pass.queries.masked_fill(pass.mask.logical_not().unsqueeze(-1), std::nan(""));
      finding.near(real(run(*dropping, poisoned), pass.mask), output, where + ", NaN under the mask");
    }
    const auto parameters = parameters_of(*dropping);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto loss = [&] { return loss_of(forward(*dropping, pass), pass.mask).item().toDouble(); };
      const NoGradGuard none;
      const auto difference = finite_difference(loss, parameters[i], first[i].value, 31);
      difference.turns ? finding.leave(kTurns) : finding.off_by(difference.off, where + ", " + first[i].what, kDifferences);
    }
    unbiased(*dropping, *plain, pass, subject.full() ? kManyDraws : kFewDraws, where, finding);
  }
}

void dropout_draws(const AttentionSubject& subject, Finding& finding) {
  const NoGradGuard none;
  for (auto stand : subject.stands()) {
    std::vector<CodedKeys> lengths = {coded_keys(subject.length(40))};
    if (subject.full() && stand == stand.alone()) {
      if (!stand.carries) lengths.push_back(coded_keys(subject.length(300)));
      if (subject.promises().key_padding) (lengths.emplace_back(lengths[0])).masked = true;
    }
    for (const auto& keys : lengths) {
      stand.dropout = 0;
      const auto plain = subject.make(1, Setting{.stand = stand, .training = true}, keys.n);
      stand.dropout = kDrawn;
      const auto dropping = subject.make(1, Setting{.stand = stand, .training = true}, keys.n);
      const auto where = fmt::format("{}, {} tokens{}", stand.text(), keys.n, keys.masked ? ", a mask that hides none" : "");
      items_differ(*dropping, *plain, keys.n, where);
      if (!read_out(*plain, layers_of(*plain, subject.length(40)))) continue;
      copy_registered(*plain, *dropping);
      const auto expected = keys.weights(*plain, 100), some = keys.weights(*plain, 100, Coded::kPlain, 1);
      const auto alike = [&](const Tensor& found) { return found.allclose(some, 1e-9, 1e-12); };
      // Outputs cannot be read as weights if they are not sums of values, or if a method also draws for another reason.
      if (!alike(keys.weights(*plain, 100, Coded::kScaled, 1)) || !alike(keys.weights(*plain, 101, Coded::kPlain, 1))) continue;
      if (!(expected.abs() > kSeen).any().item().toBool()) continue;
      finding.saw();
      const bool most = subject.full() && &keys == &lengths.front() && stand.alone() == stand;
      const auto all = factors_of(*dropping, expected, keys, most ? 2 : 1);
      share(all, where, finding);
      apart(all, where, finding);
      if (alike(keys.weights(*plain, 100, Coded::kTurned, 1)))
        finding.near(keys.weights(*dropping, 100, Coded::kTurned, 1), keys.weights(*dropping, 100, Coded::kPlain, 1),
                     where + ", weights read by other channels of their values: channels are dropped instead of weights",
                     kRounding);
    }
  }
  if (!finding.looked())
    finding.leave("no layers were found that make outputs from weighted sums of values: weights cannot be read one by one");
}

}  // namespace ablate::conformance
