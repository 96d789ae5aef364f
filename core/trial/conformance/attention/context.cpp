// Checks an attention's context: padding, holes, another sequence.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/trial/conformance/attention/contract.h"
#include "core/trial/conformance/attention/layers.h"

namespace ablate::conformance {
namespace {

/// Returns the lengths of a padded batch of three items: full, a part, one token.
std::vector<std::int64_t> lengths_of(const AttentionSubject& subject, std::int64_t n) {
  return {n, subject.length(n * 8 / 13), subject.length(1)};
}

/// Returns all results of one pass: the output with 0 outside `where`, gradients, the state, the auxiliary loss.
std::vector<Named> seen(const Instance& instance, const Pass& pass, const Tensor& where) {
  auto result = forward(instance, pass);
  auto all = joined({{"", real(result.output, where).detach()}}, gradients(instance, pass, where));
  for (std::size_t i = 0; i < result.state.size(); ++i) all.push_back({fmt::format("state {}", i), result.state[i].detach()});
  all.push_back({"auxiliary loss", result.auxiliary_loss.defined() ? result.auxiliary_loss.detach() : Tensor()});
  return all;
}

void poisoned(const AttentionSubject& subject, const Setting& setting, std::int64_t n, bool cross, Finding& finding) {
  const auto instance = subject.make(1, setting, n);
  const auto tokens = random_tokens(3, n, 2, setting.type), queries = random_tokens(3, n, 3, setting.type);
  const auto mask = padding_mask(lengths_of(subject, n), n), gone = mask.logical_not().unsqueeze(-1);
  const auto pass = [&](const Tensor& content) { return cross ? Pass{queries, content, mask} : Pass{content, {}, mask}; };
  const auto where = cross ? Tensor() : mask;
  const auto clean = seen(*instance, pass(tokens), where);
  const auto allowed = same_shape(setting.type);
  const auto place = setting.text() + (cross ? ", cross" : "") + fmt::format(", {} positions", n);
  const auto& in_context = std::ranges::find(clean, cross ? "gradient of context" : "gradient of queries", &Named::what)->value;
  finding.near(in_context, in_context.masked_fill(gone, 0), place + ", gradient of padded tokens");
  const auto others = random_tokens(3, n, 41, setting.type) * 10;
  for (const auto& [what, content] : {std::pair{"other numbers", tokens.where(gone.logical_not(), others)},
                                      {"NaN", tokens.masked_fill(gone, std::nan(""))},
                                      {"infinity", tokens.masked_fill(gone, std::numeric_limits<double>::infinity())}}) {
    finding.near(seen(*instance, pass(content), where), clean, fmt::format("{}, {} under the mask", place, what), allowed);
  }
}

struct TwoMasks {
  const AttentionSubject& subject;
  const Setting& setting;
  std::int64_t n;
  Finding& finding;

  std::vector<std::int64_t> of_queries() const { return {subject.length(n * 5 / 13), n, subject.length(n * 8 / 13)}; }
  std::vector<std::int64_t> of_keys() const {
    return subject.promises().key_padding ? lengths_of(subject, n) : std::vector{n, n, n};
  }
  Tensor keys_mask() const { return subject.promises().key_padding ? padding_mask(of_keys(), n) : Tensor(); }

  /// Throws if a causal query after the last key reads no key. Skips short sequences, which perhaps complete no slot.
  void still_read(const Tensor& clean, const Tensor& others, const std::string& where) const {
    if (subject.promises().sparse || !subject.full() || (setting.stand.causal && n < 100)) return;
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto last = of_queries()[static_cast<std::size_t>(i)] - 1;
      if (last >= of_keys()[static_cast<std::size_t>(i)] && clean[i][last].equal(others[i][last]))
        throw std::runtime_error(fmt::format("{}: item {}: query {} after the last key reads no key", where, i, last));
    }
  }

