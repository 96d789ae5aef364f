// Checks which tokens an output depends on, for causal and bidirectional attention. One batch tests many positions: each item
// gets other tokens from its own position on. Checks that an attention refuses places and lengths that it does not promise.
#include <fmt/format.h>

#include <stdexcept>

#include "core/trial/conformance/attention/contract.h"

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

/// Returns places at the start, around block borders, and before the end.
std::vector<std::int64_t> places(std::int64_t n) {
  std::vector<std::int64_t> all;
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{1}, n / 3, n / 2 + 5, std::int64_t{31}, std::int64_t{63},
                                std::int64_t{64}, std::int64_t{127}, std::int64_t{255}, n - 2})
    if (at >= 0 && at < n - 1 && std::find(all.begin(), all.end(), at) == all.end()) all.push_back(at);
  return all;
}

/// Returns the gradient of outputs in the tokens. Leaves out the auxiliary loss, because later queries may contribute to it.
/// @param where [batch, n] bool: outputs to include
Tensor output_gradient(const Instance& instance, Pass pass, const Tensor& where) {
  pass.queries = pass.queries.detach().requires_grad_();
  return gradients_of(weighted_sum(forward(instance, pass).output, where), {pass.queries}).front();
}

/// Checks that outputs at `at` have gradient 0 in later inputs.
void no_later_gradient(const Instance& instance, const Pass& pass, std::int64_t at, const std::string& where,
                       Finding& finding) {
  const auto n = pass.queries.size(1);
  const auto only = arange(n).eq(at).unsqueeze(0).expand({pass.queries.size(0), n});
  const auto later = output_gradient(instance, pass, only).narrow(1, at + 1, n - at - 1);
  finding.near(later, ablate::zeros_like(later), fmt::format("{}, gradient of output {} in later inputs", where, at),
               left_of_zero(pass.queries.scalar_type()));
}

/// Returns the pass with other tokens after a place, multiplied by `factor`.
Pass with_later(const Pass& pass, std::int64_t at, double factor) {
  const auto kept = at + 1, n = pass.queries.size(1), batch = pass.queries.size(0);
  auto changed = pass;
  const auto others = random_tokens(batch, n - kept, 31, pass.queries.scalar_type()) * factor;
  changed.queries = ablate::cat({pass.queries.narrow(1, 0, kept), others}, 1);
  return changed;
}

/// Checks that the `outputs` of a pass up to a place stay the same if later tokens change, with each factor.
void no_later_value(const Instance& instance, const Pass& pass, const Tensor& outputs, std::int64_t at,
                    const std::vector<double>& factors, const std::string& where, Finding& finding) {
  for (const double factor : factors)
    finding.near(run(instance, with_later(pass, at, factor)).narrow(1, 0, at + 1), outputs.narrow(1, 0, at + 1),
                 fmt::format("{}, other tokens after {}", where, at), same_shape(pass.queries.scalar_type()));
}

/// Checks that larger tokens after a place do not change the gradients of outputs before these tokens in inputs before them.
void no_later_share(const Instance& instance, const Pass& pass, std::int64_t at, const std::string& where, Finding& finding) {
  const auto n = pass.queries.size(1), kept = at + 1;
  const auto only = first_tokens(n, kept).expand({pass.queries.size(0), n});
  finding.near(output_gradient(instance, with_later(pass, at, 10), only).narrow(1, 0, kept),
               output_gradient(instance, pass, only).narrow(1, 0, kept),
               fmt::format("{}, other tokens after {}, gradients in earlier inputs", where, at),
               same_shape(pass.queries.scalar_type()));
}

const std::vector<double> kAlsoLarger = {1, 10}, kLarger = {10};

/// Checks sequences longer than a block, at some places. causal_borders() covers the borders in float64 in evaluation.
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

/// Returns the initial state and, if states are carried, the state of an earlier segment.
std::vector<AttentionState> states_before(const AttentionSubject& subject, const Instance& instance, const Setting& setting) {
  std::vector<AttentionState> states(1);
  if (setting.stand.carries)
    states.push_back(detached(forward(instance, {random_tokens(2, subject.length(70), 9, setting.type)}).state));
  return states;
}

