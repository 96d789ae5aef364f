// Checks states that an attention carries from segment to segment, and that the initial state acts like no state.
#include <fmt/format.h>

#include <numeric>
#include <stdexcept>

#include "core/trial/conformance/attention/contract.h"
#include "core/trial/conformance/engine/registered.h"

namespace ablate::conformance {
namespace {

constexpr std::int64_t kSegments = 3;
/// Number of segments, and of tokens in each. All segments together have more tokens than a memory holds.
constexpr std::int64_t kMany = 8, kManyTokens = 33;

/// Returns three segments of three items. Item 1 is 100 times as large, item 2 is 0.01 times as large: states must not mix.
std::vector<Tensor> segments_of(std::int64_t n) {
  std::vector<Tensor> all;
  for (std::uint64_t seed = 2; seed < 2 + kSegments; ++seed) all.push_back(scaled(random_tokens(3, n, seed), {1, 100, 0.01}));
  return all;
}

Tensor starts(const Tensor& segment, std::int64_t position) { return integers(std::vector(segment.size(0), position)); }

/// Returns the outputs of each segment of a sequence. Each segment gets the state of the segment before.
/// @param position position of the first token
std::vector<Tensor> sequence(const Instance& instance, const std::vector<Tensor>& segments, std::int64_t position = 0) {
  std::vector<Tensor> outputs;
  AttentionState state;
  for (const auto& segment : segments) {
    auto result = forward(instance, {.queries = segment, .state = state, .position = starts(segment, position)});
    position += segment.size(1);
    outputs.push_back(std::move(result.output));
    state = std::move(result.state);
  }
  return outputs;
}

/// Feeds two sequences alternately to one instance. Only the states that the host passes in separate the two sequences.
void by_turns(const AttentionSubject& subject, const Setting& setting, const std::vector<Tensor>& segments, Finding& finding) {
  const auto instance = subject.make(1, setting), alone = subject.make(1, setting);
  const auto expected = sequence(*alone, segments);
  AttentionState one, other;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto position = starts(segments[i], static_cast<std::int64_t>(i) * segments[i].size(1));
    const auto result = forward(*instance, {.queries = segments[i], .state = one, .position = position});
    finding.near(result.output, expected[i],
                 fmt::format("{}, two sequences by turns, segment {}: state is kept inside", setting.text(), i));
    if (result.state.empty()) throw std::runtime_error("stateful is promised, but forward returned no state");
    finding.finite(result.state, setting.text() + ", the state");
    if (i > 0 && forward(*instance, {.queries = segments[i], .position = position}).output.equal(result.output))
      throw std::runtime_error("the state of a segment changes nothing in the next one");
    one = detached(result.state);
    other = detached(forward(*instance, {.queries = random_tokens(3, segments[i].size(1), 10 + i), .state = other}).state);
  }
}

void apart(const Instance& instance, const std::vector<Tensor>& segments, const std::vector<Tensor>& together,
           const std::string& where, Finding& finding) {
  const auto n = segments[0].size(1);
  for (std::int64_t i = 0; i < 3; ++i) {
    std::vector<Tensor> own;
    for (const auto& segment : segments) own.push_back(item(segment, i, n));
    const auto outputs = sequence(instance, own);
    for (std::size_t k = 0; k < outputs.size(); ++k)
      finding.near(item(together[k], i, n), outputs[k],
                   fmt::format("{}, segment {}: item {}'s state depends on its batch mates", where, k, i));
  }
}

/// Checks that item 1 starts anew with the second segment if its state is replaced by its row of the initial state.
void reset(const Instance& instance, const std::vector<Tensor>& segments, const std::vector<Tensor>& together,
           const std::string& where, Finding& finding) {
  const auto n = segments[0].size(1);
  auto mixed = forward(instance, {.queries = segments[0], .position = starts(segments[0], 0)}).state;
  const auto fresh = instance.attention().initial_state(3);
  if (fresh.size() != mixed.size())
    throw std::runtime_error(fmt::format("an initial state of {} tensors, and forward returns {}", fresh.size(), mixed.size()));
  for (std::size_t t = 0; t < mixed.size(); ++t) {
    if (fresh[t].sizes() != mixed[t].sizes() || fresh[t].scalar_type() != mixed[t].scalar_type())
      throw std::runtime_error(fmt::format("tensor {} of the initial state has another shape or type than forward's", t));
    mixed[t] = mixed[t].detach().clone();
    mixed[t][1].copy_(fresh[t][1]);
  }
  const auto first = integers(std::vector<std::int64_t>{n, 0, n});
  const auto output = forward(instance, {.queries = segments[1], .state = mixed, .position = first}).output;
  const auto anew = run(instance, {.queries = item(segments[1], 1, n)});
  finding.near(item(output, 1, n), anew, where + ", a row of the initial state differs from a new start");
  for (const std::int64_t i : {0, 2})
    finding.near(item(output, i, n), item(together[1], i, n),
                 where + ", an item that starts anew changes the states of the others");
}

void cut(const Instance& instance, const std::vector<Tensor>& segments) {
  const auto first = segments[0].clone().requires_grad_();
  const auto state = detached(forward(instance, {.queries = first}).state);
  const auto output = forward(instance, {.queries = segments[1], .state = state}).output;
  if (output.requires_grad() && gradients_of(output.sum(), {first}).front().ne(0).any().item().toBool())
    throw std::runtime_error("a gradient reaches the first segment past a detached state: the module keeps its own state");
}

/// Checks that a full memory keeps the newest segments: if a segment still changes the last output, all later segments do.
void keeps_newest(const AttentionSubject& subject, const Stand& stand, Finding& finding) {
  const auto n = subject.length(kManyTokens);
  const auto instance = subject.make(1, stand, kDouble, n);
  const auto tokens = random_tokens(1, n * kMany, 2), others = random_tokens(1, n * kMany, 50);
  const NoGradGuard none;
  AttentionState state;
  std::vector<Tensor> last(kMany);  // last output with segment j replaced; last element: nothing replaced
  std::vector<AttentionState> branches;
  for (std::int64_t i = 0; i < kMany; ++i) {
    const auto pass = [&](const Tensor& all, const AttentionState& before) {
      const auto segment = all.narrow(1, i * n, n);
      return forward(*instance, {.queries = segment, .state = before, .position = starts(segment, i * n)});
    };
    for (std::size_t j = 0; j < branches.size(); ++j) {
      auto result = pass(tokens, branches[j]);
      branches[j] = std::move(result.state);
      last[j] = std::move(result.output);
    }
    if (i + 1 < kMany) branches.push_back(pass(others, state).state);
    auto result = pass(tokens, state);
    state = std::move(result.state);
    last.back() = std::move(result.output);
  }
  finding.saw();
  const double rounded = 1e-12 * last.back().abs().max().item().toDouble();
  std::int64_t seen = -1;
  for (std::int64_t j = 0; j + 1 < kMany; ++j) {
    const bool matters = ((last[static_cast<std::size_t>(j)] - last.back()).abs() > rounded).any().item().toBool();
    if (!matters && seen >= 0)
      throw std::runtime_error(fmt::format(
          "{}: the last of {} segments of {} tokens still depends on segment {}, but no longer on segment {}: a full memory "
          "has to keep the newest segments",
          stand.text(), kMany, n, seen, j));
    if (matters) seen = j;
  }
}

/// Compares the third segment after a padded second segment (`real`: number of tokens of each item) with a run without padding,
/// in a batch and for each item alone.
void after_padding(const AttentionSubject& subject, const Setting& setting, Finding& finding) {
  const auto instance = subject.make(1, setting);
  const auto n = subject.length(13);
  const auto segments = segments_of(n);
  const auto third_of = [&](const Tensor& first, const Tensor& second, const Tensor& third,
                            const std::vector<std::int64_t>& real) {
    const auto state = forward(*instance, {.queries = first, .position = starts(first, 0)}).state;
    const auto mask = padding_mask(real, n);
    std::vector<std::int64_t> position;
    for (const auto length : real) position.push_back(n + length);
    const auto poisoned = second.masked_fill(mask.logical_not().unsqueeze(-1), 1e3);
    const auto padded =
        forward(*instance, {.queries = poisoned, .mask = mask, .state = state, .position = starts(second, n)}).state;
    return run(*instance, {.queries = third, .state = padded, .position = integers(position)});
  };
  const std::vector<std::int64_t> real = {n, subject.length(5), 0};
  const auto together = third_of(segments[0], segments[1], segments[2], real);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto length = real[static_cast<std::size_t>(i)];
    const auto first = item(segments[0], i, n), second = item(segments[1], i, n), third = item(segments[2], i, n);
    const auto expected =
        sequence(*instance, length > 0 ? std::vector{first, item(second, 0, length), third} : std::vector{first, third}).back();
    const auto where = fmt::format("{}, after a segment of {} tokens and {} of padding", setting.text(), length, n - length);
    finding.near(item(together, i, n), expected, where);
    finding.near(third_of(first, second, third, {length}), expected, where + ", a batch of one item");
  }
}