  void look() const {
    const auto instance = subject.make(1, setting, n);
    const auto queries = random_tokens(3, n, 3, setting.type), context = random_tokens(3, n, 2, setting.type);
    const auto query_mask = padding_mask(of_queries(), n), mask = keys_mask();
    const auto where = fmt::format("{}, {} queries and as many keys, each under its own mask", setting.text(), n);
    const auto outcome = [&](const Tensor& asked, const Tensor& read, const Tensor& asking) {
      return real(run(*instance, {.queries = asked, .context = read, .mask = mask, .query_mask = asking}), query_mask);
    };
    const auto clean = outcome(queries, context, query_mask);
    const auto allowed = same_shape(setting.type);
    const auto gone = query_mask.logical_not().unsqueeze(-1);
    finding.near(outcome(queries.masked_fill(gone, 1e3), context, query_mask), clean,
                 where + ": other numbers in padded queries", allowed);
    if (mask.defined()) {
      const auto padding = mask.logical_not().unsqueeze(-1);
      for (const double value : {1e3, std::numeric_limits<double>::quiet_NaN()})
        finding.near(outcome(queries, context.masked_fill(padding, value), query_mask), clean,
                     fmt::format("{}: {} in padded keys", where, value), allowed);
    }
    if (setting.type != kDouble || subject.draws(setting, finding)) return;
    // A causal query sees no later query, so the mask of the queries changes nothing. The loop below cuts padded queries off.
    if (setting.stand.causal) {
      finding.near(outcome(queries, context, {}), clean, where + ", against a pass without a query mask");
      still_read(clean, outcome(queries, context * -3, query_mask), where);
    }
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto asking = of_queries()[static_cast<std::size_t>(i)], read = of_keys()[static_cast<std::size_t>(i)];
      const auto both = setting.stand.causal ? std::min(asking, read) : 0;  // causal: as many queries as keys
      finding.near(item(clean, i, both > 0 ? both : asking),
                   run(*instance, {item(queries, i, both > 0 ? both : asking), item(context, i, both > 0 ? both : read)}),
                   fmt::format("{}: item {}, against a pass of only its {} queries over its {} keys", where, i, asking, read));
    }
  }
};

}  // namespace

void padding_of(const AttentionSubject& subject, const Setting& setting, const std::vector<std::int64_t>& lengths, bool cross,
                bool many, Finding& finding) {
  const auto n = lengths.front(), items = static_cast<std::int64_t>(lengths.size());
  const auto instance = subject.make(1, setting, n);
  const auto tokens = random_tokens(items, n, 2, setting.type), queries = random_tokens(items, n, 3, setting.type);
  const auto mask = padding_mask(lengths, n);
  const auto output = run(*instance, cross ? Pass{queries, tokens, mask} : Pass{tokens, {}, mask});
  const auto where = setting.text() + (cross ? ", cross" : "") +
                     (many ? fmt::format(", a batch of {} items of {} positions", items, n) : fmt::format(", {} positions", n));
  if (!many) finding.finite(output, where);
  for (std::int64_t i = 0; i < items; ++i) {
    const auto real = lengths[static_cast<std::size_t>(i)];
    const auto cut = item(tokens, i, real);
    const auto alone = run(*instance, cross ? Pass{item(queries, i, n), cut} : Pass{cut});
    const auto own = item(output, i, cross ? n : real);
    const auto place = fmt::format("{}{}, {} of them tokens", where, many ? fmt::format(", item {}", i) : "", real);
    setting.type == kDouble ? finding.near(own, alone, place)
                            : finding.near_median(own, alone, place, median_of_item(setting.type));
    if (many || setting.type != kDouble || n > subject.length(150)) continue;
    const auto kept = mask.narrow(0, i, 1);
    const auto one =
        forward(*instance, cross ? Pass{item(queries, i, n), item(tokens, i, n), kept} : Pass{item(tokens, i, n), {}, kept});
    finding.near(item(one.output, 0, cross ? n : real), alone, place + ", a batch of one item");
    // The loss of a batch may be any mean of its items, so only a batch of one item is compared.
    if (!cross)
      finding.near(one.auxiliary_loss, forward(*instance, {cut}).auxiliary_loss, place + ", the item's auxiliary loss");
  }
}

void padding(const AttentionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings()) {
    if (subject.draws(setting, finding)) continue;
    const auto look = [&](std::int64_t n, bool cross) {
      padding_of(subject, setting, lengths_of(subject, n), cross, false, finding);
    };
    look(subject.length(13), false);
    for (const auto n : subject.long_lengths(setting)) look(n, false);
    if (subject.crosses(setting.stand))
      for (const auto n : subject.short_and_long()) look(n, true);
  }
}

void poison(const AttentionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings()) {
    poisoned(subject, setting, subject.length(13), false, finding);
    if (subject.crosses(setting.stand)) poisoned(subject, setting, subject.length(13), true, finding);
  }
  poisoned(subject, {.stand = subject.home(), .training = true}, subject.length(150), false, finding);
}

void empty(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(7);
  const auto mask = padding_mask({0, n}, n);
  for (const auto& setting : subject.settings())
    for (const auto& lengths : {std::vector<std::int64_t>{0, n}, {0, 0}}) {
      const auto instance = subject.make(1, setting);
      const Pass pass{random_tokens(2, n, 2, setting.type), {}, padding_mask(lengths, n)};
      const auto where = setting.text() + (lengths.back() == 0 ? ", no item with a token" : "");
      finding.finite(run(*instance, pass), where);
      finding.finite(tensors_of(gradients(*instance, pass, pass.mask)), where + ", gradients");
    }
  if (!subject.promises().cross_attention) return;
  for (const auto& setting : subject.settings({subject.home()}, kDouble)) {
    const auto instance = subject.make(1, setting);
    const Pass cross{random_tokens(2, n, 3), random_tokens(2, n, 2), mask};
    const auto output = run(*instance, cross);
    finding.finite(output, setting.text() + ", cross");
    finding.finite(tensors_of(gradients(*instance, cross)), setting.text() + ", cross, gradients");
    const auto named = instance->attention().output_projections();
    std::vector<Tensor> biases;
    for (const auto& projection : named)
      if (projection) biases.push_back(projection->bias);
    if (named.empty())
      for (const auto& layer : layers_of(*instance, n).outputs) biases.push_back(layer.bias);
    // If the method names no projections, several layers may be found, and one of them may read the queries.
    if (named.empty() && biases.size() != 1) {
      finding.say("an item without a token was not checked: no layer was found that makes the outputs");
      continue;
    }
    auto nothing = zeros_like(output[0]);
    for (const auto& bias : biases)
      if (bias.defined()) nothing = nothing + bias.cpu();
    finding.near(output[0], nothing, setting.text() + ", an item without a token");
  }
}

