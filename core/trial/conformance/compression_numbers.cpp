// What the numbers of a compression have to be: gradients, ranges, and what its capabilities promise.
#include <ATen/ops/elu.h>
#include <ATen/ops/relu.h>
#include <fmt/format.h>

#include <cmath>

#include "core/trial/conformance/compression_suite.h"
#include "core/util/rate_text.h"

namespace ablate {

using torch::Tensor;

double CompressionSuite::gradient() {
  constexpr double step = 1e-6;
  double largest = 0;
  for (const auto rate : {Rate{1, 1}, Rate{2, 5}}) {
    const auto compression = probe_.make(rate);
    const auto in = CompressionProbe::inputs(fit(9), {fit(9), fit(4)});
    const auto loss = [&](const CompressionInputs& x) {
      double sum = 0;
      for (const auto& output : CompressionProbe::pass(*compression, x).outputs)
        sum += (output * torch::randn(output.sizes(), make_generator(11), torch::kDouble)).sum().item<double>();
      return sum;
    };
    const auto gradients = CompressionProbe::pass(*compression, in).gradients;
    const auto parameters = compression->parameters();
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const auto direction = torch::randn(gradients[i].sizes(), make_generator(20 + i), torch::kDouble);
      const auto moved = [&](double by) {
        auto x = in;
        Tensor* inputs[] = {&x.queries, &x.keys, &x.values};
        torch::NoGradGuard no_grad;
        if (i < 3)
          *inputs[i] = *inputs[i] + by * direction;
        else
          parameters[i - 3].add_(by * direction);
        torch::AutoGradMode grad(true);
        const double value = loss(x);
        torch::NoGradGuard again;
        if (i >= 3) parameters[i - 3].sub_(by * direction);
        return value;
      };
      const double numeric = (moved(step) - moved(-step)) / (2 * step);
      const double analytic = (gradients[i] * direction).sum().item<double>();
      largest = std::max(
          largest, at(fmt::format("rate {}, input {}: {} by differences, {} by autograd", to_text(rate), i, numeric, analytic),
                      std::abs(numeric - analytic) / (1 + std::abs(analytic)), 1e-5));
    }
  }
  return largest;
}

double CompressionSuite::scale() {
  double largest = 0;
  for (const auto rate : kCheckedRates) {
    auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5)}).to(torch::kFloat);
    for (auto* x : {&in.queries, &in.keys, &in.values}) *x *= 1e4;
    const auto pass = CompressionProbe::pass(*probe_.make(rate, 1, torch::kFloat), in);
    largest = std::max(largest, at("outputs, rate " + to_text(rate), unless_finite(pass.outputs)));
    largest = std::max(largest, at("gradients, rate " + to_text(rate), unless_finite(pass.gradients)));
  }
  return largest;
}

double CompressionSuite::training() {
  const auto compression = probe_.make({1, 3}, 1, torch::kFloat);
  compression->train();
  double largest = 0;
  for (std::int64_t step = 1; step <= 3; ++step) {
    const auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5), 0}, 7 + step).to(torch::kFloat);
    const auto pass = CompressionProbe::pass(*compression, in);
    compression->on_step(step);
    largest = std::max({largest, at("outputs", unless_finite(pass.outputs)), at("gradients", unless_finite(pass.gradients)),
                        at("buffers", unless_finite(compression->buffers()))});
  }
  return largest;
}

double CompressionSuite::type() {
  const auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5)});
  const auto wide = CompressionProbe::pass(*probe_.make({1, 3}), in).outputs;
  const auto narrow = CompressionProbe::pass(*probe_.make({1, 3}, 1, torch::kFloat), in.to(torch::kFloat)).outputs;
  for (const auto& output : narrow)
    if (output.scalar_type() != torch::kFloat) return at("float32 inputs gave another type", kInfinity);
  return largest_difference(wide, narrow);
}

