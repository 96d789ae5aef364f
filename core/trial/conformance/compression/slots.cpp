// Slots of a memory: their number for each item, their reads, and their usage.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/trial/conformance/compression/contract.h"
#include "core/util/rate_text.h"

namespace ablate::conformance {
namespace {

/// Throws if the memory has other slots than `slots` prescribes for items of these lengths (no lengths: no mask).
void check_slots(const Memory& memory, const Slots& slots, std::int64_t n, const std::vector<std::int64_t>& lengths,
                 bool has_keys, const std::string& where) {
  const auto expected = slots.of(n);
  for (const auto& [what, tensor] : {std::pair{"values", memory.values}, {"keys", memory.keys}, {"mass", memory.mass}})
    if (tensor.defined() && tensor.size(2) != expected)
      throw std::runtime_error(fmt::format("{}: {} of {} slots, expected {}", where, what, tensor.size(2), expected));
  if (memory.keys.defined() != has_keys)
    throw std::runtime_error(where + (has_keys ? ": slots without keys" : ": keys, which are not promised"));
  if (lengths.empty() || slots.fixed > 0) {
    if (memory.slots.defined() && !memory.slots.all().item().toBool())
      throw std::runtime_error(where + ": a slot is marked as missing, although all slots exist");
    return;
  }
  if (!memory.slots.defined())
    throw std::runtime_error(where + ": Memory::slots is undefined, although some items have fewer slots");
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto item = static_cast<std::int64_t>(i), own = slots.of(lengths[i]);
    const auto exist = memory.slots[item][0];
    if (exist.sum().item().toLong() != own || !exist.narrow(0, 0, own).all().item().toBool())
      throw std::runtime_error(fmt::format("{}: item {} of {} tokens has {} slots, expected the first {}", where, item,
                                           lengths[i], exist.sum().item().toLong(), own));
    if (memory.mass.defined() && own < expected && memory.mass[item].narrow(1, own, expected - own).ne(0).any().item().toBool())
      throw std::runtime_error(fmt::format("{}: item {} has {} slots, but a later slot has a mass", where, item, own));
  }
}

/// Returns the promised weights [batch, heads, n, slots], computed directly, and 0 for a query with nothing to read.
Tensor weights_of(const Tensor& queries, const Memory& memory) {
  const auto scores = queries.matmul(memory.keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(queries.size(3)));
  const auto mass = memory.mass.unsqueeze(2).expand_as(scores), gone = mass <= 0;
  const auto weights = (scores - scores.amax(-1, true)).exp() * mass.masked_fill(gone, 0);
  const auto total = weights.sum(-1, true);
  return weights / total.masked_fill(total <= 0, std::numeric_limits<double>::infinity());
}

struct Read {
  CompressionInputs in;
  Memory memory;
  std::string where;
};

/// Calls f with memories at every rate, padded and not, in evaluation and training.
template <class F>
void each_read(const CompressionSubject& subject, const F& f) {
  for (const auto rate : subject.rates())
    for (const auto& setting : subject.settings({rate})) {
      if (setting.type != kDouble) continue;
      const auto compression = subject.make(setting);
      for (const bool masked : {false, true}) {
        const auto lengths = masked ? subject.lengths({13, 7, 0}) : std::vector<std::int64_t>{};
        auto in = inputs_of(subject.length(13), lengths);
        const auto memory = write(*compression, in);
        f(*compression, Read{in, memory, setting.text() + (masked ? ", masked" : "")});
      }
    }
}

}  // namespace

void rates(const CompressionSubject& subject, Finding& finding) {
  const auto& taken = subject.rates();
  finding.saw();
  if (std::none_of(taken.begin(), taken.end(), [](Rate rate) { return rate.value() < 1; }))
    throw std::runtime_error("it accepts no rate below 1: " + subject.refusals());
  if (!subject.refusals().empty()) finding.say(subject.refusals());
}

void slots(const CompressionSubject& subject, Finding& finding) {
  finding.saw();
  const auto counts =
      subject.full() ? std::vector<std::int64_t>{1, 2, 3, 5, 7, 8, 16, 33, 64} : std::vector<std::int64_t>{1, 7, 16};
  for (const auto rate : subject.rates())
    for (const bool training : {false, true}) {
      const CompressionSetting setting{{rate}, kDouble, training};
      const auto compression = subject.make(setting);
      for (const auto n : subject.lengths(counts)) {
        const auto lengths = subject.lengths({n, (n + 1) / 2, 1, 0});
        for (const bool masked : {false, true}) {
          const auto given = masked ? lengths : std::vector<std::int64_t>{};
          const auto memory = write(*compression, inputs_of(n, given));
          check_slots(memory, {rate}, n, given, subject.promises().slots_have_keys,
                      fmt::format("{}, {} tokens{}", setting.text(), n, masked ? ", masked" : ""));
        }
      }
    }
}