/// Returns copies of one item's tokens. Each copy has other tokens, ten times as large, from its border on.
/// @return [borders, n, channels]
Tensor with_others(const Tensor& tokens, const std::vector<std::int64_t>& borders) {
  const auto n = tokens.size(1);
  const auto later = (arange(n).unsqueeze(0) >= integers(borders).unsqueeze(1)).unsqueeze(-1);
  const auto others = random_tokens(1, n, 31, tokens.scalar_type()) * 10;
  return others.where(later, tokens);
}

/// Returns a number of items so small that the memory for tokens, or for pairs of tokens, stays small.
std::size_t items_at_once(const AttentionSubject& subject, std::int64_t n) {
  const auto most = subject.promises().memory_exponent > 1.5 ? std::int64_t{3'000'000} / (n * n) : std::int64_t{40'000} / n;
  return static_cast<std::size_t>(std::max<std::int64_t>(2, most));
}

/// Compares outputs before each item's border.
/// @param after [borders, n, channels]
/// @param before [1, n, channels], expected for every item
/// @param own borders in any order, one for each item
void compare_before(const Tensor& after, const Tensor& before, const std::vector<std::int64_t>& own, const std::string& where,
                    const Allowed& allowed, Finding& finding) {
  const auto n = after.size(1);
  const auto seen = (arange(n).unsqueeze(0) < integers(own).unsqueeze(1)).unsqueeze(-1);  // [borders, n, 1]
  const auto off = (after - before).abs().masked_fill(seen.logical_not(), 0).nan_to_num(kWrong).amax(2);
  const auto worst = off.amax(1).argmax().item().toLong();
  const auto k = own[static_cast<std::size_t>(worst)];
  finding.near(after[worst].narrow(0, 0, k).unsqueeze(0), before.narrow(1, 0, k),
               fmt::format("{}, {} tokens, other tokens from {} on", where, n, k), allowed);
}

void look_at_borders(const AttentionSubject& subject, const Setting& setting, std::int64_t n,
                     const std::vector<std::int64_t>& borders, Finding& finding) {
  const NoGradGuard none;
  const auto instance = subject.make(1, setting, n);
  const auto tokens = random_tokens(1, n, 3);
  const auto before = run(*instance, {tokens});
  const auto step = items_at_once(subject, n);
  for (std::size_t first = 0; first < borders.size(); first += step) {
    const std::vector<std::int64_t> own(borders.begin() + static_cast<std::ptrdiff_t>(first),
                                        borders.begin() + static_cast<std::ptrdiff_t>(std::min(borders.size(), first + step)));
    const auto after = run(*instance, {with_others(tokens, own)});
    compare_before(after, before, own, setting.text(), kRounding, finding);
  }
}

/// Checks every 23rd border of 1,100 tokens in float32, in the shortest of five lengths that contains it. If a state is
/// carried, the tokens follow a segment. Batches of one length have equally many items, so that no decision changes by
/// rounding.
void look_at_spread(const AttentionSubject& subject, const Stand& stand, Finding& finding) {
  const NoGradGuard none;
  const Setting setting{stand, kFloat};
  const auto most = subject.length(1100);
  auto borders = spread_borders(most, 1 + randint(23, {1}, make_generator(stand.carries ? 8 : 3)).item().toLong());
  if (stand.carries) borders.insert(borders.end(), {256, most / 3 + 1, most / 2 + 6, most - 1});
  std::sort(borders.begin(), borders.end());
  auto next = borders.begin();
  for (const auto n : lengths_for(subject, {300, 500, 700, 900, 1100})) {
    std::vector<std::int64_t> all = {n};  // the first item is unchanged
    for (; next != borders.end() && *next < n; ++next) all.push_back(*next);
    const auto items = std::min(items_at_once(subject, n), all.size());
    all.resize((all.size() + items - 1) / items * items, n);
    const auto instance = subject.make(1, setting, n);
    const auto tokens = random_tokens(1, n, 3, kFloat);
    AttentionState state;
    if (stand.carries)
      for (const auto& tensor : forward(*instance, {random_tokens(1, subject.length(70), 9, kFloat)}).state)
        state.push_back(tensor.repeat_interleave(static_cast<std::int64_t>(items), 0));
    Tensor before;
    for (auto own = all.begin(); own != all.end(); own += static_cast<std::ptrdiff_t>(items)) {
      const std::vector<std::int64_t> some(own, own + static_cast<std::ptrdiff_t>(items));
      const auto after = run(*instance, {.queries = with_others(tokens, some), .state = state});
      if (!before.defined()) before = after.narrow(0, 0, 1);
      compare_before(after, before, some, setting.text() + (state.empty() ? "" : ", after a segment"), same_shape(kFloat),
                     finding);
    }
  }
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
      // causal_borders() covers all lengths at a place without surroundings, but after a segment only the longest length.
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
  throw std::runtime_error(
      "no output depends on a later input: the attention is causal, although it promises to be bidirectional");
}

void refused(const AttentionSubject& subject, Finding& finding) {
  const auto& promises = subject.promises();
  finding.saw();
  for (const bool is_causal : {true, false})
    if (!(is_causal ? promises.causal : promises.bidirectional) &&
        !throws([&] { subject.make(1, Stand{.causal = is_causal}); }))
      throw std::runtime_error(fmt::format("{} is not promised, but the factory accepts it", Stand{is_causal}.text()));
  if (!promises.stateful && !subject.make(1)->attention().initial_state(2).empty())
    throw std::runtime_error("a state is not promised, but there is an initial state");
  if (promises.length_multiple > 1) {
    const auto n = subject.length(13) + 1;
    Tensor output;
    if (!throws([&] { output = run(*subject.make(1), {random_tokens(2, n, 2)}); }))
      finding.finite(output, fmt::format("{} tokens are no multiple of {}, but are not refused", n, promises.length_multiple));
  }
}

void causal_borders(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.promised_stands()) {
    if (!stand.causal) continue;
    const Setting setting{stand};
    const auto few = subject.length(150), many = subject.length(300), most = subject.length(1100);
    look_at_borders(subject, setting, few, every_border(few), finding);
    look_at_spread(subject, stand, finding);
    if (stand.carries) continue;
    look_at_borders(subject, setting, many, borders_of_blocks(many, 16), finding);
    // A pass over all pairs of so many tokens takes as long as all shorter passes, so places beside the borders are left out.
    const bool pairs = subject.promises().memory_exponent > 1.5;
    look_at_borders(subject, setting, most, pairs ? every_border(most, 128) : borders_of_blocks(most, 128), finding);
  }
}

