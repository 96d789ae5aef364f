// What the contract asks of every compression: slots, padding, independence.
#include <fmt/format.h>

#include "core/trial/conformance/compression_suite.h"
#include "core/util/rate_text.h"

namespace ablate {

double CompressionSuite::slots() {
  double wrong = 0;
  for (const auto rate : kCheckedRates) {
    const auto compression = probe_.make({rate});
    for (const auto tokens : {1, 2, 3, 5, 7, 8, 16, 33, 64}) {
      const auto n = fit(tokens), half = fit((n + 1) / 2);
      const std::vector<std::int64_t> lengths{n, half, fit(1), 0};
      for (const bool masked : {false, true}) {
        const auto in = CompressionProbe::inputs(n, masked ? lengths : std::vector<std::int64_t>{});
        const auto memory = CompressionProbe::write(*compression, in);
        const auto place = fmt::format("rate {}, {} tokens{}", to_text(rate), n, masked ? ", masked" : "");
        bool right = memory.values.size(2) == rate.slots(n) && memory.keys.defined() == probe_.promises().slots_have_keys;
        if (memory.keys.defined()) right = right && memory.keys.size(2) == rate.slots(n);
        if (memory.mass.defined()) right = right && memory.mass.size(2) == rate.slots(n);
        right = right && memory.slots.defined() == masked;
        for (std::size_t i = 0; right && masked && i < lengths.size(); ++i) {
          const auto own = memory.slots[static_cast<std::int64_t>(i)][0];
          right = own.sum().item().toLong() == rate.slots(lengths[i]) &&
                  own.narrow(0, 0, rate.slots(lengths[i])).all().item().toBool();
        }
        wrong += at(place, right ? 0 : 1);
      }
    }
  }
  return wrong;
}

double CompressionSuite::padding(Slots slots, const std::vector<std::int64_t>& lengths) {
  double largest = 0;
  const auto compression = probe_.make(slots);
  const auto in = CompressionProbe::inputs(lengths[0], lengths);
  const auto padded = CompressionProbe::write(*compression, in);
  const auto how = slots.fixed > 0 ? fmt::format("{} slots", slots.fixed) : "rate " + to_text(slots.rate);
  for (std::size_t item = 0; item < lengths.size(); ++item) {
    const auto i = static_cast<std::int64_t>(item), own = slots.of(lengths[item]), others = padded.values.size(2) - own;
    const auto cut = in.item(i, lengths[item]);
    const auto memory = CompressionProbe::write(*compression, cut);
    const auto place = fmt::format("{}, {} of {} tokens", how, lengths[item], lengths[0]);
    const auto compare = [&](const Tensor& whole, const Tensor& alone) {
      if (whole.defined() != alone.defined()) return kWrong;
      if (!whole.defined()) return 0.0;
      return difference(whole.narrow(0, i, 1).narrow(2, 0, own), alone);
    };
    largest = std::max(largest, at(place + ", values", compare(padded.values, memory.values), kRounding));
    largest = std::max(largest, at(place + ", keys", compare(padded.keys, memory.keys), kRounding));
    largest = std::max(largest, at(place + ", mass", compare(padded.mass, memory.mass), kRounding));
    if (padded.mass.defined() && others > 0)
      largest = std::max(largest, at(place + ", mass of no slot",
                                     padded.mass.narrow(0, i, 1).narrow(2, own, others).abs().max().item().toDouble()));
    for (const auto similarity : kSimilarities) {
      const auto whole = CompressionProbe::read(*compression, in.queries, padded, similarity).narrow(0, i, 1);
      const auto alone = CompressionProbe::read(*compression, cut.queries, memory, similarity);
      largest = std::max(largest, at(place + ", read", difference(whole, alone), kRounding));
    }
  }
  return largest;
}

double CompressionSuite::padding() {
  double largest = 0;
  for (const auto rate : kCheckedRates) largest = std::max(largest, padding({rate}, {fit(13), fit(7), fit(12), fit(1)}));
  return largest;
}

double CompressionSuite::poison() {
  double largest = 0;
  for (const auto rate : kCheckedRates) {
    auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(7), fit(1), 0});
    const auto gone = in.mask.logical_not().unsqueeze(1).unsqueeze(-1);
    const auto compression = probe_.make({rate});
    const auto clean = CompressionProbe::pass(*compression, in);
    in.keys = in.keys.masked_fill(gone, std::numeric_limits<double>::quiet_NaN());
    in.values = in.values.masked_fill(gone, std::numeric_limits<double>::quiet_NaN());
    const auto poisoned = CompressionProbe::pass(*compression, in);
    const auto place = "rate " + to_text(rate);
    largest = std::max(largest, at(place + ", outputs", difference(clean.outputs, poisoned.outputs)));
    largest = std::max(largest, at(place + ", gradients", difference(clean.gradients, poisoned.gradients)));
    for (const auto i : {1, 2})
      largest =
          std::max(largest, at(place + ", gradients under the mask",
                               poisoned.gradients[i].masked_select(gone.expand_as(in.keys)).abs().max().item().toDouble()));
  }
  return largest;
}

double CompressionSuite::empty() {
  const auto in = CompressionProbe::inputs(fit(8), {0, fit(8), 0});
  const auto pass = CompressionProbe::pass(*probe_.make({{1, 2}}), in);
  double largest = at("gradients", unless_finite(pass.gradients));
  for (const auto& output : pass.outputs)
    for (const auto item : {0, 2}) largest = std::max(largest, at("reads", difference(output[item], zeros_like(output[item]))));
  return largest;
}

double CompressionSuite::batch() {
  double largest = 0;
  for (const auto rate : kCheckedRates) {
    const auto compression = probe_.make({rate});
    auto in = CompressionProbe::inputs(fit(11), {});
    // A mate a thousand times as large would move any statistic taken over the batch.
    in.keys[1] *= 1000;
    const auto together = CompressionProbe::pass(*compression, in);
    const auto alone = CompressionProbe::pass(*compression, in.item(0, in.keys.size(2)));
    for (std::size_t s = 0; s < alone.outputs.size(); ++s)
      largest = std::max(largest,
                         at("rate " + to_text(rate), difference(together.outputs[s].narrow(0, 0, 1), alone.outputs[s]), 1e-10));
  }
  return largest;
}

}  // namespace ablate
