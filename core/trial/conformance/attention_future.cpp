// Causal and bidirectional: what an output depends on, and what an attention refuses to be.
#include <fmt/format.h>

#include <stdexcept>

#include "core/trial/conformance/attention_contract.h"

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

Tensor first_tokens(std::int64_t n, std::int64_t count) { return arange(n).lt(count).unsqueeze(0); }

/// Places at the start, around block borders, and before the end.
std::vector<std::int64_t> places(std::int64_t n) {
  std::vector<std::int64_t> all;
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{1}, n / 3, n / 2 + 5, std::int64_t{31}, std::int64_t{63},
                                std::int64_t{64}, std::int64_t{127}, std::int64_t{255}, n - 2})
    if (at >= 0 && at < n - 1 && std::find(all.begin(), all.end(), at) == all.end()) all.push_back(at);
  return all;
}

/// The gradient of outputs in the tokens. The auxiliary loss is no output: later queries may have their share in it.
/// @param where [batch, n] bool: whose outputs
Tensor output_gradient(const Instance& instance, Pass pass, const Tensor& where) {
  pass.queries = pass.queries.detach().requires_grad_();
  return gradients_of(weighted_sum(forward(instance, pass).output, where), {pass.queries}).front();
}

/// The gradients in later inputs of the outputs at `at`, which have to be 0.
void no_later_gradient(const Instance& instance, const Pass& pass, std::int64_t at, const std::string& where,
                       Finding& finding) {
  const auto n = pass.queries.size(1);
  const auto only = arange(n).eq(at).unsqueeze(0).expand({pass.queries.size(0), n});
  const auto later = output_gradient(instance, pass, only).narrow(1, at + 1, n - at - 1);
  finding.near(later, ablate::zeros_like(later), fmt::format("{}, gradient of output {} in later inputs", where, at),
               left_of_zero(pass.queries.scalar_type()));
}

/// The pass with other tokens after a place, so many times as large.
Pass with_later(const Pass& pass, std::int64_t at, double factor) {
  const auto kept = at + 1, n = pass.queries.size(1), batch = pass.queries.size(0);
  auto changed = pass;
  const auto others = random_tokens(batch, n - kept, 31, pass.queries.scalar_type()) * factor;
  changed.queries = ablate::cat({pass.queries.narrow(1, 0, kept), others}, 1);
  return changed;
}

/// Outputs up to a place where the later tokens are others, by each factor as large. @param outputs of the pass
void no_later_value(const Instance& instance, const Pass& pass, const Tensor& outputs, std::int64_t at,
                    const std::vector<double>& factors, const std::string& where, Finding& finding) {
  for (const double factor : factors)
    finding.near(run(instance, with_later(pass, at, factor)).narrow(1, 0, at + 1), outputs.narrow(1, 0, at + 1),
                 fmt::format("{}, other tokens after {}", where, at), same_shape(pass.queries.scalar_type()));
}

/// The gradients in earlier inputs of outputs up to a place, where the later tokens are others, and larger.
void no_later_share(const Instance& instance, const Pass& pass, std::int64_t at, const std::string& where, Finding& finding) {
  const auto n = pass.queries.size(1), kept = at + 1;
  const auto only = first_tokens(n, kept).expand({pass.queries.size(0), n});
  finding.near(output_gradient(instance, with_later(pass, at, 10), only).narrow(1, 0, kept),
               output_gradient(instance, pass, only).narrow(1, 0, kept),
               fmt::format("{}, other tokens after {}, gradients in earlier inputs", where, at),
               same_shape(pass.queries.scalar_type()));
}

const std::vector<double> kAlsoLarger = {1, 10}, kLarger = {10};

/// More tokens than a block has, at some places within; where causal_borders() does not look, in evaluation in float64 around
/// the borders of blocks.
void no_later_block(const Instance& instance, const Setting& setting, std::int64_t n, const AttentionState& state,
                    const std::string& where, Finding& finding) {
  const Pass pass{.queries = random_tokens(2, n, 3, setting.type), .state = state};
  const auto outputs = run(instance, pass);
  const auto how = fmt::format("{}, {} tokens", where, n);
  if (!setting.plain()) {
    for (const auto at : {n / 3, n / 2 + 5, n - 2}) no_later_value(instance, pass, outputs, at, kLarger, how, finding);
    return;
  }
  if (n > 1000)
    for (const auto at : {std::int64_t{255}, n / 3, n / 2 + 5, n - 2})
      no_later_value(instance, pass, outputs, at, kLarger, how, finding);
  else
    for (const auto at : places(n)) no_later_value(instance, pass, outputs, at, kAlsoLarger, how, finding);
}