double CompressionSuite::half() {
  const auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5)});
  const auto wide = CompressionProbe::pass(*probe_.make({1, 3}, 1, torch::kFloat), in.to(torch::kFloat)).outputs;
  double largest = 0;
  for (const auto type : {torch::kHalf, torch::kBFloat16}) {
    const auto narrow = CompressionProbe::pass(*probe_.make({1, 3}, 1, type), in.to(type)).outputs;
    for (std::size_t i = 0; i < wide.size(); ++i) {
      if (narrow[i].scalar_type() != type || unless_finite({narrow[i]}) > 0)
        return at("not finite, or another type", kInfinity);
      // The median: a token near the border of two groups may fall otherwise.
      const auto off = (narrow[i].to(torch::kFloat) - wide[i]).abs().median().item<double>();
      largest = std::max(largest, off / std::max(1e-3, wide[i].abs().median().item<double>()));
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
      const auto compression = probe_.make(rate);
      const auto memory = compression->write(in.keys, in.values, masked ? in.mask : Tensor());
      const auto place = fmt::format("rate {}{}", to_text(rate), masked ? ", masked" : "");
      const auto none = (memory.mass <= 0).unsqueeze(-1);
      const auto away = [&](const Tensor& slot, const Tensor& token) {
        return largest_difference((slot - token.narrow(2, 0, 1)).masked_fill(none, 0), torch::zeros_like(slot));
      };
      largest = std::max(largest, at(place + ", keys", away(memory.keys, in.keys), 1e-10));
      largest = std::max(largest, at(place + ", values", away(memory.values, in.values), 1e-10));
      const auto output = compression->read(in.queries, memory, Similarity::kSoftmax);
      largest = std::max(largest,
                         at(place + ", read", largest_difference(output, in.values.narrow(2, 0, 1).expand_as(output)), 1e-10));
    }
  }
  return largest;
}

double CompressionSuite::lossless() {
  double largest = 0;
  for (const std::int64_t length : {1, 2, 13}) {
    const auto in = CompressionProbe::inputs(fit(length), {});
    const auto compression = probe_.make({1, 1});
    const auto memory = compression->write(in.keys, in.values, {});
    for (const auto similarity : kSimilarities) {
      const auto map = [&](const Tensor& x) { return similarity == Similarity::kRelu ? at::relu(x) : at::elu(x) + 1; };
      const auto weights =
          similarity == Similarity::kSoftmax
              ? (in.queries.matmul(in.keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(CompressionProbe::kChannels)))
                    .exp()
              : map(in.queries).matmul(map(in.keys).transpose(-1, -2));
      const auto sum = weights.sum(-1, true);
      const auto expected = weights.matmul(in.values) / sum.masked_fill(sum <= 0, 1);
      largest = std::max(largest, at(fmt::format("{} tokens", in.keys.size(2)),
                                     largest_difference(compression->read(in.queries, memory, similarity), expected), 1e-10));
    }
  }
  return largest;
}

double CompressionSuite::projected() {
  const auto compression = probe_.make({1, 3});
  const auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5), 0});
  auto memory = compression->write(in.keys, in.values, in.mask);
  if (memory.mass.defined() && memory.mass.size(1) != 1) memory.mass = memory.mass.narrow(1, 0, 1);
  memory.keys = torch::cat({memory.keys, memory.keys.narrow(1, 0, 1)}, 1).narrow(3, 0, 4);
  memory.values = torch::cat({memory.values, memory.values.narrow(1, 0, 1)}, 1).narrow(3, 0, 3);
  const auto queries = torch::cat({in.queries, in.queries.narrow(1, 0, 1)}, 1).narrow(3, 0, 4);
  double largest = 0;
  for (const auto similarity : kSimilarities) {
    const auto output = compression->read(queries, memory, similarity);
    const bool shape = output.sizes() == at::IntArrayRef({3, 3, CompressionProbe::kQueries, 3});
    largest = std::max({largest, at("shape", shape ? 0 : kInfinity), at("not finite", unless_finite({output}))});
  }
  return largest;
}

}  // namespace ablate
