#include "core/trial/conformance/attention_context.h"

#include <algorithm>
#include <cmath>

namespace ablate::conformance {
namespace {

/// The lengths of the padded batch of three: full, part, one token.
const std::vector<std::int64_t> kLengths = {13, 8, 1};

double padding(const AttentionSubject& subject, const Stand& stand, bool cross) {
  const auto instance = subject.make(1, stand);
  const auto n = subject.length(kLengths.front());
  const auto tokens = random_tokens(3, n, 2), queries = random_tokens(3, n, 3);
  const auto mask = padding_mask(kLengths, n);
  const auto output = run(*instance, cross ? Pass{queries, tokens, mask} : Pass{tokens, {}, mask});
  if (!finite({output})) return kWrong;
  double worst = 0;
  for (std::size_t index = 0; index < kLengths.size(); ++index) {
    const auto i = static_cast<std::int64_t>(index);
    const auto real = subject.length(kLengths[index]);
    if (real != kLengths[index]) continue;  // cannot be cut there
    const auto cut = item(tokens, i, real);
    const auto alone = run(*instance, cross ? Pass{item(queries, i, n), cut} : Pass{cut});
    worst = std::max(worst, difference(item(output, i, cross ? n : real), alone));
  }
  return worst;
}

double poison(const AttentionSubject& subject, const Stand& stand, bool cross) {
  const auto instance = subject.make(1, stand);
  const auto n = subject.length(kLengths.front());
  const auto tokens = random_tokens(3, n, 2);
  const auto mask = padding_mask(kLengths, n), gone = mask.logical_not().unsqueeze(-1);
  const auto pass = [&](const Tensor& content) {
    return cross ? Pass{random_tokens(3, n, 3), content, mask} : Pass{content, {}, mask};
  };
  const auto where = cross ? Tensor() : mask;
  const auto seen = [&](const Tensor& x) { return cross ? x : x.masked_fill(gone, 0); };
  const auto clean = seen(run(*instance, pass(tokens)));
  const auto clean_gradients = gradients(*instance, pass(tokens), where);
  const auto& in_context = clean_gradients.back();
  double worst = difference(in_context, in_context.masked_fill(gone, 0));
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const auto poisoned = pass(tokens.masked_fill(gone, value));
    const auto output = run(*instance, poisoned);
    if (!finite({output})) return kWrong;
    worst = std::max(worst, difference(seen(output), clean));
    worst = std::max(worst, difference(gradients(*instance, poisoned, where), clean_gradients));
  }
  return worst;
}

}  // namespace

double padding(const AttentionSubject& subject) {
  double worst = 0;
  for (const auto& stand : subject.stands()) worst = std::max(worst, padding(subject, stand, false));
  return subject.promises().cross_attention ? std::max(worst, padding(subject, subject.home(), true)) : worst;
}

double poison(const AttentionSubject& subject) {
  double worst = 0;
  for (const auto& stand : subject.stands()) worst = std::max(worst, poison(subject, stand, false));
  return subject.promises().cross_attention ? std::max(worst, poison(subject, subject.home(), true)) : worst;
}

double empty(const AttentionSubject& subject) {
  const auto n = subject.length(7);
  const auto tokens = random_tokens(2, n, 2);
  const auto mask = padding_mask({0, n}, n);
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    if (!finite({run(*instance, {tokens, {}, mask})}) || !finite(gradients(*instance, {tokens, {}, mask}, mask))) return kWrong;
  }
  if (!subject.promises().cross_attention) return 0;
  const auto instance = subject.make(1);
  const Pass cross{random_tokens(2, n, 3), tokens, mask};
  const auto output = run(*instance, cross);
  if (!finite({output}) || !finite(gradients(*instance, cross))) return kWrong;
  const auto parameters = instance->parameters();
  const auto bias = std::find_if(parameters.begin(), parameters.end(),
                                 [](const auto& entry) { return entry.name == "attention.output.bias"; });
  return bias == parameters.end() ? 0 : difference(output[0], bias->tensor.expand({n, -1}));
}

double cross(const AttentionSubject& subject) {
  const auto instance = subject.make(1);
  const auto tokens = random_tokens(2, subject.length(13), 2);
  if (!finite({run(*instance, {random_tokens(2, subject.length(5), 3), tokens})})) return kWrong;
  return difference(run(*instance, {tokens}), run(*instance, {tokens, tokens.clone()}));
}

double query_mask(const AttentionSubject& subject) {
  const auto instance = subject.make(1);
  const auto n = subject.length(13), m = subject.length(9);
  const auto context = random_tokens(3, m, 2), queries = random_tokens(3, n, 3);
  const auto real = padding_mask(kLengths, n);
  const auto gone = real.logical_not().unsqueeze(-1);
  const auto seen = [&](const Tensor& content) {
    return run(*instance, {.queries = content, .context = context, .query_mask = real}).masked_fill(gone, 0);
  };
  const auto clean = seen(queries);
  double worst = difference(clean, seen(queries.masked_fill(gone, 1e3)));
  for (std::size_t index = 0; index < kLengths.size(); ++index) {
    const auto i = static_cast<std::int64_t>(index);
    if (subject.length(kLengths[index]) != kLengths[index]) continue;
    const auto alone = run(*instance, {item(queries, i, kLengths[index]), item(context, i, m)});
    worst = std::max(worst, difference(item(clean, i, kLengths[index]), alone));
  }
  return worst;
}

double holes(const AttentionSubject& subject) {
  double worst = 0;
  const auto n = subject.length(13);
  const auto tokens = random_tokens(3, n, 2);
  const auto mask = normal({3, n}, 5) > 0;
  const auto gone = mask.logical_not().unsqueeze(-1);
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    const auto clean = run(*instance, {tokens, {}, mask}).masked_fill(gone, 0);
    for (const double value : {1e3, std::nan("")}) {
      const auto output = run(*instance, {tokens.masked_fill(gone, value), {}, mask});
      if (!finite({output})) return kWrong;
      worst = std::max(worst, difference(output.masked_fill(gone, 0), clean));
    }
    if (!subject.promises().averages || stand.carries || stand.causal != subject.home().causal) continue;
    // Alike where they are present, they give what one of them gives, wherever the holes are: none is counted.
    const auto alike = item(tokens, 0, 1).expand_as(tokens).contiguous();
    const auto one = run(*instance, {alike.narrow(1, 0, subject.length(1)).contiguous()}).narrow(1, 0, 1).expand_as(alike);
    worst = std::max(worst, difference(run(*instance, {alike, {}, mask}).masked_fill(gone, 0), one.masked_fill(gone, 0)));
  }
  return worst;
}

}  // namespace ablate::conformance
