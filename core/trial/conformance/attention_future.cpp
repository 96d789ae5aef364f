// Causal and bidirectional: what an output depends on, and what an attention refuses to be.
#include <fmt/format.h>

#include <stdexcept>

#include "core/trial/conformance/attention_context.h"

namespace ablate::conformance {
namespace {

template <class Call>
bool throws(const Call& call) {
  try {
    call();
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

/// The largest gradient of the outputs at `at` in later inputs.
double later_gradient(const Instance& instance, const Tensor& tokens, const AttentionState& state, std::int64_t at) {
  const auto n = tokens.size(1);
  const auto where = arange(n).eq(at).unsqueeze(0).expand({tokens.size(0), n});
  const auto later = gradients(instance, {.queries = tokens, .state = state}, where).back().narrow(1, at + 1, n - at - 1);
  return difference(later, zeros_like(later));
}

/// How far outputs up to `at` move where the later tokens are others, also much larger ones.
double later_values(const Instance& instance, const Tensor& tokens, const AttentionState& state, std::int64_t at) {
  const auto kept = at + 1, n = tokens.size(1);
  const auto before = run(instance, {.queries = tokens, .state = state}).narrow(1, 0, kept);
  double worst = 0;
  for (const double factor : {1.0, 10.0}) {
    const auto others = random_tokens(tokens.size(0), n - kept, 31) * factor;
    const auto changed = ablate::cat({tokens.narrow(1, 0, kept), others}, 1);
    worst = std::max(worst, relative(run(instance, {.queries = changed, .state = state}).narrow(1, 0, kept), before));
  }
  return worst;
}

}  // namespace

double causal(const AttentionSubject& subject) {
  double worst = 0;
  for (const auto& stand : subject.stands()) {
    if (!stand.causal) continue;
    const auto n = subject.length(70), longer = subject.length(300);
    const auto instance = subject.make(1, stand, kDouble, longer);
    std::vector<AttentionState> states(1);
    if (stand.carries) states.push_back(detached(forward(*instance, {random_tokens(2, n, 9)}).state));
    for (const auto& state : states) {
      const auto tokens = random_tokens(2, n, 2), many = random_tokens(2, longer, 3);
      for (const std::int64_t at : {std::int64_t{0}, n / 3, n / 2 + 5, n - 2})
        worst = std::max(worst, later_gradient(*instance, tokens, state, at));
      for (const std::int64_t at : {std::int64_t{0}, longer / 3, longer - 2})
        if (const auto off = later_values(*instance, many, state, at); off > kRounding) worst = std::max(worst, off);
    }
  }
  return worst;
}

double bidirectional(const AttentionSubject& subject) {
  const auto instance = subject.make(1, {});
  const auto n = subject.length(32);
  for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 2})
    if (later_values(*instance, random_tokens(2, n, 2), {}, at) > kRounding) return 0;
  throw std::runtime_error("no output depends on a later input: it is causal, and promises to be bidirectional, too");
}

double refused(const AttentionSubject& subject) {
  const auto& promises = subject.promises();
  for (const bool is_causal : {true, false})
    if (!(is_causal ? promises.causal : promises.bidirectional) && !throws([&] { subject.make(1, {.causal = is_causal}); }))
      throw std::runtime_error(fmt::format("{} is not promised, and such an instance was made", Stand{is_causal}.text()));
  if (!promises.stateful && !subject.make(1)->attention().initial_state(2).empty())
    throw std::runtime_error("a state is not promised, and there is an initial one");
  if (promises.length_multiple > 1) {
    const auto n = subject.length(13) + 1;
    Tensor output;
    if (!throws([&] { output = run(*subject.make(1), {random_tokens(2, n, 2)}); }) && !finite({output}))
      throw std::runtime_error(fmt::format("{} tokens, no multiple of {}, were neither refused nor attended to rightly", n,
                                           promises.length_multiple));
  }
  return 0;
}

}  // namespace ablate::conformance