void causal_prefixes(const AttentionSubject& subject, Finding& finding) {
  const NoGradGuard none;
  for (const auto& stand : subject.promised_stands()) {
    if (!stand.causal) continue;
    const auto look = [&](const std::vector<std::int64_t>& wholes, const std::vector<std::int64_t>& cuts, Finding& to) {
      for (const auto n : lengths_for(subject, wholes)) {
        const auto instance = subject.make(1, stand, kDouble, n);
        const auto tokens = random_tokens(1, n, 2);
        const auto output = run(*instance, {tokens});
        for (const auto cut : lengths_for(subject, cuts))
          if (cut < n)
            to.near(run(*instance, {tokens.narrow(1, 0, cut)}), output.narrow(1, 0, cut),
                    fmt::format("{}, {} tokens against {} without the others", stand.text(), n, cut));
      }
    };
    // A method may depend on the length. If outputs already differ at these plain lengths, the method is not checked further.
    Finding plain(kRounding);
    look({6, 22, 58, 122, 154, 262}, {5, 10, 38, 86, 122, 154, 250}, plain);
    if (!plain.passed()) continue;
    look({std::begin(kTurning), std::end(kTurning)}, {10, 58, 122, 154, 250}, finding);
    auto cuts = many_lengths();
    const auto few = every_length(7);
    cuts.insert(cuts.end(), few.begin(), few.end());
    look({262}, cuts, finding);
  }
}

}  // namespace ablate::conformance
