// Masks: a padded item must equal the item without padding in memories, reads, gradients and buffers, whatever the padding is.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/trial/conformance/compression/contract.h"
#include "core/trial/conformance/engine/lengths.h"

namespace ablate::conformance {
namespace {

/// Returns an item's part of a memory: its first `own` slots.
std::vector<Named> own_slots(const Memory& memory, std::int64_t item, std::int64_t own) {
  std::vector<Named> all;
  for (const auto& [what, value] : named(memory)) {
    const auto part = value.narrow(0, item, 1);
    all.push_back({what, what == "scale of the memory" ? part : part.narrow(2, 0, own)});
  }
  return all;
}

/// Returns the registered tensors after two training steps.
std::vector<Tensor> moved(const CompressionSubject& subject, const CompressionSetting& setting, const CompressionInputs& in) {
  const auto compression = subject.make(setting);
  for (const std::int64_t step : {1, 2}) train_step(*compression, in, step);
  return contents(*compression);
}

/// Returns the outputs with 0 for padded queries.
std::vector<Named> asked(const std::vector<Named>& outputs, const Tensor& query_mask) {
  std::vector<Named> all;
  for (const auto& [what, value] : outputs)
    all.push_back({what, value.masked_fill(query_mask.logical_not().unsqueeze(1).unsqueeze(-1), 0)});
  return all;
}

void under_two(const CompressionSubject& subject, const CompressionSetting& setting, std::int64_t n, Finding& finding) {
  const auto compression = subject.make(setting);
  const std::vector<std::int64_t> tokens = {n, subject.length(n * 8 / 13), subject.length(1)},
                                  asking = {subject.length(n * 5 / 13), n, subject.length(n * 8 / 13)};
  auto in = inputs_of(n, tokens).to(setting.type);
  in.queries = normal({3, CompressionSubject::kHeads, n, CompressionSubject::kChannels}, 12, setting.type);
  in.query_mask = padding_mask(asking, n);
  const PassOptions options{.offsets = {0}, .with_gradients = false};
  const auto clean = pass(*compression, in, options);
  const auto where = fmt::format("{}, {} queries and as many tokens, each under its own mask", setting.text(), n);
  const auto alike = [&](const CompressionInputs& other, const std::string& what) {
    const auto found = pass(*compression, other, options);
    finding.near(named(found.memory), named(clean.memory), where + what, same_shape(setting.type));
    finding.near(asked(found.outputs, in.query_mask), asked(clean.outputs, in.query_mask), where + what,
                 same_shape(setting.type));
  };
  alike(in.padded_with(std::nan("")), ": NaN in padded tokens");
  alike(in.padded_with(1000), ": 1000 in padded tokens");
  auto other = in;
  other.queries = in.queries.masked_fill(in.query_mask.logical_not().unsqueeze(1).unsqueeze(-1), 1000);
  alike(other, ": other numbers in padded queries");
  if (setting.type != kDouble) return;
  if (draws(clean, finding)) return;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    auto own = in.item(at, tokens[i]);
    own.queries = own.queries.narrow(2, 0, asking[i]);
    auto found = item_of(clean.outputs, at);
    for (auto& one : found) one.value = one.value.narrow(2, 0, asking[i]);
    finding.near(found, pass(*compression, own, options).outputs,
                 fmt::format("{}: item {} against its {} queries and {} tokens alone", where, i, asking[i], tokens[i]),
                 kRounding);
  }
}

/// Throws if no read changes when other tokens replace the last tokens.
void last_is_written(const CompressionSubject& subject, const Slots& slots, std::int64_t n, Finding& finding) {
  const NoGradGuard none;
  constexpr std::int64_t last = 37;
  constexpr double rounded = 1e-9;
  const auto compression = subject.make({slots, kDouble, false, n});
  const auto in = inputs_of(n, {});
  auto other = in;
  const auto more = inputs_of(last, {}, 8);
  other.keys = ablate::cat({in.keys.narrow(2, 0, n - last), more.keys * 10}, 2);
  other.values = ablate::cat({in.values.narrow(2, 0, n - last), more.values * 10}, 2);
  const auto reads = [&](const CompressionInputs& inputs) {
    return pass(compression, inputs, {.with_gradients = false}).outputs;
  };
  const auto before = reads(in), after = reads(other);
  bool is_read = false;
  for (std::size_t i = 0; i < before.size(); ++i)
    is_read =
        is_read || ((after[i].value - before[i].value).abs() > before[i].value.abs().max() * rounded).any().item().toBool();
  finding.saw();
  if (!is_read)
    throw std::runtime_error(fmt::format("{} tokens: other tokens in the place of the last {} change no read", n, last));
}

}  // namespace

