// States of sequences that are longer than most tables of positions.
#include <fmt/format.h>

#include "core/trial/conformance/attention_state.h"

namespace ablate::conformance {
namespace {

/// Returns the output of the last segment. @param first the position of the first token
Tensor last_of(const Instance& instance, const Tensor& tokens, std::int64_t n, std::int64_t first) {
  AttentionState state;
  Tensor output;
  for (std::int64_t at = 0; at < tokens.size(1); at += n) {
    auto result = forward(instance, {.queries = tokens.narrow(1, at, n),
                                     .state = state,
                                     .position = integers(std::vector(static_cast<std::size_t>(tokens.size(0)), first + at))});
    state = std::move(result.state);
    output = std::move(result.output);
  }
  return output;
}

}  // namespace

void state_far(const AttentionSubject& subject, Finding& finding) {
  if (!subject.full()) return;
  constexpr Allowed far{1e-3, "float32 over 5,000 tokens: the median, by the nearest of three inputs"},
      moved{1e-7, "float64, angles of positions above 5,000"};
  const NoGradGuard none;
  const auto n = subject.length(505), few = subject.length(33);
  for (auto stand : subject.promised_stands()) {
    if (!stand.carries) continue;
    if (subject.promises().rotary) stand.positions = Positions::kRotary;
    const auto exact = subject.make(1, stand, kDouble, n), narrow = subject.make(1, stand, kFloat, n);
    finding.nearest(fmt::format("{}, float32, segment 11 of {} tokens", stand.text(), n), far,
                    [&](std::uint64_t seed, Finding& now) {
                      const auto tokens = random_tokens(1, 11 * n, seed);
                      const auto expected = last_of(*exact, tokens, n, 0);
                      now.near_median(last_of(*narrow, tokens.to(kFloat), n, 0), expected, "the output", far, 1e-3);
                    });
    // If two near positions give the same, positions are relative, or nothing looks at them.
    const auto tokens = random_tokens(2, 2 * few, 2);
    const auto expected = last_of(*exact, tokens, few, 0);
    if ((last_of(*exact, tokens, few, 37) - expected).abs().max().item().toDouble() <= kRounding.error)
      finding.near(last_of(*exact, tokens, few, 5100), expected,
                   stand.text() + ", from position 5,100 on, against from 0 and from 37 on, which give the same", moved);
  }
}

}  // namespace ablate::conformance
