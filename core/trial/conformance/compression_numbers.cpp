// What the numbers of a compression have to be: gradients, ranges, and what its capabilities promise.
#include <fmt/format.h>

#include <cmath>

#include "core/trial/conformance/compression_suite.h"
#include "core/util/rate_text.h"

namespace ablate {

double CompressionSuite::gradient() {
  double largest = 0;
  for (const auto rate : {Rate{1, 1}, Rate{2, 5}}) {
    const auto compression = probe_.make({rate});
    const auto in = CompressionProbe::inputs(fit(9), {fit(9), fit(4)});
    const auto value = [&] {
      double sum = 0;
      for (const auto& output : CompressionProbe::pass(*compression, in).outputs)
        sum += (output * normal(output.sizes(), 11)).sum().item().toDouble();
      return sum;
    };
    const auto gradients = CompressionProbe::pass(*compression, in).gradients;
    std::vector<Tensor> inputs = {in.queries, in.keys, in.values};
    for (const auto& parameter : parameters_of(*compression)) inputs.push_back(parameter);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      largest = std::max(largest, at(fmt::format("rate {}, input {}", to_text(rate), i),
                                     finite_difference(value, inputs[i], gradients[i], 20 + i), 1e-5));
  }
  return largest;
}

double CompressionSuite::scale() {
  double largest = 0;
  for (const auto rate : kCheckedRates) {
    auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5)}).to(kFloat);
    for (auto* x : {&in.queries, &in.keys, &in.values}) *x *= 1e4;
    const auto pass = CompressionProbe::pass(*probe_.make({rate}, 1, kFloat), in);
    largest = std::max(largest, at("outputs, rate " + to_text(rate), unless_finite(pass.outputs)));
    largest = std::max(largest, at("gradients, rate " + to_text(rate), unless_finite(pass.gradients)));
  }
  return largest;
}

double CompressionSuite::type() {
  const auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5)});
  const auto wide = CompressionProbe::pass(*probe_.make({{1, 3}}), in).outputs;
  const auto narrow = CompressionProbe::pass(*probe_.make({{1, 3}}, 1, kFloat), in.to(kFloat)).outputs;
  for (const auto& output : narrow)
    if (output.scalar_type() != kFloat) return at("float32 inputs gave another type", kWrong);
  return difference(wide, narrow);
}

double CompressionSuite::half() {
  const auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5)});
  const auto wide = CompressionProbe::pass(*probe_.make({{1, 3}}, 1, kFloat), in.to(kFloat)).outputs;
  double largest = 0;
  for (const auto type : {at::kHalf, at::kBFloat16}) {
    const auto narrow = CompressionProbe::pass(*probe_.make({{1, 3}}, 1, type), in.to(type)).outputs;
    for (std::size_t i = 0; i < wide.size(); ++i) {
      if (narrow[i].scalar_type() != type || unless_finite({narrow[i]}) > 0) return at("not finite, or another type", kWrong);
      largest = std::max(largest, median_off(narrow[i], wide[i]));
    }
  }
  return largest;
}

double CompressionSuite::constants() {
  double largest = 0;
  for (const auto rate : kCheckedRates) {
    auto in = CompressionProbe::inputs(fit(13), {fit(13), fit(6)});
    for (auto* x : {&in.keys, &in.values}) *x = x->narrow(2, 0, 1).expand_as(*x);
    for (const bool masked : {true, false}) {
      const auto compression = probe_.make({rate});
      const auto memory = CompressionProbe::write(*compression, masked ? in : in.tokens(0, in.keys.size(2)));
      const auto place = fmt::format("rate {}{}", to_text(rate), masked ? ", masked" : "");
      const auto none = (memory.mass <= 0).unsqueeze(-1);
      const auto away = [&](const Tensor& slot, const Tensor& token) {
        return difference((slot - token.narrow(2, 0, 1)).masked_fill(none, 0), zeros_like(slot));
      };
      largest = std::max(largest, at(place + ", keys", away(memory.keys, in.keys), 1e-10));
      largest = std::max(largest, at(place + ", values", away(memory.values, in.values), 1e-10));
      const auto output = CompressionProbe::read(*compression, in.queries, memory, Similarity::kSoftmax);
      largest = std::max(largest, at(place + ", read", difference(output, in.values.narrow(2, 0, 1).expand_as(output)), 1e-10));
    }
  }
  return largest;
}

double CompressionSuite::lossless() {
  double largest = 0;
  for (const std::int64_t length : {1, 2, 13}) {
    const auto in = CompressionProbe::inputs(fit(length), {});
    const auto compression = probe_.make({{1, 1}});
    const auto memory = CompressionProbe::write(*compression, in);
    for (const auto similarity : kSimilarities) {
      const auto map = [&](const Tensor& x) { return similarity == Similarity::kRelu ? x.relu() : elu(x) + 1; };
      const auto weights =
          similarity == Similarity::kSoftmax
              ? (in.queries.matmul(in.keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(CompressionProbe::kChannels)))
                    .exp()
              : map(in.queries).matmul(map(in.keys).transpose(-1, -2));
      const auto sum = weights.sum(-1, true);
      const auto expected = weights.matmul(in.values) / sum.masked_fill(sum <= 0, 1);
      largest = std::max(largest,
                         at(fmt::format("{} tokens", in.keys.size(2)),
                            difference(CompressionProbe::read(*compression, in.queries, memory, similarity), expected), 1e-10));
    }
  }
  return largest;
}

double CompressionSuite::projected() {
  const auto compression = probe_.make({{1, 3}});
  const auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5), 0});
  auto memory = CompressionProbe::write(*compression, in);
  if (memory.mass.defined() && memory.mass.size(1) != 1) memory.mass = memory.mass.narrow(1, 0, 1);
  memory.keys = ablate::cat({memory.keys, memory.keys.narrow(1, 0, 1)}, 1).narrow(3, 0, 4);
  memory.values = ablate::cat({memory.values, memory.values.narrow(1, 0, 1)}, 1).narrow(3, 0, 3);
  const auto queries = ablate::cat({in.queries, in.queries.narrow(1, 0, 1)}, 1).narrow(3, 0, 4);
  double largest = 0;
  for (const auto similarity : kSimilarities) {
    const auto output = CompressionProbe::read(*compression, queries, memory, similarity);
    const bool shape = output.sizes() == at::IntArrayRef({3, 3, CompressionProbe::kQueries, 3});
    largest = std::max({largest, at("shape", shape ? 0 : kWrong), at("not finite", unless_finite({output}))});
  }
  return largest;
}

}  // namespace ablate
