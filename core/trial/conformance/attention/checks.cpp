// Table of an attention's checks, and the functions that run them.
#include <fmt/format.h>

#include "core/registry/plugin_info.h"
#include "core/trial/conformance/attention/contract.h"
#include "core/trial/conformance/plugin/device_checks.h"
#include "core/trial/conformance/plugin/plugin_checks.h"
#include "core/util/error.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

using namespace conformance;

/// Returns values near the edges of a parameter's range that still fit a model of 16 channels. Returns no values for a
/// parameter that names plugins: candidates() (engine/candidate.h) varies such parameters.
std::vector<nlohmann::json> edges(const ParameterInfo& parameter) {
  using nlohmann::json;
  if (parameter.type == ParameterType::kRate) return {"1", "2/3", "1/64"};
  if (parameter.type == ParameterType::kRates)
    return {json::array({"1"}), json::array({"1/3", "1/3", "2/3"}),
            json::array({"1/2", "1/4", "1/8", "1/16", "1/32", "1/64", "1/128"})};
  return values_within(parameter, {-4, 4}, {-16, 16});
}

template <AttentionLook* look, AttentionLook*... more>
constexpr auto wide = widened<AttentionSubject, look, more...>;

/// True if `has` accepts an instance and its output in training at some place. Also true if the plugin throws, because the
/// check then reports the exception.
template <class Has>
bool somewhere(const AttentionSubject& subject, const Has& has) {
  try {
    for (const auto& stand : subject.stands()) {
      const auto instance = subject.make(1, Setting{.stand = stand, .training = true});
      if (has(*instance, forward(*instance, {random_tokens(2, subject.length(13), 2)}))) return true;
    }
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

bool has_parameters(const AttentionSubject& subject) {
  return somewhere(subject, [](const Instance& instance, const AttentionOutput&) { return !instance.parameters().empty(); });
}
bool has_auxiliary(const AttentionSubject& subject) {
  return somewhere(subject, [](const Instance&, const AttentionOutput& result) { return result.auxiliary_loss.defined(); });
}
bool leaves_out(const AttentionSubject& subject) {
  const auto& promises = subject.promises();
  return !promises.causal || !promises.bidirectional || !promises.stateful || promises.length_multiple > 1;
}

constexpr CheckRule<AttentionSubject> kRules[] = {
    {"types", "[3, 13, 16] to [1, 1100, 16] float32", kExact, types},
    {"lengths", "[2, n, 16], n 1 to 80", kExact, lengths},
    {"long", "[1, 1003 and 2113, 16] float32", kExact, wide<long_sequence, beyond_long>},
    {"gradient", "[2, 1 to 7, 16], [2, 150, 16]", kDifferences, wide<gradient, gradient_of_few>},
    {"additive", "[3, 13, 16]", {1e-8, "float64, a sum over a batch in another order"}, additive, has_parameters},
    {"trained", "[4, 40, 16]", kExact, trained},
    {"auxiliary", "[2, 13, 16]", kExact, auxiliary, has_auxiliary},
    {"batch", "[3, 13, 16], [3, 150, 16], [8, n, 16]", kRounding, wide<batch, batch_of_many>},
    {"instances", "[2, 13, 16]", kExact, instances},
    {"seed", "[2, 13, 16], [2, 150, 16]", kExact, seed, promised<&Capabilities::deterministic>},
    {"evaluation", "[3, 13, 16], [3, 150, 16]", kExact, evaluation},
    {"calls", "[3, 13, 16], [3, 150, 16] twice", kRounding, calls},
    {"threads", "[2, 13, 16]", kRounding, threads},
    {"inputs", "[3, 13, 16]", kExact, inputs},
    {"save", "[2, 13, 16]", kExact, save},
    {"step", "[2, 13, 16]", kExact, step, has_parameters},
    {"kept", "float64, float32", kExact, kept},
    {"scale", "[2, 32, 16] float32", kExact, scale},
    {"measure", "[3, 13, 16]", kExact, measure},
    {"weights", "[3, 13, 16], [3, 21, 16]", kRounding, weights, has_weights},
    {"projections", "[3, 13, 16]", kRounding, projections, has_projections},
    {"positions", "[3, 13, 16], rotary", kRounding, positions, promised<&Capabilities::rotary>},
    {"weight dropout", "[3, 13, 16] in training", kRounding, weight_dropout, promised<&Capabilities::weight_dropout>},
    {"dropout draws", "[2, 40, 16], [2, 300, 16] in training", kExact, dropout_draws, promised<&Capabilities::weight_dropout>},
    {"half",
     "[1, n, 16] float16, bfloat16, n to 4100",
     {1, "ratio to the error of float64 if inputs and weights are rounded 8 to 16 times more coarsely"},
     half,
     promised<&Capabilities::half_precision>},
    {"constants", "[3, n, 16], n 1 to 2113", kRounding, constants, promised<&Capabilities::averages>},
    {"reach", "[3, n, 16], n 2 to 2113", kExact, wide<reach, reach_everywhere>,
     [](const AttentionSubject& s) { return !s.promises().sparse; }},
    {"causal", "[2, n, 16], n 70 to 1100, every place", kRounding, wide<causal, causal_borders, causal_prefixes>,
     promised<&Capabilities::causal>},
    {"bidirectional", "[2, 32, 16]", kExact, bidirectional,
     [](const AttentionSubject& s) { return s.promises().causal && s.promises().bidirectional; }},
    {"state", "[3, 13, 16] three times, [1, 33, 16] eight times, [8, 300, 16] twice, [1, 505, 16] eleven times", kRounding,
     wide<state, state_beyond, state_far>, promised<&Capabilities::stateful>},
    {"start", "[3, 13, 16], [3, 150, 16]", kRounding, start, promised<&Capabilities::stateful>},
    {"recurrent", "[2, 21, 16], [2, 150, 16], [2, 620, 16]", kRounding, wide<recurrent, recurrent_beyond>,
     promised<&Capabilities::recurrent>},
    {"padding", "[3, n, 16], n 13 to 1100, [16, n, 16]", kRounding, wide<padding, padding_of_many>,
     promised<&Capabilities::key_padding>},
    {"poison", "[3, 13, 16], [3, 150, 16]", kRounding, poison, promised<&Capabilities::key_padding>},
    {"empty", "[2, 7, 16], lengths 0, 7", kRounding, empty, promised<&Capabilities::key_padding>},
    {"state padding", "[3, 13, 16], lengths 13, 5, 0", kRounding, state_padding,
     [](const AttentionSubject& s) { return s.promises().key_padding && s.promises().stateful; }},
    {"holes", "[3, 13, 16]", kRounding, holes,
     [](const AttentionSubject& s) { return s.promises().key_padding && s.promises().holes; }},
    {"cross", "[3, 5, 16] to [3, 13, 16], [3, 150, 16]", kRounding, cross, promised<&Capabilities::cross_attention>},
    {"query mask", "[3, 13, 16] to [3, 9, 16], queries 13, 8, 1", kRounding, query_mask,
     promised<&Capabilities::cross_attention>},
    {"two masks", "[3, 13, 16] to [3, 13, 16], [3, 150, 16]", kRounding, two_masks, promised<&Capabilities::cross_attention>},
    {"forms", "[9, 70, 64], [9 and 17, 330, 64] float32", kExact, forms, [](const AttentionSubject& s) { return s.full(); }},
    {"refused", "places and lengths that are not promised", kExact, refused, leaves_out},
};

/// Runs every check that applies, at small size, with another value of a parameter. A number at its bound may switch off
/// trained parameters (a weight of 0), so the check "trained" is left out at a bound.
void keeps(const AttentionSubject& subject, bool is_bound, Finding& finding) {
  for (const auto& rule : kRules) {
    if (!rule.applies(subject) || (is_bound && rule.look == static_cast<AttentionLook*>(trained))) continue;
    Finding own(rule.allowed);
    try {
      subject.candidate().exemptions->take(own, rule.name, "", [&](Finding& seen) { rule.look(subject, seen); });
    } catch (const Error&) {
      throw;
    } catch (const std::invalid_argument&) {
      throw;
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("{}: {}", rule.name, one_line(error.what())));
    }
    if (!own.passed()) throw std::runtime_error(fmt::format("{}: {}", rule.name, own.text()));
  }
  finding.saw();
  finding.say("as promised");
}

/// Checks another value of a parameter. A refusal by the host's own checks (Error) is no fault. A refusal by the plugin is a
/// fault only for a text or a boolean, because a number or a list may have to fit other parameters.
void check_value(const Candidate& candidate, const ParameterInfo& parameter, const nlohmann::json& value, Finding& finding) {
  try {
    const bool is_bound = parameter.type == ParameterType::kInteger || parameter.type == ParameterType::kReal;
    keeps(AttentionSubject(candidate.with(parameter.name, value), Depth::kSmall), is_bound, finding);
  } catch (const Error& refusal) {
    finding.saw();
    finding.say(refusal.what());
  } catch (const std::invalid_argument& refusal) {
    if (parameter.type == ParameterType::kText || parameter.type == ParameterType::kBoolean) throw;
    finding.saw();
    finding.say(refusal.what());
  }
}

void check_oracles(const AttentionSubject& subject, const PluginInfo& info, Checks& checks) {
  for (const auto& oracle : info.oracles) {
    const auto on = fmt::format("{} at {}: {}{}", info.id, oracle.at.dump(), oracle.plugin,
                                oracle.with.empty() ? "" : " with " + oracle.with.dump());
    try {
      subject.candidate().find(Kind::kAttention, oracle.plugin);
    } catch (const Error&) {
      checks.leave("equals", on, fmt::format("there is no attention {}", oracle.plugin));
      continue;
    }
    checks.run("equals", on, kRounding, [&](Finding& finding) { equals(subject, oracle, finding); });
  }
}

}  // namespace

std::vector<std::string> attention_check_names() { return names_of(kRules); }

void check_attention(const Candidate& candidate, Depth depth, Checks& checks) {
  const AttentionSubject subject(candidate, depth);
  run_rules(kRules, subject, "", checks);
  check_cuda(candidate, checks);
  if (!subject.full()) return;
  checks.looked_at("long", lengths_looked_at(subject));
  candidate.exemptions->conclude(attention_check_names(), checks);
  const auto info = describe(candidate.descriptor());
  check_oracles(subject, info, checks);
  for (const auto& parameter : info.parameters)
    for (const auto& value : edges(parameter))
      if (value != candidate.section.at(parameter.name))
        checks.run("parameters",
                   fmt::format("{}, {} = {}{}", subject.name(), parameter.name, value.dump(),
                               parameter.when.empty() ? "" : " where " + parameter.when),
                   kExact, [&](Finding& finding) { check_value(candidate, parameter, value, finding); });
}

}  // namespace ablate
