// Table of a compression's checks, and the functions that run them.
#include <fmt/format.h>

#include "core/records/used_plugin.h"
#include "core/registry/plugin_info.h"
#include "core/trial/conformance/compression/contract.h"
#include "core/trial/conformance/engine/lengths.h"
#include "core/trial/conformance/plugin/device_checks.h"
#include "core/trial/conformance/plugin/plugin_checks.h"
#include "core/util/error.h"

namespace ablate {
namespace {

using namespace conformance;

template <CompressionLook* look, CompressionLook*... more>
constexpr auto wide = widened<CompressionSubject, look, more...>;

/// True if an instance in training has the property. Also true if the plugin throws, because a check reports the exception.
template <class Has>
bool somewhere(const CompressionSubject& subject, const Has& has) {
  try {
    return has(subject.make({subject.promises().fixed_slots ? Slots{.fixed = 4} : subject.usual(), kDouble, true}));
  } catch (const std::exception&) {
    return true;
  }
}

bool has_parameters(const CompressionSubject& subject) {
  return somewhere(subject, [](const CompressionInstance& instance) { return !instance->parameters().empty(); });
}
bool has_registered(const CompressionSubject& subject) {
  return somewhere(subject, [](const CompressionInstance& instance) { return !contents(instance).empty(); });
}
bool has_auxiliary(const CompressionSubject& subject) {
  return somewhere(subject, [&](const CompressionInstance& instance) {
    return pass(instance, inputs_of(subject.length(12), {})).auxiliary.defined();
  });
}
bool has_scale(const CompressionSubject& subject) {
  return somewhere(subject, [&](const CompressionInstance& instance) {
    return write(instance, inputs_of(subject.length(12), {})).log_scale.defined();
  });
}
bool has_usage(const CompressionSubject& subject) {
  return somewhere(subject, [&](const CompressionInstance& instance) {
    const auto in = inputs_of(subject.length(12), {}).to(instance.device());
    const auto memory = on(instance.device(), write(instance, in));
    return instance->read({.queries = in.queries, .memory = memory, .looks = true}).usage.defined();
  });
}

bool has_means(const CompressionSubject& subject) {
  return somewhere(subject, [](const CompressionInstance& instance) { return instance->slots_are_means(); });
}

/// Shapes are [batch, heads, n, d]. A small run uses float64 and n <= 64.
constexpr CheckRule<CompressionSubject> kRules[] = {
    {"rates", "1 to 1/64", kExact, rates},
    {"slots", "[4, 2, 1 to 64, 6]", kExact, slots},
    {"padding", "[4, 2, 13, 6], [7, 2, 300, 6], [16, 2, n, 6], n to 2113", kRounding, wide<padding, padding_of_many>},
    {"poison", "[4, 2, 12, 6], [4, 2, 150, 6]", kRounding, poison},
    {"empty", "[3, 2, 8, 6], lengths 0, 8, 0", kExact, empty_items},
    {"buffers", "[4, 2, 13 to 300, 6], two steps", kRounding, buffers, has_registered},
    {"query mask", "[3, 2, 13, 6], queries 5, 3, 1", kRounding, query_mask},
    {"two masks", "[3, 2, 13, 6], as many queries", kRounding, two_masks},
    {"batch", "[3, 2, 11 to 300, 6], [8, 2, n, 6], [9, 2, 36, 6] held", kRounding, wide<batch, batch_of_many>},
    {"additive", "[4, 2, 13 and 65, 6]", kRounding, additive, has_parameters},
    {"calls", "[3, 2, 12 to 150, 6] twice", kRounding, calls},
    {"no queries", "[3, 2, 12, 6]", kRounding, no_queries},
    {"inputs", "[3, 2, 12, 6]", kExact, inputs},
    {"seed", "[3, 2, 12, 6], steps 1 to 1000", kExact, seed, promised<&Capabilities::deterministic>},
    {"instances", "[3, 2, 12, 6]", kExact, instances},
    {"threads", "[3, 2, 12, 6]", kRounding, threads},
    {"save", "[3, 2, 12, 6]", kExact, save},
    {"evaluation", "[3, 2, 12, 6]", kExact, frozen},
    {"step", "[3, 2, 12, 6], steps 1 to 1000", kExact, step, has_parameters},
    {"kept", "[3, 2, 12, 6]", kExact, kept},
    {"training", "[3, 2, 12 and 40, 6]", kExact, training},
    {"gradient", "[3, 2, 1 to 9 and 150, 6]", kRounding, gradient},
    {"trained", "[3, 2, 64, 6]", kExact, trained},
    {"reach", "[48, 2, 13 to 1100, 6]", kExact, reach, [](const CompressionSubject& s) { return !s.promises().sparse; }},
    {"auxiliary", "[3, 2, 12, 6]", kRounding, auxiliary, has_auxiliary},
    {"scale", "[2, 2, 12, 6] float32, of 1e4", kExact, scale},
    {"types", "[2, 2, 12 and 150, 6] float32 and 64", kExact, type},
    {"forms", "[9, 4 and 8, 330, 16] float32, fused and not", kRounding, forms,
     [](const CompressionSubject& s) { return s.full(); }},
    {"half", "[2, 2, 1003 and 2503, 6] float16, bfloat16", kExact, half,
     [](const CompressionSubject& s) { return s.full() && s.promises().half_precision; }},
    {"constants", "[3, 2, 13 to 2113, 6]", kRounding, wide<constants, constants_of_many>, promised<&Capabilities::averages>},
    {"mass", "[4, 2, 13 to 256, 6], two groups", kRounding, mass,
     [](const CompressionSubject& s) { return s.promises().averages && s.promises().slots_have_keys; }},
    {"lossless", "[3, 2, 1 to 65, 6]", kRounding, lossless, promised<&Capabilities::lossless_at_rate_1>},
    {"means", "[3, 2, 1 to 65, 6]", kRounding, means, has_means},
    {"projected", "3 heads of 4 and 3", kRounding, projected, promised<&Capabilities::slots_have_keys>},
    {"beside tokens", "[3, 2, 13, 6]", kRounding, beside, promised<&Capabilities::beside_tokens>},
    {"looks", "[3, 2, 13, 6]", kRounding, looks, has_usage},
    {"causal reads", "[3, 2, 13 to 1100, 6], every place", kRounding, wide<causal_reads, causal_places>,
     promised<&Capabilities::causal_reads>},
    {"last", "[68, 2, 67, 6]", kExact, last, promised<&Capabilities::causal_reads>},
    {"fixed slots", "[3, 2, 1 to 64, 6]", kRounding, fixed_slots, promised<&Capabilities::fixed_slots>},
    {"extends", "[3, 2, 12 to 1000, 6]", kRounding, wide<extends, extends_beyond>, promised<&Capabilities::extends>},
    {"log scale", "[3, 2, 12, 6]", kRounding, log_scale, has_scale},
};

constexpr double kFarthest = 1 << 16;

void check_value(const Candidate& candidate, const ParameterInfo& parameter, const nlohmann::json& value, Checks& checks) {
  const auto how = fmt::format("{} = {}, ", parameter.name, value.dump());
  const bool is_bound = parameter.type == ParameterType::kInteger || parameter.type == ParameterType::kReal;
  try {
    const CompressionSubject subject(candidate.with(parameter.name, value), Depth::kSmall);
    // The bound of a number may switch off a trained parameter (a weight of 0), so "trained" is left out.
    run_rules(kRules, subject, how, checks, is_bound ? static_cast<CompressionLook*>(trained) : nullptr);
  } catch (const Error& refusal) {
    checks.leave("rates", candidate.name() + ", " + how, refusal.what());
  }
}

}  // namespace

std::vector<std::string> compression_check_names() { return names_of(kRules); }

void check_compression(const Candidate& candidate, Depth depth, Checks& checks) {
  run_rules(kRules, CompressionSubject(candidate, depth), "", checks);
  if (depth == Depth::kSmall) return;
  checks.looked_at("padding", {{kAnyPlace, longest_looked_at(candidate, kBeyond)}});
  check_cuda(candidate, checks);
  candidate.exemptions->conclude(compression_check_names(), checks);
  for (const auto& parameter : describe(candidate.descriptor()).parameters)
    for (const auto& value : values_within(parameter, {-kFarthest, kFarthest}, {-kFarthest, kFarthest}))
      if (value != candidate.section.at(parameter.name)) check_value(candidate, parameter, value, checks);
}

}  // namespace ablate