void padding(const CompressionSubject& subject, Finding& finding, const CompressionSetting& setting,
             const std::vector<std::int64_t>& lengths) {
  const auto compression = subject.make(setting);
  const auto in = inputs_of(lengths[0], lengths, 7, 3, setting.shape).to(setting.type);
  const PassOptions options{.offsets = {0, lengths[0] / 2}};
  const auto padded = pass(*compression, in, options);
  if (draws(padded, finding)) return;
  for (std::size_t item = 0; item < lengths.size(); ++item) {
    if (lengths[item] == 0) continue;
    const auto i = static_cast<std::int64_t>(item);
    const auto alone = pass(*compression, in.item(i, lengths[item]), options);
    const auto place =
        fmt::format("{}, {} of {} tokens against {} alone", setting.text(), lengths[item], lengths[0], lengths[item]);
    const auto own = setting.slots.of(lengths[item]);
    const auto look = [&](const std::vector<Named>& found, const std::vector<Named>& expected) {
      compare_items(finding, found, expected, place, setting.type);
    };
    look(own_slots(padded.memory, i, own), own_slots(alone.memory, 0, own));
    look(item_of(padded.outputs, i), alone.outputs);
    look(item_of(of_inputs(padded.gradients), i, lengths[item]), of_inputs(alone.gradients));
    if (lengths[0] > subject.length(16)) continue;
    auto one = in.item(i, lengths[0]);
    one.mask = in.mask.narrow(0, i, 1);
    look(pass(*compression, one, {.offsets = options.offsets, .with_gradients = false}).outputs, alone.outputs);
  }
}

void padding(const CompressionSubject& subject, Finding& finding) {
  for (const auto rate : subject.rates())
    for (const auto& setting : subject.settings({rate})) padding(subject, finding, setting, subject.lengths({13, 7, 12, 1}));
  if (!subject.full()) return;
  const auto many = subject.lengths({300, 150, 65, 64, 13, 2, 1}), most = subject.lengths({1100, 1030, 600});
  for (const auto& lengths : {many, most})
    for (const auto& setting : subject.settings(subject.usual(), lengths[0])) padding(subject, finding, setting, lengths);
  for (const bool training : {false, true}) padding(subject, finding, {subject.uneven(), kDouble, training, many[0]}, many);
  padding(subject, finding, {subject.usual(), kDouble, false, many[0], kFourHeads}, many);
}

void poison(const CompressionSubject& subject, Finding& finding) {
  const auto look = [&](const CompressionSetting& setting, const std::vector<std::int64_t>& lengths) {
    const auto compression = subject.make(setting);
    const auto in = inputs_of(lengths[0], lengths).to(setting.type);
    const auto clean = pass(*compression, in);
    for (const double under : {std::nan(""), std::numeric_limits<double>::infinity(), -3e4}) {
      const auto poisoned = pass(*compression, in.padded_with(under));
      const auto place = fmt::format("{}, {} tokens, {} under the mask", setting.text(), lengths[0], under);
      finding.near(poisoned.results(), clean.results(), place, same_shape(setting.type));
      for (const auto i : {1, 2}) {
        const auto gradient = poisoned.gradients[static_cast<std::size_t>(i)].value.masked_select(in.gone());
        finding.near(gradient, zeros_like(gradient), place + ", gradients there", kExact);
      }
    }
  };
  for (const auto rate : subject.rates())
    for (const auto& setting : subject.settings({rate})) look(setting, subject.lengths({12, 7, 1, 0}));
  if (!subject.full()) return;
  const auto many = subject.lengths({150, 65, 64, 2});
  for (const auto& setting : subject.settings(subject.usual(), many[0])) look(setting, many);
}

void empty_items(const CompressionSubject& subject, Finding& finding) {
  for (const auto& slots : {subject.usual(), Slots{subject.rates().front()}})
    for (const auto& setting : subject.settings(slots))
      for (const auto& lengths : {subject.lengths({0, 8, 0}), std::vector<std::int64_t>{0, 0}}) {
        const auto found = pass(*subject.make(setting), inputs_of(subject.length(8), lengths).to(setting.type));
        finding.finite(found.gradients, setting.text());
        for (const auto& [what, output] : found.outputs)
          for (std::size_t i = 0; i < lengths.size(); ++i) {
            const auto own = output[static_cast<std::int64_t>(i)];
            if (lengths[i] == 0) finding.near(own, zeros_like(own), fmt::format("{}, item {}, {}", setting.text(), i, what));
          }
      }
}

