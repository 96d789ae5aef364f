// Attentions at lengths where code with blocks takes different paths, and beyond the long lengths.
#include <fmt/format.h>

#include <stdexcept>

#include "core/records/used_plugin.h"
#include "core/trial/conformance/attention/contract.h"

namespace ablate::conformance {
namespace {

/// Compares the gradient of each item's outputs in its tokens between a padded batch and a pass of the item alone.
void gradients_against_items(const AttentionSubject& subject, const Setting& setting, const std::vector<std::int64_t>& lengths,
                             Finding& finding) {
  const auto n = lengths.front(), items = static_cast<std::int64_t>(lengths.size());
  const auto instance = subject.make(1, setting, n);
  const auto tokens = random_tokens(items, n, 2), weights = random_tokens(items, n, 23);
  const auto mask = padding_mask(lengths, n);
  const auto of = [&](const Tensor& content, const Tensor& where, const Tensor& weight) {
    const auto leaf = content.detach().clone().requires_grad_();
    const auto seen = real(run(*instance, {leaf, {}, where}), where);
    return gradients_of((seen * real(weight, where)).sum(), {leaf}).front();
  };
  const auto together = of(tokens, mask, weights);
  for (std::int64_t i = 0; i < items; ++i) {
    const auto own = lengths[static_cast<std::size_t>(i)];
    finding.near(item(together, i, own), of(item(tokens, i, own), {}, item(weights, i, own)),
                 fmt::format("{}, a batch of {} items of {} positions, item {}, {} of them tokens, gradient of its tokens",
                             setting.text(), items, n, i, own),
                 {1e-8, "float64, a backward pass in another order"});
  }
}

/// Compares two float32 results of many tokens, by the median of every eight tokens. A denominator near 0 amplifies the
/// rounding of a few tokens, but a wrong computation moves all of them.
void near_by_parts(const Tensor& found, const Tensor& expected, const std::string& where, Finding& finding) {
  constexpr std::int64_t tokens = 8;
  constexpr Allowed allowed{1e-3, "float32 over 2,000 tokens in another order, the median of eight tokens"};
  const auto whole = expected.size(1) / tokens * tokens;
  const auto parts = [&](const Tensor& x) { return x.narrow(1, 0, whole).to(kDouble).reshape({whole / tokens, -1}); };
  const auto right = parts(expected.detach());
  const auto size = std::get<0>(right.abs().median(1)).clamp_min(right.abs().mean().item().toDouble() + 1e-3);
  const auto off = std::get<0>((parts(found.detach()) - right).abs().median(1)) / size;
  const auto worst = off.argmax().item().toLong();
  finding.off_by(off[worst].item().toDouble(), fmt::format("{}, from position {} on: the median", where, worst * tokens),
                 allowed);
}

void padded_beyond(const AttentionSubject& subject, const Instance& instance, const Setting& setting, const Tensor& tokens,
                   Finding& finding) {
  const auto n = tokens.size(1), cut = n - subject.length(72);
  const auto where = fmt::format("{}, {} tokens", setting.text(), n);
  const auto output = run(instance, {tokens, {}, padding_mask({cut}, n)});
  finding.finite(output, where + ", padded");
  near_by_parts(output.narrow(1, 0, cut), run(instance, {tokens.narrow(1, 0, cut)}),
                fmt::format("{}, {} of them padding", where, n - cut), finding);
}

void causal_beyond(const Instance& instance, const Setting& setting, const Tensor& tokens, std::int64_t cut,
                   const Tensor& output, Finding& finding) {
  auto other = tokens.clone();
  const auto n = tokens.size(1);
  other.narrow(1, cut, n - cut).copy_(random_tokens(1, n - cut, 31, setting.type) * 10);
  finding.near(run(instance, {other}).narrow(1, 0, cut), output.narrow(1, 0, cut),
               fmt::format("{}, {} tokens, other tokens from {} on", setting.text(), n, cut), same_shape(setting.type));
}

/// True if other tokens in [from, to) change an output in [first, last) by more than rounding.
bool changes(const Instance& instance, const Tensor& tokens, const Tensor& output, std::int64_t from, std::int64_t to,
             std::int64_t first, std::int64_t last) {
  constexpr double rounded = 1e-5;
  auto other = tokens.clone();
  other.narrow(1, from, to - from).copy_(random_tokens(1, to - from, 31, tokens.scalar_type()) * 10);
  const auto part = [&](const Tensor& x) { return x.narrow(1, first, last - first); };
  const auto before = part(output), off = (part(run(instance, {other})) - before).abs();
  return off.max().item().toDouble() > before.abs().max().item().toDouble() * rounded;
}

/// Throws if the last tokens change none of their own outputs. At a causal place, also throws if the tokens before them change
/// none of these outputs. At other places, also throws if the last tokens change no earlier output. Tries parts of two sizes,
/// because a border may hide one part.
void reads_last(const Instance& instance, const Stand& stand, const Tensor& tokens, const Tensor& output, Finding& finding) {
  const auto n = tokens.size(1);
  bool is_read = false, is_answered = false;
  for (const std::int64_t part : {18, 21}) {
    is_read = is_read || (stand.causal ? changes(instance, tokens, output, n - 2 * part, n - part, n - part, n)
                                       : changes(instance, tokens, output, n - part, n, 0, n - part));
    is_answered = is_answered || changes(instance, tokens, output, n - part, n, n - part, n);
  }
  finding.saw();
  if (!is_read || !is_answered)
    throw std::runtime_error(fmt::format("{}, float32, {} tokens: other tokens in place of the last tokens change {}",
                                         stand.text(), n, is_read ? "none of their outputs" : "no other output"));
}

/// Checks a requested length at one place.
void look_there(const AttentionSubject& subject, const Stand& stand, std::int64_t n, Finding& finding) {
  const Setting setting{stand, kFloat};
  const auto instance = subject.make(1, setting, n);
  const auto tokens = random_tokens(1, n, 2, kFloat);
  const auto output = run(*instance, {tokens});
  const auto where = fmt::format("{}, {} tokens", setting.text(), n);
  finding.finite(output, where);
  reads_last(*instance, stand, tokens, output, finding);
  if (stand.causal)
    for (const auto cut : {n / 3, n / 2 + 1, n * 3 / 4, n * 7 / 8 + 1, n - 72, n - 7})
      causal_beyond(*instance, setting, tokens, cut, output, finding);
  if (subject.promises().key_padding) padded_beyond(subject, *instance, setting, tokens, finding);
}

}  // namespace

void padding_of_many(const AttentionSubject& subject, Finding& finding) {
  const auto many = lengths_for(subject, many_lengths()), few = lengths_for(subject, every_length(16)),
             eight = lengths_for(subject, every_length(8));
  for (const auto& setting : subject.settings(subject.promised_stands())) {
    if (setting.type != kDouble && (setting.type != kFloat || setting.training)) continue;
    if (subject.draws(setting, finding)) continue;
    const auto look = [&](const std::vector<std::int64_t>& lengths, bool cross) {
      padding_of(subject, setting, lengths, cross, true, finding);
    };
    look(setting.plain() ? few : eight, false);
    if (!setting.plain()) {
      look(lengths_for(subject, plain_below(128)), false);
      continue;
    }
    gradients_against_items(subject, setting, few, finding);
    look(many, false);
    for (const auto n : kTurning) look(lengths_for(subject, plain_below(n)), false);
    if (!subject.crosses(setting.stand)) continue;
    look(eight, true);
    for (const std::int64_t n : {64, 128}) look(lengths_for(subject, plain_below(n)), true);
  }
}

void batch_of_many(const AttentionSubject& subject, Finding& finding) {
  constexpr std::int64_t items = 8;
  auto all = every_length(7);
  all.insert(all.end(), std::begin(kTurning), std::end(kTurning));
  for (const auto& stand : subject.promised_stands())
    for (const auto n : lengths_for(subject, all)) {
      const auto instance = subject.make(1, stand, kDouble, n);
      const auto tokens = random_tokens(items, n, 2);
      const auto together = run(*instance, {tokens});
      for (const std::int64_t i : {std::int64_t{0}, n % items, items - 1})
        finding.near(item(together, i, n), run(*instance, {item(tokens, i, n)}),
                     fmt::format("{}, item {} of {} of {} tokens, against the item alone", stand.text(), i, items, n));
    }
}

void gradient_of_few(const AttentionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings(subject.promised_stands(), kDouble)) {
    auto all = every_length(6);
    if (!setting.training) all.insert(all.end(), {64, 65, 67});
    for (const auto n : lengths_for(subject, all))
      differences(*subject.make(1, setting, n), {random_tokens(2, n, 2)}, false,
                  fmt::format("{}, {} tokens", setting.text(), n), finding);
  }
}

