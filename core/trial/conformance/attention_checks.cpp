#include "core/trial/conformance/attention_checks.h"

#include <fmt/format.h>
#include <torch/serialize.h>

#include <cmath>
#include <sstream>

#include "core/registry/plugin_info.h"
#include "core/trial/conformance/attention_context.h"
#include "core/trial/conformance/attention_promises.h"
#include "core/trial/conformance/attention_subject.h"
#include "core/trial/conformance/device_checks.h"

namespace ablate {

namespace {

using namespace conformance;

constexpr double kExact = 0;

double types(const AttentionSubject& subject) {
  double worst = 0;
  const auto n = subject.length(13);
  const auto exact = run(*subject.make(1), {random_tokens(2, n, 2)});
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const auto output = run(*subject.make(1, false, type), {random_tokens(2, n, 2, type)});
    if (output.scalar_type() != type || output.sizes() != exact.sizes() || !finite({output})) return kWrong;
    // The median: a query near a decision (routing, clusters) may fall otherwise in float32.
    if (type == torch::kFloat32) worst = std::max(worst, (output.to(torch::kFloat64) - exact).abs().median().item<double>());
  }
  return worst;
}

double lengths(const AttentionSubject& subject) {
  const auto attention = subject.make(1);
  for (const std::int64_t wanted : {1, 2, 7, 32, 65, 80}) {
    const auto n = subject.length(wanted);
    const auto output = run(*attention, {random_tokens(2, n, 2)});
    if (output.sizes() != torch::IntArrayRef({2, n, AttentionSubject::kChannels}) || !finite({output})) return kWrong;
  }
  return 0;
}

/// Central differences along one random direction for every parameter and input, relative to the gradient's own size.
double gradient(const AttentionSubject& subject) {
  const auto attention = subject.make(1);
  const auto n = subject.length(7);
  auto queries = random_tokens(2, n, 2);
  const auto analytic = gradients(*attention, {queries});
  auto inputs = attention->parameters();
  inputs.push_back(queries);
  const auto weights = random_tokens(2, n, 23);  // those of gradients()
  torch::NoGradGuard no_grad;
  double worst = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto direction = torch::randn(inputs[i].sizes(), make_generator(100 + i), torch::kFloat64);
    const auto original = inputs[i].clone();
    const auto at = [&](double step) {
      inputs[i].copy_(original + step * direction);
      return (run(*attention, {queries}) * weights).sum().item<double>();
    };
    const double step = 1e-6, numeric = (at(step) - at(-step)) / (2 * step);
    inputs[i].copy_(original);
    const double expected = (analytic[i] * direction).sum().item<double>();
    worst = std::max(worst, std::abs(numeric - expected) / std::max(1.0, std::abs(expected)));
  }
  return worst;
}

double batch(const AttentionSubject& subject) {
  const auto attention = subject.make(1);
  const auto n = subject.length(13);
  const auto tokens = random_tokens(3, n, 2) * torch::tensor({1.0, 100.0, 0.01}, torch::kFloat64).view({3, 1, 1});
  const auto together = run(*attention, {tokens});
  double worst = 0;
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto alone = run(*attention, {item(tokens, i, n)});
    const auto size = std::max(1.0, alone.abs().max().item<double>());
    worst = std::max(worst, difference(item(together, i, n), alone) / size);
  }
  return worst;
}

std::vector<torch::Tensor> contents(Attention& attention) {
  auto all = attention.parameters();
  const auto buffers = attention.buffers();
  all.insert(all.end(), buffers.begin(), buffers.end());
  return all;
}

/// The same seed gives the same bits, whatever torch's global generator does; also in training, forward and backward.
double seed(const AttentionSubject& subject) {
  torch::manual_seed(1);
  const auto a = subject.make(5);
  torch::manual_seed(2);
  const auto b = subject.make(5);
  double worst = difference(contents(*a), contents(*b));
  const Pass pass{random_tokens(2, subject.length(13), 2)};
  for (auto* attention : {a.get(), b.get()}) attention->train();
  torch::manual_seed(3);
  const auto first = gradients(*a, pass);
  torch::manual_seed(4);
  const auto second = gradients(*b, pass);
  a->on_step(1);
  torch::manual_seed(5);
  b->on_step(1);
  worst = std::max({worst, difference(first, second), difference(contents(*a), contents(*b))});
  for (auto* attention : {a.get(), b.get()}) attention->eval();
  return std::max(worst, difference(run(*a, pass), run(*b, pass)));
}

double evaluation(const AttentionSubject& subject) {
  const auto attention = subject.make(1);
  std::vector<torch::Tensor> before;
  for (const auto& tensor : contents(*attention)) before.push_back(tensor.detach().clone());
  const Pass pass{random_tokens(2, subject.length(13), 2)};
  const auto once = run(*attention, pass), twice = run(*attention, pass);
  return std::max(difference(once, twice), difference(before, contents(*attention)));
}

/// Saved after a training step, so that moving averages and the like have moved, and loaded into an instance of another seed.
double save(const AttentionSubject& subject) {
  const auto from = subject.make(1), to = subject.make(2);
  const Pass pass{random_tokens(2, subject.length(13), 2)};
  from->train();
  run(*from, pass);
  from->on_step(1);
  from->eval();
  std::stringstream stream;
  torch::serialize::OutputArchive saved;
  from->save(saved);
  saved.save_to(stream);
  torch::serialize::InputArchive loaded;
  loaded.load_from(stream);
  to->load(loaded);
  return difference(run(*from, pass), run(*to, pass));
}