/// Checks in every type that a state changes the next segment, and keeps its type.
void moves_on(const AttentionSubject& subject, const Stand& stand, Finding& finding) {
  for (const auto& setting : subject.settings()) {
    if (!(setting.stand == stand)) continue;
    const auto instance = subject.make(1, setting);
    const auto n = subject.length(13);
    const auto initial = instance->attention().initial_state(2);
    const auto first = forward(*instance, {random_tokens(2, n, 2, setting.type)});
    const auto second = forward(*instance, {.queries = random_tokens(2, n, 3, setting.type), .state = first.state});
    for (std::size_t i = 0; i < initial.size(); ++i) {
      finding.finite(second.state.at(i), fmt::format("{}, state {}", setting.text(), i));
      if (second.state[i].scalar_type() != initial[i].scalar_type())
        throw std::runtime_error(
            fmt::format("{}: tensor {} of the state has another type after two segments than at the start", setting.text(), i));
    }
    if (run(*instance, {.queries = random_tokens(2, n, 3, setting.type)}).equal(second.output))
      throw std::runtime_error(setting.text() + ": the state of a segment changes nothing in the next one");
  }
}

/// True if both instances register tensors of the same names and shapes. A learned initial state may exist in only one of them.
bool alike(const Instance& one, const Instance& other) {
  const auto shapes = [](const Instance& instance) {
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> all;
    for (const auto& entries : {instance.parameters(), instance.buffers()})
      for (const auto& entry : entries) all.emplace_back(entry.name, entry.tensor.sizes().vec());
    return all;
  };
  return shapes(one) == shapes(other);
}