void cross(const AttentionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings())
    for (const auto n : subject.short_and_long()) {
      if (setting.stand.carries) continue;
      const auto instance = subject.make(1, setting, n);
      const auto tokens = random_tokens(3, n, 2, setting.type);
      if (!setting.stand.causal)
        finding.finite(run(*instance, {random_tokens(3, subject.length(5), 3, setting.type), tokens}), setting.text());
      std::vector<Tensor> masks(1);
      if (subject.promises().key_padding) masks.push_back(padding_mask(lengths_of(subject, n), n));
      for (const auto& mask : masks) {
        const auto where = fmt::format("{}, {} tokens{}, a copy of the tokens as the context", setting.text(), n,
                                       mask.defined() ? ", padded" : "");
        const auto found = real(
                       run(*instance, {.queries = tokens, .context = tokens.clone(), .mask = mask, .query_mask = mask}), mask),
                   expected = real(run(*instance, {tokens, {}, mask}), mask);
        // The two passes may compute in different ways, and so round differently in narrow types.
        for (std::int64_t i = 0; i < 3; ++i)
          setting.type == kDouble ? finding.near(found[i], expected[i], where)
                                  : finding.near_median(found[i], expected[i], where, median_of_item(setting.type));
      }
    }
}

void query_mask(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(13), m = subject.length(9);
  const auto lengths = lengths_of(subject, n);
  const auto real = padding_mask(lengths, n);
  const auto gone = real.logical_not().unsqueeze(-1);
  for (const auto& setting : subject.settings()) {
    if (!subject.crosses(setting.stand)) continue;
    const auto instance = subject.make(1, setting);
    const auto context = random_tokens(3, m, 2, setting.type), queries = random_tokens(3, n, 3, setting.type);
    const auto outcome = [&](const Tensor& content) {
      return run(*instance, {.queries = content, .context = context, .query_mask = real}).masked_fill(gone, 0);
    };
    const auto clean = outcome(queries);
    finding.near(outcome(queries.masked_fill(gone, 1e3)), clean, setting.text() + ", other queries under the mask",
                 same_shape(setting.type));
    if (setting.type != kDouble || subject.draws(setting, finding)) continue;
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto own = lengths[static_cast<std::size_t>(i)];
      finding.near(item(clean, i, own), run(*instance, {item(queries, i, own), item(context, i, m)}),
                   fmt::format("{}, {} queries, against a pass of only these queries", setting.text(), own));
    }
  }
}

void holes(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(13);
  const auto mask = normal({3, n}, 5) > 0;
  const auto gone = mask.logical_not().unsqueeze(-1);
  for (const auto& setting : subject.settings()) {
    const auto instance = subject.make(1, setting);
    const auto tokens = random_tokens(3, n, 2, setting.type);
    const auto clean = run(*instance, {tokens, {}, mask}).masked_fill(gone, 0);
    for (const double value : {1e3, std::nan("")})
      finding.near(run(*instance, {tokens.masked_fill(gone, value), {}, mask}).masked_fill(gone, 0), clean,
                   fmt::format("{}, {} in the holes", setting.text(), value), same_shape(setting.type));
    if (setting.type != kDouble || !subject.promises().averages || setting.stand.carries ||
        setting.stand.causal != subject.home().causal)
      continue;
    // Equal tokens must have the output of a single token, wherever the holes are, because holes do not count.
    const auto alike = item(tokens, 0, 1).expand_as(tokens).contiguous();
    const auto one = run(*instance, {alike.narrow(1, 0, subject.length(1)).contiguous()}).narrow(1, 0, 1).expand_as(alike);
    finding.near(run(*instance, {alike, {}, mask}).masked_fill(gone, 0), one.masked_fill(gone, 0),
                 setting.text() + ", tokens alike with holes between them");
  }
}

void two_masks(const AttentionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings()) {
    if (setting.stand.carries) continue;
    TwoMasks{subject, setting, subject.length(13), finding}.look();
    if (subject.full() && setting.plain()) TwoMasks{subject, setting, subject.length(150), finding}.look();
  }
}

}  // namespace ablate::conformance