void beyond_long(const AttentionSubject& subject, Finding& finding) {
  const NoGradGuard none;
  const auto n = lengths_beyond(subject).front();
  for (const auto& stand : subject.promised_stands(false)) {
    const Setting setting{stand, kFloat};
    const auto instance = subject.make(1, setting, n);
    const auto tokens = random_tokens(1, n, 2, kFloat);
    const auto where = fmt::format("{}, {} tokens", setting.text(), n);
    // A pass over so many tokens may take a second, so passes that add nothing are left out.
    const bool padded = subject.promises().key_padding && stand == subject.home();
    if (stand.causal || !padded) {
      const auto output = run(*instance, {tokens});
      finding.finite(output, where);
      if (stand.causal) causal_beyond(*instance, setting, tokens, n - subject.length(72), output, finding);
    }
    if (padded) padded_beyond(subject, *instance, setting, tokens, finding);
  }
  if (const auto all = lengths_beyond(subject); all.size() > 1)
    for (const auto& stand : subject.promised_stands()) look_there(subject, stand, all.back(), finding);
}

std::map<std::string, std::int64_t> lengths_looked_at(const AttentionSubject& subject) {
  std::map<std::string, std::int64_t> lengths;
  for (const auto& stand : subject.promised_stands())
    lengths[place_name(stand.causal, stand.carries)] =
        longest_looked_at(subject.candidate(), stand.carries ? kThousand : kBeyond);
  return lengths;
}