double scale(const AttentionSubject& subject) {
  const auto attention = subject.make(1, false, torch::kFloat32);
  const Pass pass{random_tokens(2, subject.length(32), 2, torch::kFloat32) * 1e4};
  return finite({run(*attention, pass)}) && finite(gradients(*attention, pass)) ? 0 : kWrong;
}

/// Measuring changes no output, and what is measured is a named number.
double measure(const AttentionSubject& subject) {
  const auto attention = subject.make(1);
  const auto n = subject.length(13);
  Pass pass{random_tokens(3, n, 2), {}, subject.promises().key_padding ? padding_mask(kLengths, n) : torch::Tensor()};
  const auto plain = run(*attention, pass);
  pass.measure = true;
  AttentionInput input{pass.queries, pass.queries, pass.mask, {}, make_generator(17), true};
  for (const auto& metric : attention->forward(input).metrics)
    if (metric.name.empty() || metric.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos ||
        !std::isfinite(metric.value))
      return kWrong;
  return difference(run(*attention, pass), plain);
}

/// Values at the edges of a parameter's range, near enough to fit a model of 16 channels.
std::vector<nlohmann::json> edges(const ParameterInfo& parameter) {
  switch (parameter.type) {
    case ParameterType::kBoolean:
      return {false, true};
    case ParameterType::kInteger:
      return {static_cast<std::int64_t>(std::max(parameter.minimum, -4.0)),
              static_cast<std::int64_t>(std::min(parameter.maximum, std::max(parameter.minimum, 4.0)))};
    case ParameterType::kReal:
      return {std::max(parameter.minimum, -16.0), std::min(parameter.maximum, std::max(parameter.minimum, 16.0))};
    case ParameterType::kText:
      return {parameter.choices.begin(), parameter.choices.end()};
    case ParameterType::kRate:
      return {"1", "2/3", "1/64"};
    case ParameterType::kRates:
      return {nlohmann::json::array({"1"}), nlohmann::json::array({"1/3", "1/3", "2/3"}),
              nlohmann::json::array({"1/2", "1/4", "1/8", "1/16", "1/32", "1/64", "1/128"})};
  }
  return {};
}

/// Runs forward and backward in training and in evaluation mode, and keeps what it promises about padding and the future.
double parameter_value(const AttentionSubject& subject) {
  const auto attention = subject.make(1);
  const Pass pass{random_tokens(2, subject.length(13), 2)};
  if (!finite({run(*attention, pass)})) return kWrong;
  attention->train();
  if (!finite(gradients(*attention, pass))) return kWrong;
  double worst = 0;
  if (subject.promises().key_padding) worst = std::max(padding(subject), poison(subject));
  if (subject.promises().causal && causal(subject) > 0) return kWrong;
  return worst;
}

}  // namespace

void check_attention(const Chosen& plugin, const Chosen& compression, Checks& checks) {
  const AttentionSubject subject(plugin, compression);
  const auto& promises = subject.promises();
  const bool averages = promises.averages && (!promises.takes_compression || compression.descriptor->capabilities.averages);
  const auto add = [&](const char* name, const char* shape, double tolerance, double (*measure)(const AttentionSubject&)) {
    checks.run(name, subject.name() + ", " + shape, tolerance, [&](std::string&) { return measure(subject); });
  };
  add("types", "[2, 13, 16] float32 and 64", 1e-4, types);
  add("lengths", "[2, n, 16], n 1 to 80", kExact, lengths);
  add("long", "[1, 1003, 16] float32", kExact, long_sequence);
  add("gradient", "[2, 7, 16]", 1e-5, gradient);
  add("trained", "[4, 80, 16]", kExact, trained);
  add("batch", "[3, 13, 16]", kRounding, batch);
  add("instances", "[2, 13, 16]", kExact, instances);
  if (promises.deterministic) add("seed", "[2, 13, 16]", kExact, seed);
  add("evaluation", "[2, 13, 16]", kExact, evaluation);
  add("save", "[2, 13, 16]", kExact, save);
  add("scale", "[2, 32, 16] float32", kExact, scale);
  add("measure", "[3, 13, 16]", kExact, measure);
  if (promises.half_precision) add("half", "[2, 33, 16] float16, bfloat16", 0.05, half);
  if (averages) add("constants", "[2, n, 16], n 1 to 80", kRounding, constants);
  if (promises.causal) add("causal", "[2, 70, 16]", kExact, causal);
  if (promises.stateful) add("state", "[3, 13, 16] three times", kRounding, state);
  if (promises.key_padding) {
    add("padding", "[3, 13, 16], lengths 13, 8, 1", kRounding, padding);
    add("poison", "[3, 13, 16], lengths 13, 8, 1", kRounding, poison);
    add("empty", "[2, 7, 16], lengths 0, 7", kRounding, empty);
  }
  if (promises.cross_attention) add("cross", "[2, 5, 16] to [2, 13, 16]", kRounding, cross);
  if (promises.cuda && (!promises.takes_compression || compression.descriptor->capabilities.cuda))
    check_device(
        subject.name() + ", [3, 33, 16] float32", [&](c10::Device device) { return attention_on(subject, device); },
        find_cuda(), checks);
  if (!promises.causal || promises.takes_compression || promises.length_multiple > 1)
    add("refused", "what is not promised", kExact, refused);
  for (const auto& parameter : describe(*plugin.descriptor).parameters)
    for (const auto& value : edges(parameter))
      checks.run("parameters", fmt::format("{}, {} = {}", subject.name(), parameter.name, value.dump()), kRounding,
                 [&](std::string&) { return parameter_value(subject.with(parameter.name, value)); });
}

}  // namespace ablate