void fixed_slots(const CompressionSubject& subject, Finding& finding) {
  for (const std::int64_t fixed : {1, 4, 7}) {
    const Slots slots{.fixed = fixed};
    for (const auto& setting : subject.settings(slots)) {
      const auto compression = subject.make(setting);
      const auto counts =
          setting.type == kDouble ? std::vector<std::int64_t>{1, 3, 4, 6, 7, 8, 20, 64} : std::vector<std::int64_t>{3, 20};
      for (const auto n : subject.lengths(counts)) {
        const auto place = fmt::format("{}, {} tokens", setting.text(), n);
        const auto lengths = subject.lengths({n, (n + 1) / 2, 0});
        const auto found = pass(*compression, inputs_of(n, lengths).to(setting.type));
        check_slots(found.memory, slots, n, lengths, subject.promises().slots_have_keys, place);
        for (const auto& [what, output] : found.outputs) {
          finding.finite(output, place + ", " + what);
          finding.near(output[2], zeros_like(output[2]), place + ", an item without a token, " + what, kExact);
        }
        finding.finite(found.gradients, place);
      }
      padding(subject, finding, setting, subject.lengths({13, 7, 4, 1}));
    }
  }
}

void projected(const CompressionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings(subject.usual())) {
    const auto compression = subject.make(setting);
    const auto n = subject.length(12);
    const auto in = inputs_of(n, subject.lengths({n, 5, 0})).to(setting.type);
    const auto memory = write(*compression, in);
    auto narrow = memory, turned = memory;
    if (narrow.mass.defined() && narrow.mass.size(1) != 1) narrow.mass = narrow.mass.narrow(1, 0, 1);
    const auto one_more = [](const Tensor& x, std::int64_t channels) {
      return ablate::cat({x, x.narrow(1, 0, 1)}, 1).narrow(3, 0, channels);
    };
    narrow.keys = one_more(memory.keys, 4);
    narrow.values = one_more(memory.values, 3);
    turned.keys = memory.keys.flip(3);
    turned.values = memory.values.flip(3);
    for (const auto similarity : kSimilarities) {
      const auto place = fmt::format("{}, read by {}", setting.text(), text_of(similarity));
      const auto output = read(*compression, one_more(in.queries, 4), narrow, similarity);
      if (!output.sizes().equals(at::IntArrayRef({3, 3, CompressionSubject::kQueries, 3})))
        throw std::runtime_error(place + ": wrong shape of a read with 3 heads of 4 and 3 channels");
      finding.finite(output, place);
      if (setting.type == kDouble)
        finding.near(read(*compression, in.queries.flip(3), turned, similarity).flip(3),
                     read(*compression, in.queries, memory, similarity), place + ", channels in reverse", kRounding);
    }
  }
}

void beside(const CompressionSubject& subject, Finding& finding) {
  each_read(subject, [&](const CompressionInstance& compression, const Read& read_of) {
    const auto& memory = read_of.memory;
    if (!memory.keys.defined() || !memory.mass.defined())
      throw std::runtime_error(read_of.where + ": slots beside tokens need keys and a mass");
    finding.near(read(compression, read_of.in.queries, memory, Similarity::kSoftmax),
                 weights_of(read_of.in.queries, memory).matmul(memory.values), read_of.where + ", read by softmax");
  });
}

void looks(const CompressionSubject& subject, Finding& finding) {
  each_read(subject, [&](const CompressionInstance& compression, const Read& read_of) {
    const auto& in = read_of.in;
    const auto seen = padding_mask({5, 3, 5}, 5);
    for (const auto similarity : kSimilarities) {
      const auto memory = on(compression.device(), read_of.memory);
      const ReadInput plain{.queries = in.queries.to(compression.device()), .memory = memory, .similarity = similarity};
      auto asking = plain;
      asking.looks = true;
      asking.query_mask = seen.to(compression.device());
      auto result = compression->read(asking);
      const auto where = fmt::format("{}, read by {}", read_of.where, text_of(similarity));
      finding.near(result.values, compression->read(plain).values, where + ", with looks", kExact);
      if (!result.usage.defined()) throw std::runtime_error(where + ": looks were requested, but usage is undefined");
      if (result.usage.requires_grad()) throw std::runtime_error(where + ": usage has a graph");
      result.values = result.values.to(c10::kCPU), result.usage = result.usage.to(c10::kCPU);
      finding.off_by(std::max(0.0, -result.usage.min().item().toDouble()), where + ", usage below 0");
      // The usage by a query sums to 1 if the query reads anything. With relu, a query that agrees with no key reads nothing.
      const auto counted = result.values.ne(0).any(-1).logical_and(seen.unsqueeze(1));
      finding.near(result.usage.sum(-1), counted.sum(-1).to(kDouble), where + ", looks of all queries");
      if (!subject.promises().beside_tokens || similarity != Similarity::kSoftmax) continue;
      const auto weights = weights_of(in.queries, read_of.memory).masked_fill(seen.logical_not().unsqueeze(1).unsqueeze(-1), 0);
      finding.near(result.usage, weights.sum(2), where + ", looks at each slot");
    }
  });
}

}  // namespace ablate::conformance
