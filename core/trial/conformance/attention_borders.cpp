// The future, looked for at every place: each item of a batch has other tokens from a place of its own on.
#include <fmt/format.h>

#include "core/trial/conformance/attention_contract.h"

namespace ablate::conformance {
namespace {

/// Tokens of one item and of many with others from their border on, ten times as large. @return [borders, n, channels]
Tensor with_others(const Tensor& tokens, const std::vector<std::int64_t>& borders) {
  const auto n = tokens.size(1);
  const auto later = (arange(n).unsqueeze(0) >= integers(borders).unsqueeze(1)).unsqueeze(-1);
  const auto others = random_tokens(1, n, 31, tokens.scalar_type()) * 10;
  return others.where(later, tokens);
}

/// So many items at once that what is kept of a pair of tokens, or of one, stays small.
std::size_t items_at_once(const AttentionSubject& subject, std::int64_t n) {
  const auto most = subject.promises().memory_exponent > 1.5 ? std::int64_t{3'000'000} / (n * n) : std::int64_t{40'000} / n;
  return static_cast<std::size_t>(std::max<std::int64_t>(2, most));
}

/// Outputs of items before their borders. @param after [borders, n, channels] @param before [1, n, channels], what all of them
/// have to be @param own ascending or not, one border an item
void compare_before(const Tensor& after, const Tensor& before, const std::vector<std::int64_t>& own, const std::string& where,
                    const Allowed& allowed, Finding& finding) {
  const auto n = after.size(1);
  const auto seen = (arange(n).unsqueeze(0) < integers(own).unsqueeze(1)).unsqueeze(-1);  // [borders, n, 1]
  const auto off = (after - before).abs().masked_fill(seen.logical_not(), 0).nan_to_num(kWrong).amax(2);
  const auto worst = off.amax(1).argmax().item().toLong();
  const auto k = own[static_cast<std::size_t>(worst)];
  finding.near(after[worst].narrow(0, 0, k).unsqueeze(0), before.narrow(1, 0, k),
               fmt::format("{}, {} tokens, other ones from {} on", where, n, k), allowed);
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

/// Looks at every 23rd border of 1,100 tokens, in float32, and behind a segment if a state is carried. Each border is looked at
/// in the shortest of five lengths that has it. All batches of one length have equally many items, so that rounding turns no
/// decision between them.
void look_at_spread(const AttentionSubject& subject, const Stand& stand, Finding& finding) {
  const NoGradGuard none;
  const Setting setting{stand, kFloat};
  const auto most = subject.length(1100);
  auto borders = spread_borders(most, 1 + randint(23, {1}, make_generator(stand.carries ? 8 : 3)).item().toLong());
  if (stand.carries) borders.insert(borders.end(), {256, most / 3 + 1, most / 2 + 6, most - 1});
  std::sort(borders.begin(), borders.end());
  auto next = borders.begin();
  for (const auto n : lengths_for(subject, {300, 500, 700, 900, 1100})) {
    std::vector<std::int64_t> all = {n};  // the first one is as it is
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

void causal_borders(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.promised_stands()) {
    if (!stand.causal) continue;
    const Setting setting{stand};
    const auto few = subject.length(150), many = subject.length(300), most = subject.length(1100);
    look_at_borders(subject, setting, few, every_border(few), finding);
    look_at_spread(subject, stand, finding);
    if (stand.carries) continue;
    look_at_borders(subject, setting, many, borders_of_blocks(many, 16), finding);
    // A pass over all pairs of so many tokens takes as long as all of the shorter ones: there the places beside are left out.
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
    // A method may do otherwise with the length; what it does at these it has to do at all.
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
