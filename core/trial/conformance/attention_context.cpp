#include "core/trial/conformance/attention_context.h"

#include <algorithm>
#include <cmath>

namespace ablate::conformance {

double causal(const AttentionSubject& subject) {
  const auto attention = subject.make(1, true);
  const auto n = subject.length(70);
  double worst = 0;
  for (const std::int64_t at : {std::int64_t{0}, n / 3, n / 2 + 5, n - 2}) {
    const auto where = torch::arange(n).eq(at).unsqueeze(0).expand({2, n});
    const auto later = gradients(*attention, {random_tokens(2, n, 2)}, where).back().narrow(1, at + 1, n - at - 1);
    worst = std::max(worst, difference(later, torch::zeros_like(later)));
  }
  return worst;
}

static double padding(const AttentionSubject& subject, bool is_causal, bool cross) {
  const auto attention = subject.make(1, is_causal);
  const auto n = subject.length(kLengths.front());
  const auto tokens = random_tokens(3, n, 2), queries = random_tokens(3, n, 3);
  const auto mask = padding_mask(kLengths, n);
  const auto output = cross ? run(*attention, {queries, tokens, mask}) : run(*attention, {tokens, {}, mask});
  if (!finite({output})) return kWrong;
  double worst = 0;
  for (std::size_t i = 0; i < kLengths.size(); ++i) {
    const auto real = subject.length(kLengths[i]);
    if (real != kLengths[i]) continue;  // cannot be cut there
    const auto cut = item(tokens, i, real);
    const auto alone = cross ? run(*attention, {item(queries, i, n), cut}) : run(*attention, {cut});
    worst = std::max(worst, difference(item(output, i, cross ? n : real), alone));
  }
  return worst;
}

double padding(const AttentionSubject& subject) {
  double worst = padding(subject, false, false);
  if (subject.promises().cross_attention) worst = std::max(worst, padding(subject, false, true));
  if (subject.promises().causal) worst = std::max(worst, padding(subject, true, false));
  return worst;
}

double poison(const AttentionSubject& subject) {
  const auto attention = subject.make(1);
  const auto n = subject.length(kLengths.front());
  const auto tokens = random_tokens(3, n, 2);
  const auto mask = padding_mask(kLengths, n), gone = mask.logical_not().unsqueeze(-1);
  double worst = 0;
  for (const bool cross : {false, true}) {
    if (cross && !subject.promises().cross_attention) continue;
    const auto pass = [&](const torch::Tensor& content) {
      return cross ? Pass{random_tokens(3, n, 3), content, mask} : Pass{content, {}, mask};
    };
    const auto where = cross ? torch::Tensor() : mask;
    const auto seen = [&](const torch::Tensor& x) { return cross ? x : x.masked_fill(gone, 0); };
    const auto clean = seen(run(*attention, pass(tokens)));
    const auto clean_gradients = gradients(*attention, pass(tokens), where);
    const auto& in_context = clean_gradients.back();
    worst = std::max(worst, difference(in_context, in_context.masked_fill(gone, 0)));
    for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      const auto poisoned = pass(tokens.masked_fill(gone, value));
      const auto output = run(*attention, poisoned);
      if (!finite({output})) return kWrong;
      worst = std::max(worst, difference(seen(output), clean));
      worst = std::max(worst, difference(gradients(*attention, poisoned, where), clean_gradients));
    }
  }
  return worst;
}

double empty(const AttentionSubject& subject) {
  const auto attention = subject.make(1);
  const auto n = subject.length(7);
  const auto tokens = random_tokens(2, n, 2);
  const auto mask = padding_mask({0, n}, n);
  if (!finite({run(*attention, {tokens, {}, mask})}) || !finite(gradients(*attention, {tokens, {}, mask}, mask))) return kWrong;
  if (!subject.promises().cross_attention) return 0;
  const Pass cross{random_tokens(2, n, 3), tokens, mask};
  const auto output = run(*attention, cross);
  if (!finite({output}) || !finite(gradients(*attention, cross))) return kWrong;
  const auto parameters = attention->named_parameters();
  const auto* bias = parameters.find("output.bias");
  return bias == nullptr ? 0 : difference(output[0], bias->expand({n, -1}));
}

double cross(const AttentionSubject& subject) {
  const auto attention = subject.make(1);
  const auto n = subject.length(13);
  const auto tokens = random_tokens(2, n, 2);
  const auto output = run(*attention, {random_tokens(2, subject.length(5), 3), tokens});
  if (output.size(1) != subject.length(5) || !finite({output})) return kWrong;
  return difference(run(*attention, {tokens}), run(*attention, {tokens, tokens.clone()}));
}

}  // namespace ablate::conformance