void recurrent_beyond(const AttentionSubject& subject, Finding& finding) {
  const NoGradGuard none;
  const Stand stand{.causal = true, .carries = true};
  const auto n = subject.length(620);
  const auto instance = subject.make(1, stand, kDouble, n);
  const auto tokens = random_tokens(2, n, 2);
  const auto whole = run(*instance, {tokens});
  for (const auto part : lengths_for(subject, {256, 257, 300, 512})) {
    const auto first = forward(*instance, {tokens.narrow(1, 0, part)});
    const auto second = run(*instance, {.queries = tokens.narrow(1, part, n - part),
                                        .state = first.state,
                                        .position = integers(std::vector<std::int64_t>{part, part})});
    finding.near(ablate::cat({first.output, second}, 1), whole, fmt::format("{}, {} tokens cut at {}", stand.text(), n, part),
                 {1e-8, "float64, products of decays in another order"});
  }
}

void state_beyond(const AttentionSubject& subject, Finding& finding) {
  const NoGradGuard none;
  const auto n = subject.length(300), m = subject.length(257);
  for (const auto& stand : subject.promised_stands(true)) {
    const auto instance = subject.make(1, stand, kDouble, n);
    const auto one = random_tokens(8, n, 2), two = random_tokens(8, m, 3);
    const auto after = [&](const Tensor& first, const Tensor& second) {
      return run(*instance, {.queries = second,
                             .state = forward(*instance, {first}).state,
                             .position = integers(std::vector(static_cast<std::size_t>(first.size(0)), n))});
    };
    const auto together = after(one, two);
    for (const std::int64_t i : {0, 7})
      finding.near(item(together, i, m), after(item(one, i, n), item(two, i, m)),
                   fmt::format("{}, segments of {} and {} tokens, item {} of 8 against the item alone", stand.text(), n, m, i));
  }
}

}  // namespace ablate::conformance
