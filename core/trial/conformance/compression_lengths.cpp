// Compressions at lengths where code with blocks takes other ways, beyond what is long, and with segments of more tokens than a
// block has. At full depth alone.
#include <fmt/format.h>

#include <stdexcept>

#include "core/trial/conformance/compression_contract.h"
#include "core/trial/conformance/lengths.h"

namespace ablate::conformance {
namespace {

/// Every token of a batch written, and read, as an item alone.
void eight_alone(const CompressionSubject& subject, const Slots& slots, std::int64_t n, Finding& finding) {
  const NoGradGuard none;
  constexpr std::int64_t items = 8;
  const CompressionSetting setting{slots, kDouble, false, n};
  const auto compression = subject.make(setting);
  const auto in = inputs_of(n, {}, 7, items);
  const PassOptions options{.offsets = {n / 2}, .with_gradients = false};
  const auto together = pass(*compression, in, options).outputs;
  for (const std::int64_t i : {std::int64_t{0}, n % items, items - 1})
    finding.near(item_of(together, i), pass(*compression, in.item(i, n), options).outputs,
                 fmt::format("{}, item {} of {} of {} tokens, against alone", setting.text(), i, items, n), kRounding);
}

/// Other tokens in the place of the last ones change a read.
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

std::optional<Slots> long_segments(const CompressionSubject& subject) {
  const Slots slots{{1, 300}};
  try {
    subject.make({.slots = slots, .longest = 900});
  } catch (const std::invalid_argument&) {
    return {};
  }
  return slots;
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
  if (const auto slots = long_segments(subject)) look(*slots, lengths_for(subject, {700, 601, 600, 512, 301, 300, 257, 256}));
}

void batch_of_many(const CompressionSubject& subject, Finding& finding) {
  auto all = every_length(7);
  all.insert(all.end(), std::begin(kTurning), std::end(kTurning));
  for (const auto n : lengths_for(subject, all)) eight_alone(subject, subject.usual(), n, finding);
}

void constants_of_many(const CompressionSubject& subject, Finding& finding) {
  for (const auto n : lengths_for(subject, {std::begin(kTurning), std::end(kTurning)}))
    for (const bool training : {false, true}) constants_of(subject, finding, {subject.usual(), kDouble, training, n}, n);
  for (const auto n : lengths_beyond(subject)) constants_of(subject, finding, {subject.usual(), kDouble, false, n}, n);
  if (const auto slots = long_segments(subject))
    for (const auto n : lengths_for(subject, {256, 300, 512, 650}))
      constants_of(subject, finding, {*slots, kDouble, false, n}, n);
}

void extends_beyond(const CompressionSubject& subject, Finding& finding) {
  const NoGradGuard none;
  const auto slots = subject.promises().fixed_slots ? Slots{.fixed = 4} : subject.usual();
  const auto n = subject.length(1000);
  const CompressionSetting setting{slots, kDouble, false, n};
  const auto compression = subject.make(setting);
  const auto in = inputs_of(n, {});
  const auto whole = write(*compression, in);
  for (const auto part : lengths_for(subject, {64, 128, 256, 257, 258, 300, 513, 936})) {
    if (slots.fixed == 0 && part % slots.rate.denominator != 0) continue;  // between slots
    const auto held = write(*compression, in.tokens(0, part));
    const auto extended = write(*compression, in.tokens(part, n - part), &held);
    for (const auto similarity : kSimilarities)
      finding.near(read(*compression, in.queries, extended, similarity), read(*compression, in.queries, whole, similarity),
                   fmt::format("{}, {} and {} tokens, read by {}", setting.text(), part, n - part, text_of(similarity)),
                   kRounding);
  }
}

}  // namespace ablate::conformance