/// The initial state and, where one is carried, that of an earlier segment.
std::vector<AttentionState> states_before(const AttentionSubject& subject, const Instance& instance, const Setting& setting) {
  std::vector<AttentionState> states(1);
  if (setting.stand.carries)
    states.push_back(detached(forward(instance, {random_tokens(2, subject.length(70), 9, setting.type)}).state));
  return states;
}

}  // namespace

void causal(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(70);
  for (const auto& setting : subject.settings()) {
    if (!setting.stand.causal) continue;
    const auto longer = subject.long_lengths(setting);
    const auto instance = subject.make(1, setting, longer.empty() ? n : longer.back());
    const auto states = states_before(subject, *instance, setting);
    for (const auto& state : states) {
      const auto where = setting.text() + (state.empty() ? "" : ", after a segment");
      Pass pass{.queries = random_tokens(2, n, 2, setting.type), .state = state};
      auto outputs = run(*instance, pass);
      for (const auto at : {std::int64_t{0}, n / 3, n / 2 + 5, n - 2}) {
        if (!subject.full() && at != n / 2 + 5) continue;
        no_later_gradient(*instance, pass, at, where, finding);
        if (setting.plain()) no_later_share(*instance, pass, at, where, finding);
      }
      for (const auto at : places(n))
        no_later_value(*instance, pass, outputs, at, setting.plain() && subject.full() ? kAlsoLarger : kLarger, where, finding);
      if (subject.promises().key_padding) {
        pass.mask = padding_mask({n, subject.length(50)}, n);
        outputs = run(*instance, pass);
        for (const auto at : {n / 3, subject.length(40)})
          no_later_value(*instance, pass, outputs, at, subject.full() ? kAlsoLarger : kLarger, where + ", padded", finding);
      }
      // causal_borders() looks at each place of a promised stand, and behind a segment at the places of the longest one.
      const bool has_borders = subject.full() && setting.plain() && setting.stand == setting.stand.alone();
      if (!(has_borders && state.empty()) && (setting.plain() || &state == &states.back()))
        for (const auto many : longer)
          if (!has_borders || many < 1000) no_later_block(*instance, setting, many, state, where, finding);
    }
  }
}

void bidirectional(const AttentionSubject& subject, Finding& finding) {
  const auto instance = subject.make(1, Stand{});
  const auto n = subject.length(32);
  for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 2}) {
    Finding later(kRounding);
    const Pass pass{.queries = random_tokens(2, n, 2)};
    no_later_value(*instance, pass, run(*instance, pass), at, kAlsoLarger, "", later);
    if (!later.passed()) return finding.saw();
  }
  throw std::runtime_error("no output depends on a later input: it is causal, and promises to be bidirectional, too");
}

void refused(const AttentionSubject& subject, Finding& finding) {
  const auto& promises = subject.promises();
  finding.saw();
  for (const bool is_causal : {true, false})
    if (!(is_causal ? promises.causal : promises.bidirectional) &&
        !throws([&] { subject.make(1, Stand{.causal = is_causal}); }))
      throw std::runtime_error(fmt::format("{} is not promised, and such an instance was made", Stand{is_causal}.text()));
  if (!promises.stateful && !subject.make(1)->attention().initial_state(2).empty())
    throw std::runtime_error("a state is not promised, and there is an initial one");
  if (promises.length_multiple > 1) {
    const auto n = subject.length(13) + 1;
    Tensor output;
    if (!throws([&] { output = run(*subject.make(1), {random_tokens(2, n, 2)}); }))
      finding.finite(output, fmt::format("{} tokens, no multiple of {}, and not refused", n, promises.length_multiple));
  }
}

}  // namespace ablate::conformance