constexpr Allowed kStart{1e-8, "float64, products of decays in another order"};

}  // namespace

void state(const AttentionSubject& subject, Finding& finding) {
  const auto segments = segments_of(subject.length(13));
  for (const auto& stand : subject.carrying()) {
    if (subject.make(1, stand)->attention().initial_state(2).empty())
      throw std::runtime_error("stateful is promised, but the initial state is empty at a place with a state");
    for (const auto& setting : subject.settings({stand}, kDouble)) {
      by_turns(subject, setting, segments, finding);
      const auto instance = subject.make(1, setting);
      const auto together = sequence(*subject.make(1, setting), segments);
      forward(*instance, {segments[2]});
      finding.near(run(*instance, {segments[0]}), together[0],
                   setting.text() + ", an initial state after other segments differs from a new instance");
      cut(*instance, segments);
      if (subject.draws(setting, finding)) continue;
      apart(*instance, segments, together, setting.text(), finding);
      reset(*instance, segments, together, setting.text(), finding);
    }
    moves_on(subject, stand, finding);
    keeps_newest(subject, stand, finding);
  }
}

void state_padding(const AttentionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings(subject.carrying(), kDouble))
    if (!subject.draws(setting, finding)) after_padding(subject, setting, finding);
}

void recurrent(const AttentionSubject& subject, Finding& finding) {
  const Stand stand{.causal = true, .carries = true};
  constexpr Allowed allowed{1e-8, "float64, products of decays in another order"};
  auto lengths = subject.long_lengths();
  lengths.resize(1);
  lengths.insert(lengths.begin(), subject.length(21));
  for (const auto& setting : subject.settings({stand}, kDouble))
    for (const auto n : lengths) {
      if (subject.draws(setting, finding)) continue;
      const auto instance = subject.make(1, setting, n);
      const auto tokens = random_tokens(2, n, 2);
      const auto outcome = [&](const std::vector<std::int64_t>& parts) {
        const auto leaf = tokens.clone().requires_grad_();
        const auto output = ablate::cat(sequence(*instance, leaf.split_with_sizes(parts, 1)), 1);
        auto inputs = parameters_of(*instance);
        inputs.push_back(leaf);
        auto all = gradients_of(weighted_sum(output), inputs);
        all.insert(all.begin(), output);
        return all;
      };
      const auto unit = subject.length(1);
      const auto whole = outcome({n});
      const auto compare = [&](const std::vector<std::int64_t>& parts, const char* how) {
        const auto found = outcome(parts);
        for (std::size_t i = 0; i < whole.size(); ++i)
          finding.near(
              found[i], whole[i],
              fmt::format("{}, {} tokens, {} {}", setting.text(), n, how, i == 0 ? "outputs are off" : "gradients are off"),
              allowed);
      };
      if (const auto part = subject.length(8); part < n) compare({part, n - part}, "by segments the");
      if (const auto part = subject.length(64); part < n) compare({part, n - part}, "by segments the");
      if (n < 100) compare(std::vector(static_cast<std::size_t>(n / unit), unit), "token by token the");
    }
}

