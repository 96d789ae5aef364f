// What the contract asks of a compression's instances: what they keep, draw and train.
#include <ATen/Context.h>
#include <fmt/format.h>

#include <stdexcept>

#include "core/trial/conformance/compression_suite.h"
#include "core/trial/conformance/registered.h"

namespace ablate {
namespace {

void train_once(Compression& compression, const CompressionInputs& inputs) {
  compression.train();
  CompressionProbe::pass(compression, inputs);
  compression.on_step(1, make_generator(29));
  compression.eval();
}

}  // namespace

double CompressionSuite::seed() {
  if (!probe_.promises().deterministic) return 0;
  const auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5)});
  auto global = at::globalContext().defaultGenerator(c10::kCPU);
  global.set_current_seed(1);
  const auto compression = probe_.make({{1, 3}}, 5);
  global.set_current_seed(2);
  const auto same = probe_.make({{1, 3}}, 5);
  double largest = 0;
  for (const bool trained : {false, true}) {
    const auto* const when = trained ? ", after a step" : "";
    if (trained) {
      train_once(*compression, in);
      global.set_current_seed(3);
      train_once(*same, in);
    }
    const auto first = CompressionProbe::pass(*compression, in);
    const auto twice = CompressionProbe::pass(*compression, in), other = CompressionProbe::pass(*same, in);
    largest = std::max(largest, at(std::string("evaluated twice") + when, difference(first.outputs, twice.outputs)));
    largest = std::max(largest, at(std::string("made twice from one seed") + when, difference(first.outputs, other.outputs)));
    largest = std::max(largest, at(std::string("gradients") + when, difference(first.gradients, other.gradients)));
  }
  return largest;
}

double CompressionSuite::save() {
  const auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5)});
  const auto compression = probe_.make({{1, 3}}, 5), other = probe_.make({{1, 3}}, 6);
  train_once(*compression, in);
  copy_registered(*compression, *other);
  return difference(CompressionProbe::pass(*compression, in).outputs, CompressionProbe::pass(*other, in).outputs);
}

double CompressionSuite::instances() {
  const auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5)});
  const auto changed = probe_.make({{1, 3}}, 5), other = probe_.make({{1, 3}}, 6);
  const auto before = CompressionProbe::pass(*other, in).outputs;
  const auto all = contents(*changed);
  const auto originals = copies(all);
  const auto set = [&](bool back) {
    const NoGradGuard none;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].is_floating_point()) back ? all[i].copy_(originals[i]) : all[i].add_(1);
  };
  set(false);
  const auto after = CompressionProbe::pass(*other, in).outputs;
  set(true);
  return difference(before, after);
}

double CompressionSuite::frozen() {
  const auto compression = probe_.make({{1, 3}});
  const auto before = copies(contents(*compression));
  auto global = at::globalContext().defaultGenerator(c10::kCPU);
  const auto drawn_globally = global.get_state();
  for (const auto seed : {7, 8}) {
    const auto in = CompressionProbe::inputs(fit(12), {}, static_cast<std::uint64_t>(seed));
    CompressionProbe::pass(*compression, in);
    WriteInput input;
    input.keys = in.keys;
    input.values = in.values;
    input.generator = make_generator(19);
    const auto drawn = input.generator.get_state();
    compression->write(input);
    if (!input.generator.get_state().equal(drawn)) throw std::runtime_error("evaluation draws from the generator handed in");
  }
  if (!global.get_state().equal(drawn_globally)) throw std::runtime_error("evaluation draws from torch's global generator");
  return difference(before, contents(*compression));
}

double CompressionSuite::step() {
  const auto compression = probe_.make({{1, 3}});
  const auto before = copies(parameters_of(*compression));
  train_once(*compression, CompressionProbe::inputs(fit(12), {fit(12), fit(5)}));
  return difference(before, parameters_of(*compression));
}

double CompressionSuite::kept() {
  const auto compression = probe_.make({{1, 3}}, 1, kFloat);
  found_ = list_kept(*compression);
  const auto made = kept_types(*compression);
  if (probe_.promises().half_precision) check_whole_numbers(*compression);
  for (const auto type : {kDouble, kFloat}) {
    move_to(*compression, c10::kCPU, type);
    check_types(*compression, type, made);
    train_once(*compression, CompressionProbe::inputs(fit(12), {fit(12), fit(5)}).to(type));
    check_types(*compression, type, made);
  }
  return 0;
}

double CompressionSuite::inputs() {
  double largest = 0;
  const auto compression = probe_.make({{1, 3}});
  for (const bool training : {false, true}) {
    compression->train(training);
    const auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5), 0});
    const std::vector<Tensor> given = {in.queries, in.keys, in.values, in.mask};
    const auto before = copies(given);
    const auto memory = CompressionProbe::write(*compression, in);
    for (const auto similarity : kSimilarities) CompressionProbe::read(*compression, in.queries, memory, similarity);
    largest = std::max(largest, difference(before, given));
  }
  return largest;
}

double CompressionSuite::training() {
  const auto compression = probe_.make({{1, 3}}, 1, kFloat);
  compression->train();
  double largest = 0;
  for (std::int64_t step = 1; step <= 3; ++step) {
    const auto in = CompressionProbe::inputs(fit(12), {fit(12), fit(5), 0}, 7 + static_cast<std::uint64_t>(step)).to(kFloat);
    const auto pass = CompressionProbe::pass(*compression, in);
    compression->on_step(step, make_generator(29));
    largest = std::max({largest, at("outputs", unless_finite(pass.outputs)), at("gradients", unless_finite(pass.gradients)),
                        at("parameters and buffers", unless_finite(contents(*compression)))});
  }
  return largest;
}

}  // namespace ablate
