// Slots that may stand in one softmax beside tokens, and where reads have looked.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/trial/conformance/compression_contract.h"

namespace ablate::conformance {
namespace {

/// What the promise says, by hand; 0 for a query with nothing to read. @return [batch, heads, n, slots]
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

/// Memories at every rate, padded and not, in evaluation and training.
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
      finding.near(result.values, compression->read(plain).values, where + ", asked where it looks", kExact);
      if (!result.usage.defined()) throw std::runtime_error(where + ": asked where it looks, it does not say");
      if (result.usage.requires_grad()) throw std::runtime_error(where + ": usage has a graph");
      result.values = result.values.to(c10::kCPU), result.usage = result.usage.to(c10::kCPU);
      finding.off_by(std::max(0.0, -result.usage.min().item().toDouble()), where + ", usage below 0");
      // Each query that reads anything has one look. (relu reads nothing where no key agrees with the query.)
      const auto counted = result.values.ne(0).any(-1).logical_and(seen.unsqueeze(1));
      finding.near(result.usage.sum(-1), counted.sum(-1).to(kDouble), where + ", looks of all queries");
      if (!subject.promises().beside_tokens || similarity != Similarity::kSoftmax) continue;
      const auto weights = weights_of(in.queries, read_of.memory).masked_fill(seen.logical_not().unsqueeze(1).unsqueeze(-1), 0);
      finding.near(result.usage, weights.sum(2), where + ", looks at each slot");
    }
  });
}

}  // namespace ablate::conformance