void buffers(const CompressionSubject& subject, Finding& finding) {
  const auto look_at = [&](const Slots& slots, at::ScalarType type, std::int64_t n) {
    const auto longer = subject.length(3 * n);
    const CompressionSetting setting{slots, type, true, longer};
    const auto lengths = subject.lengths({n, (n + 1) / 2, 1, 0});
    const auto wide = inputs_of(longer, lengths).to(type);
    const auto names = [&] {
      std::vector<std::string> all;
      const auto compression = subject.make(setting);
      for (const auto& entry : compression->parameters()) all.push_back(entry.name);
      for (const auto& entry : compression->buffers()) all.push_back(entry.name);
      return all;
    }();
    const auto look = [&](const CompressionInputs& found, const CompressionInputs& expected, const std::string& how) {
      const auto left = moved(subject, setting, found), right = moved(subject, setting, expected);
      for (std::size_t i = 0; i < left.size(); ++i)
        finding.near(left[i], right[i], fmt::format("{}, two steps, {} tokens, {}: {}", setting.text(), n, how, names[i]),
                     same_shape(type));
    };
    look(wide.padded_with(std::nan("")), wide, "NaN under the mask");
    look(wide.padded_with(1000), wide, "1000 under the mask");
    if (draws(pass(*subject.make(setting), wide), finding)) return;
    auto cut = wide.tokens(0, n);
    cut.mask = wide.mask.narrow(1, 0, n);
    look(wide, cut, "padded further");
    auto one = cut.item(1, n);
    one.mask = cut.mask.narrow(0, 1, 1);
    look(one, cut.item(1, lengths[1]), "padded against cut");
  };
  for (const auto& slots : {subject.usual(), subject.uneven()})
    for (const auto type : subject.types()) look_at(slots, type, subject.length(13));
  if (!subject.full()) return;
  for (const std::int64_t n : {150, 300})
    for (const auto type : subject.types()) look_at(subject.usual(), type, subject.length(n));
}

void query_mask(const CompressionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings(subject.usual())) {
    const auto n = subject.length(13);
    auto in = inputs_of(n, {}).to(setting.type);
    in.query_mask = padding_mask({5, 3, 1}, CompressionSubject::kQueries);
    auto other = in;
    const auto gone = in.query_mask.logical_not().unsqueeze(1).unsqueeze(-1);
    other.queries =
        in.queries.masked_fill(gone, 0) + normal(in.queries.sizes(), 41, setting.type).masked_fill(gone.logical_not(), 0) * 10;
    const auto compression = subject.make(setting);
    const auto first = pass(*compression, in, {.with_gradients = false});
    const auto second = pass(*compression, other, {.with_gradients = false});
    finding.near(named(second.memory), named(first.memory), setting.text() + ", other queries under their mask",
                 same_shape(setting.type));
    for (std::size_t i = 0; i < first.outputs.size(); ++i)
      finding.near(second.outputs[i].value.masked_fill(gone, 0), first.outputs[i].value.masked_fill(gone, 0),
                   setting.text() + ", other queries under their mask, " + first.outputs[i].what, same_shape(setting.type));
  }
}

void two_masks(const CompressionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings(subject.usual())) under_two(subject, setting, subject.length(13), finding);
}

void padding_of_many(const CompressionSubject& subject, Finding& finding) {
  const auto few = lengths_for(subject, every_length(16)), many = lengths_for(subject, many_lengths());
  const auto usual = subject.usual();
  const auto look = [&](const Slots& slots, const std::vector<std::int64_t>& lengths, at::ScalarType type = kDouble,
                        bool training = false) {
    padding(subject, finding, {slots, type, training, lengths.front()}, lengths);
  };
  look(usual, few);
  const auto eight = lengths_for(subject, every_length(8));
  look(usual, eight, kDouble, true);
  look(usual, eight, kFloat);
  look(usual, many);
  for (const auto n : kTurning) look(usual, lengths_for(subject, plain_below(n)));
  look(usual, lengths_for(subject, plain_below(128)), kDouble, true);
  look(usual, lengths_for(subject, plain_below(128)), kFloat);
  const auto beyond = lengths_beyond(subject);
  for (const auto n : beyond) look(usual, {n, n - subject.length(72)});
  if (beyond.size() > 1) last_is_written(subject, usual, beyond.back(), finding);
  if (subject.takes(kLowest)) look({kLowest}, lengths_for(subject, {262, 256, 193, 129, 128, 65, 64, 63}));
  if (const auto slots = subject.long_segments()) look(*slots, lengths_for(subject, {700, 601, 600, 512, 301, 300, 257, 256}));
}

}  // namespace ablate::conformance
