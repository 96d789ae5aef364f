// The table of a compression's checks, and their run over it.
#include <fmt/format.h>

#include "core/records/used_plugin.h"
#include "core/registry/plugin_info.h"
#include "core/trial/conformance/compression_contract.h"
#include "core/trial/conformance/device_checks.h"
#include "core/trial/conformance/lengths.h"
#include "core/trial/conformance/plugin_checks.h"
#include "core/util/error.h"

namespace ablate {
namespace {

using namespace conformance;
using Applies = bool (*)(const CompressionSubject&);
using CompressionLook = void (*)(const CompressionSubject&, Finding&);

constexpr Applies kAlways = [](const CompressionSubject&) { return true; };

template <bool Capabilities::*promise>
bool promised(const CompressionSubject& subject) {
  return subject.promises().*promise;
}

/// What one check looks at in several places.
template <void (*... looks)(const CompressionSubject&, Finding&)>
void each(const CompressionSubject& subject, Finding& finding) {
  (looks(subject, finding), ...);
}

/// What an instance is, or gives; what is thrown on the way the checks will meet, and say so.
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

struct CompressionCheck {
  const char* name;
  const char* on;  ///< [batch, heads, n, d]; of a small run n is at most 64, in float64
  Allowed allowed;
  Applies applies;
  CompressionLook look;
};

constexpr CompressionCheck kChecks[] = {
    {"rates", "1 to 1/64", kExact, kAlways, rates},
    {"slots", "[4, 2, 1 to 64, 6]", kExact, kAlways, slots},
    {"padding", "[4, 2, 13, 6], [7, 2, 300, 6], [16, 2, n, 6], n to 2113", kRounding, kAlways, each<padding, padding_of_many>},
    {"poison", "[4, 2, 12, 6], [4, 2, 150, 6]", kRounding, kAlways, poison},
    {"empty", "[3, 2, 8, 6], lengths 0, 8, 0", kExact, kAlways, empty_items},
    {"buffers", "[4, 2, 13 to 300, 6], two steps", kRounding, has_registered, buffers},
    {"query mask", "[3, 2, 13, 6], queries 5, 3, 1", kRounding, kAlways, query_mask},
    {"two masks", "[3, 2, 13, 6], as many queries", kRounding, kAlways, two_masks},
    {"batch", "[3, 2, 11 to 300, 6], [8, 2, n, 6], [9, 2, 36, 6] held", kRounding, kAlways,
     each<batch, batch_of_many, batch_of_held>},
    {"additive", "[4, 2, 13 and 65, 6]", kRounding, has_parameters, additive},
    {"calls", "[3, 2, 12 to 150, 6] twice", kRounding, kAlways, calls},
    {"no queries", "[3, 2, 12, 6]", kRounding, kAlways, no_queries},
    {"inputs", "[3, 2, 12, 6]", kExact, kAlways, inputs},
    {"seed", "[3, 2, 12, 6], steps 1 to 1000", kExact, promised<&Capabilities::deterministic>, seed},
    {"instances", "[3, 2, 12, 6]", kExact, kAlways, instances},
    {"threads", "[3, 2, 12, 6]", kRounding, kAlways, threads},
    {"save", "[3, 2, 12, 6]", kExact, kAlways, save},
    {"evaluation", "[3, 2, 12, 6]", kExact, kAlways, frozen},
    {"step", "[3, 2, 12, 6], steps 1 to 1000", kExact, has_parameters, step},
    {"kept", "[3, 2, 12, 6]", kExact, kAlways, kept},
    {"training", "[3, 2, 12 and 40, 6]", kExact, kAlways, training},
    {"gradient", "[3, 2, 1 to 9 and 150, 6]", kRounding, kAlways, gradient},
    {"trained", "[3, 2, 64, 6]", kExact, kAlways, trained},
    {"reach", "[48, 2, 13 to 1100, 6]", kExact, [](const CompressionSubject& s) { return !s.promises().sparse; }, reach},
    {"auxiliary", "[3, 2, 12, 6]", kRounding, has_auxiliary, auxiliary},
    {"scale", "[2, 2, 12, 6] float32, of 1e4", kExact, kAlways, scale},
    {"types", "[2, 2, 12 and 150, 6] float32 and 64", kExact, kAlways, type},
    {"forms", "[9, 4 and 8, 330, 16] float32, fused and not", kRounding, kAlways, forms},
    {"half", "[2, 2, 1003 and 2503, 6] float16, bfloat16", kExact, promised<&Capabilities::half_precision>, half},
    {"constants", "[3, 2, 13 to 2113, 6]", kRounding, promised<&Capabilities::averages>, each<constants, constants_of_many>},
    {"mass", "[4, 2, 13 to 256, 6], two groups", kRounding,
     [](const CompressionSubject& s) { return s.promises().averages && s.promises().slots_have_keys; }, mass},
    {"lossless", "[3, 2, 1 to 65, 6]", kRounding, promised<&Capabilities::lossless_at_rate_1>, lossless},
    {"means", "[3, 2, 1 to 65, 6]", kRounding, has_means, means},
    {"projected", "3 heads of 4 and 3", kRounding, promised<&Capabilities::slots_have_keys>, projected},
    {"beside tokens", "[3, 2, 13, 6]", kRounding, promised<&Capabilities::beside_tokens>, beside},
    {"looks", "[3, 2, 13, 6]", kRounding, has_usage, looks},
    {"causal reads", "[3, 2, 13 to 1100, 6], every place", kRounding, promised<&Capabilities::causal_reads>,
     each<causal_reads, causal_places>},
    {"last", "[68, 2, 67, 6]", kExact, promised<&Capabilities::causal_reads>, last},
    {"fixed slots", "[3, 2, 1 to 64, 6]", kRounding, promised<&Capabilities::fixed_slots>, fixed_slots},
    {"extends", "[3, 2, 12 to 1000, 6]", kRounding, promised<&Capabilities::extends>, each<extends, extends_beyond>},
    {"log scale", "[3, 2, 12, 6]", kRounding, has_scale, log_scale},
};

/// @param is_bound the bound of a number, which may switch off what is trained (a weight of 0)
void run_all(const Candidate& candidate, const std::string& how, Depth depth, bool is_bound, Checks& checks) {
  const CompressionSubject subject(candidate, depth);
  for (const auto& check : kChecks) {
    if (!check.applies(subject) ||
        ((check.look == CompressionLook{half} || check.look == CompressionLook{forms}) && !subject.full()) ||
        (check.look == CompressionLook{trained} && is_bound))
      continue;
    candidate.exemptions->run(checks, check.name, fmt::format("{}, {}{}", candidate.name(), how, check.on), "", check.allowed,
                              [&](Finding& finding) { check.look(subject, finding); });
  }
}

constexpr double kFarthest = 1 << 16;

/// The other values to check it with: every other choice, and both bounds of a number.
std::vector<nlohmann::json> other_values(const ParameterInfo& parameter, const nlohmann::json& chosen) {
  switch (parameter.type) {
    case ParameterType::kBoolean:
      return {!chosen.get<bool>()};
    case ParameterType::kText: {
      std::vector<nlohmann::json> others;
      for (const auto& choice : parameter.choices)
        if (choice != chosen.get<std::string>()) others.emplace_back(choice);
      return others;
    }
    case ParameterType::kInteger:  // an open bound is no number that fits
      return {static_cast<std::int64_t>(std::max(parameter.minimum, -kFarthest)),
              static_cast<std::int64_t>(std::min(parameter.maximum, kFarthest))};
    case ParameterType::kReal:
      return {std::max(parameter.minimum, -kFarthest), std::min(parameter.maximum, kFarthest)};
    case ParameterType::kRate:
    case ParameterType::kRates:  // any rate is as good as another: those that are checked are the instance's own
    case ParameterType::kFile:
    case ParameterType::kPlugin:
    case ParameterType::kPlugins:
      break;
  }
  return {};
}

void check_value(const Candidate& candidate, const ParameterInfo& parameter, const nlohmann::json& value, Checks& checks) {
  const auto how = fmt::format("{} = {}, ", parameter.name, value.dump());
  const bool is_bound = parameter.type == ParameterType::kInteger || parameter.type == ParameterType::kReal;
  try {
    run_all(candidate.with(parameter.name, value), how, Depth::kSmall, is_bound, checks);
  } catch (const Error& refusal) {
    checks.leave("rates", candidate.name() + ", " + how, refusal.what());
  }
}

}  // namespace

std::vector<std::string> compression_check_names() {
  std::vector<std::string> names;
  for (const auto& check : kChecks) names.emplace_back(check.name);
  return names;
}

void check_compression(const Candidate& candidate, Depth depth, Checks& checks) {
  run_all(candidate, "", depth, false, checks);
  if (depth == Depth::kSmall) return;
  checks.looked_at("padding", {{kAnyPlace, longest_looked_at(candidate, kBeyond)}});
  check_cuda(candidate, checks);
  candidate.exemptions->conclude(compression_check_names(), checks);
  for (const auto& parameter : describe(candidate.descriptor()).parameters)
    for (const auto& value : other_values(parameter, candidate.section.at(parameter.name)))
      if (value != candidate.section.at(parameter.name)) check_value(candidate, parameter, value, checks);
}

}  // namespace ablate