void state_far(const AttentionSubject& subject, Finding& finding) {
  constexpr Allowed far{1e-3, "median error of float32 over 5,000 tokens, smallest of three inputs"},
      moved{1e-7, "float64, angles of positions above 5,000"};
  const NoGradGuard none;
  const auto n = subject.length(505), few = subject.length(33);
  for (auto stand : subject.promised_stands(true)) {
    if (subject.promises().rotary) stand.positions = Positions::kRotary;
    const auto exact = subject.make(1, stand, kDouble, n), narrow = subject.make(1, stand, kFloat, n);
    finding.nearest(fmt::format("{}, float32, segment 11 of {} tokens", stand.text(), n), far,
                    [&](std::uint64_t seed, Finding& now) {
                      const auto tokens = random_tokens(1, 11 * n, seed);
                      const auto expected = sequence(*exact, tokens.split(n, 1)).back();
                      const auto found = sequence(*narrow, tokens.to(kFloat).split(n, 1)).back();
                      now.near_median(found, expected, "the output", far, 1e-3);
                    });
    // If positions from 0 and from 37 on give the same outputs, positions are relative or are ignored.
    const auto tokens = random_tokens(2, 2 * few, 2);
    const auto from = [&](std::int64_t first) { return sequence(*exact, tokens.split(few, 1), first).back(); };
    const auto expected = from(0);
    if ((from(37) - expected).abs().max().item().toDouble() <= kRounding.error)
      finding.near(from(5100), expected,
                   stand.text() +
                       ", from position 5,100 on, compared with positions from 0 on; positions from 37 on give the same "
                       "outputs as from 0 on",
                   moved);
  }
}

void start(const AttentionSubject& subject, Finding& finding) {
  const auto promised = subject.promised_stands();
  for (const auto& stand : subject.carrying())
    for (const bool training : {false, true})
      for (const auto n : subject.short_and_long()) {
        auto without = stand;
        without.carries = false;
        if (std::find(promised.begin(), promised.end(), without.alone()) == promised.end()) continue;
        const Setting setting{stand, kDouble, training}, bare{without, kDouble, training};
        if (subject.draws(setting, finding) || subject.draws(bare, finding)) continue;
        const auto carrying = subject.make(1, setting, n), plain = subject.make(1, bare, n);
        if (!alike(*carrying, *plain)) {
          finding.saw();
          finding.say("not compared for " + stand.text() + ": it registers other tensors if no state is carried");
          continue;
        }
        copy_registered(*plain, *carrying);
        Pass pass{random_tokens(3, n, 2)};
        for (const bool padded : {false, true}) {
          if (padded && !subject.promises().key_padding) continue;
          if (padded) pass.mask = padding_mask({n, subject.length(n * 8 / 13), subject.length(1)}, n);
          finding.near(real(run(*carrying, pass), pass.mask), real(run(*plain, pass), pass.mask),
                       fmt::format("{}, {} tokens{}, with the initial state against an instance that carries none",
                                   setting.text(), n, padded ? ", padded" : ""),
                       kStart);
        }
      }
}

}  // namespace ablate::conformance
