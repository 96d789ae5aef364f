#include "core/trial/conformance/attention_checks.h"

#include <fmt/format.h>

#include "core/registry/plugin_info.h"
#include "core/trial/conformance/attention_context.h"
#include "core/trial/conformance/attention_instances.h"
#include "core/trial/conformance/attention_numbers.h"
#include "core/trial/conformance/attention_state.h"
#include "core/trial/conformance/device_checks.h"
#include "core/util/error.h"

namespace ablate {
namespace {

using namespace conformance;

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
    case ParameterType::kFile:
    case ParameterType::kPlugin:
    case ParameterType::kPlugins:
      break;  // no edges; plugins are checked on their own, and as parts of their own candidates
  }
  return {};
}

/// Runs forward and backward in training and in evaluation mode, and keeps what it promises then.
double parameter_value(const AttentionSubject& subject) {
  const Pass pass{random_tokens(2, subject.length(13), 2)};
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    if (!finite({run(*instance, pass)})) return kWrong;
    instance->train();
    if (!finite(gradients(*instance, pass))) return kWrong;
  }
  double worst = 0;
  if (subject.promises().key_padding) worst = std::max(padding(subject), poison(subject));
  if (subject.promises().causal && causal(subject) > 0) return kWrong;
  if (subject.promises().stateful) worst = std::max(worst, state(subject));
  if (subject.promises().recurrent) worst = std::max(worst, recurrent(subject));
  return worst;
}

}  // namespace

void check_attention(const Candidate& candidate, Checks& checks) {
  const AttentionSubject subject(candidate);
  const auto& promises = subject.promises();
  const auto add = [&](const char* name, const char* shape, double tolerance, double (*measure)(const AttentionSubject&)) {
    checks.run(name, subject.name() + ", " + shape, tolerance, [&](std::string&) { return measure(subject); });
  };
  add("types", "[2, 13, 16] float32 and 64", 1e-4, types);
  add("lengths", "[2, n, 16], n 1 to 80", kExact, lengths);
  add("long", "[1, 1003, 16] float32", kExact, long_sequence);
  add("gradient", "[2, 7, 16]", 1e-5, gradient);
  add("trained", "[4, 40, 16]", kExact, trained);
  add("batch", "[3, 13, 16]", kRounding, batch);
  add("instances", "[2, 13, 16]", kExact, instances);
  if (promises.deterministic) add("seed", "[2, 13, 16]", kExact, seed);
  add("evaluation", "[2, 13, 16]", kExact, evaluation);
  add("inputs", "[3, 13, 16]", kExact, inputs);
  add("save", "[2, 13, 16]", kExact, save);
  add("step", "[2, 13, 16]", kExact, step);
  checks.run("kept", subject.name() + ", [2, 13, 16] float32 and 64", kExact,
             [&](std::string& where) { return kept(subject, where); });
  add("scale", "[2, 32, 16] float32", kExact, scale);
  add("measure", "[3, 13, 16]", kExact, measure);
  add("positions", "[3, 13, 16], rotary", kRounding, positions);
  if (promises.half_precision) add("half", "[2, 33, 16] float16, bfloat16", 0.05, half);
  if (promises.averages) add("constants", "[2, n, 16], n 1 to 80", kRounding, constants);
  if (promises.causal) add("causal", "[2, 70, 16], [2, 300, 16]", kExact, causal);
  if (promises.causal && promises.bidirectional) add("bidirectional", "[2, 32, 16]", kExact, bidirectional);
  if (promises.stateful) add("state", "[3, 13, 16] three times", kExact, state);
  if (promises.recurrent) add("recurrent", "[2, 21, 16]", kExact, recurrent);
  if (promises.key_padding) {
    add("padding", "[3, 13, 16], lengths 13, 8, 1", kRounding, padding);
    add("poison", "[3, 13, 16], lengths 13, 8, 1", kRounding, poison);
    add("empty", "[2, 7, 16], lengths 0, 7", kRounding, empty);
    if (promises.stateful) add("state padding", "[3, 13, 16], lengths 13, 5, 0", kRounding, state_padding);
    if (promises.holes) add("holes", "[3, 13, 16]", kRounding, holes);
  }
  if (promises.cross_attention) {
    add("cross", "[2, 5, 16] to [2, 13, 16]", kRounding, cross);
    add("query mask", "[3, 13, 16] to [3, 9, 16], queries 13, 8, 1", kRounding, query_mask);
  }
  if (promises.cuda)
    check_device(
        subject.name() + ", [3, 33, 16] float32", [&](c10::Device device) { return attention_on(subject, device); },
        find_cuda(), checks);
  add("refused", "what is not promised", kExact, refused);
  for (const auto& parameter : describe(candidate.descriptor()).parameters)
    for (const auto& value : edges(parameter))
      checks.run("parameters", fmt::format("{}, {} = {}", subject.name(), parameter.name, value.dump()), kRounding,
                 [&](std::string& where) {
                   try {
                     return parameter_value(AttentionSubject(candidate.with(parameter.name, value)));
                   } catch (const Error& refusal) {  // the host's own: what a part does not promise
                     where = refusal.what();
                   } catch (const std::invalid_argument& refusal) {  // a list may have to fit another parameter
                     if (parameter.type != ParameterType::kRates) throw;
                     where = refusal.what();
                   }
                   return 0.0;
                 });
}

}  // namespace ablate
