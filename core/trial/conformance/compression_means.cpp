// Compression::slots_are_means(): what a form that folds projections into one another relies on.
#include <fmt/format.h>

#include "ablate/kernel_attention.h"
#include "core/trial/conformance/compression_contract.h"

namespace ablate::conformance {
namespace {

/// Slots that stand for no token are 0, whatever they hold.
Tensor standing(const Tensor& slots, const Tensor& mass) { return slots.masked_fill((mass <= 0).unsqueeze(-1), 0); }

/// [batch, 1, n, heads * d]
Tensor as_one_head(const Tensor& x) { return x.transpose(1, 2).flatten(2).unsqueeze(1); }

void look_at_means(Finding& finding, const CompressionInstance& compression, const CompressionInputs& in,
                   const std::string& place, const Allowed& allowed) {
  const auto memory = write(compression, in);
  const auto near = [&](const Memory& found, const Tensor& keys, const Tensor& values, const char* what) {
    finding.near(found.mass, memory.mass.expand_as(found.mass), fmt::format("{}, {}, mass", place, what), allowed);
    finding.near(standing(found.keys, found.mass), standing(keys, found.mass), fmt::format("{}, {}, keys", place, what),
                 allowed);
    finding.near(standing(found.values, found.mass), standing(values, found.mass), fmt::format("{}, {}, values", place, what),
                 allowed);
  };
  // Larger tokens, in another direction and order: shares that follow from them would be others.
  const auto type = in.keys.scalar_type();
  const auto channels = in.keys.size(-1);
  const auto projection = normal({channels, channels}, 51, type) * 2, bias = normal({channels}, 52, type);
  const auto projected = [&](const Tensor& x) { return x.matmul(projection) + bias; };
  auto others = in;
  others.keys = projected(in.keys), others.values = projected(in.values);
  near(write(compression, others), projected(memory.keys), projected(memory.values), "projected");
  auto one = in;
  one.values = one.keys;
  near(write(compression, one), memory.keys, memory.keys, "keys and values one tensor");
  auto merged = in;
  merged.keys = as_one_head(in.keys), merged.values = as_one_head(in.values);
  const auto of_one = write(compression, merged);
  finding.near(standing(of_one.keys, of_one.mass), standing(as_one_head(memory.keys), of_one.mass),
               place + ", all heads as one, keys", allowed);
  for (const auto similarity : {Similarity::kElu, Similarity::kRelu})
    finding.near(read(compression, in.queries, memory, similarity),
                 kernel_attention(in.queries, memory.keys, memory.values, memory.mass,
                                  similarity == Similarity::kElu ? FeatureMap::kElu : FeatureMap::kRelu),
                 fmt::format("{}, read by {}", place, text_of(similarity)), allowed);
}

}  // namespace

void means(const CompressionSubject& subject, Finding& finding) {
  for (const auto rate : subject.rates())
    for (const auto& setting : subject.settings({rate}, 65)) {
      const auto compression = subject.make(setting);
      for (const auto n : subject.lengths({1, 13, 64, 65}))
        for (const bool masked : {false, true}) {
          const auto lengths = masked ? subject.lengths({n, (n + 1) / 2}) : std::vector<std::int64_t>{};
          look_at_means(finding, compression, inputs_of(n, lengths).to(setting.type),
                        fmt::format("{}, {} tokens{}", setting.text(), n, masked ? ", masked" : ""), sums_of(setting.type));
        }
    }
}

}  // namespace ablate::conformance
