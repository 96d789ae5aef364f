// Parameters of AdaMRA, and the promises that depend on them.
#pragma once

#include "ablate/attention.h"
#include "ablate/choices.h"
#include "ablate/compression.h"

namespace ablate::adamra {

enum class Routing { kLearned, kRandom, kAll };
inline constexpr auto kRoutings =
    choices<Routing>({{"learned", Routing::kLearned}, {"random", Routing::kRandom}, {"all", Routing::kAll}});

enum class RouterGradient { kScale, kStraightThrough, kNone };
inline constexpr auto kRouterGradients = choices<RouterGradient>({{"scale", RouterGradient::kScale},
                                                                  {"straight-through", RouterGradient::kStraightThrough},
                                                                  {"none", RouterGradient::kNone}});

inline constexpr Parameter parameters[] = {
    rates("rates", "[\"1/2\", \"1/4\", \"1/8\", \"1/16\"]",
          "compression rate of each head; the number of rates is the number of heads"),
    integer("subheads", "2", {1, 64}, "subheads of each head, all at its rate; must divide model.d_model"),
    plugin("compression", "compression", "compression that writes each head's memory"),
    text("feature_map", "\"relu\"", kSimilarityChoices,
         "phi of Eq. 7, or the exponential of Table 5; leave it out if the memory has its own kernel (rbf, random-features)"),
    text("routing", "\"learned\"", kRoutings,
         "learned: the head the router finds most probable; random: a random head (Table 5, Rand); all: the sum of all heads"),
    text("router_gradient", "\"scale\"", kRouterGradients,
         "scale: a head's output times its probability; straight-through: the same gradient without the factor; none: no "
         "gradient. With routing = all, scale multiplies each head by its probability; straight-through and none add the heads "
         "unweighted. Unused if routing = random"),
};

inline constexpr Exemption exemptions[] = {
    {"trained", "router", "arg max has no gradient (Eq. 6 as published)", 1, "router_gradient = none"},
    {"trained", "router", "one head leaves nothing to choose", 1, "rates = [\"1\"]"},
};

/// Copies the compression's cost exponents. A softmax read weighs every slot for every query, so its time is quadratic.
inline Capabilities promises(const Capabilities& declared, const Values& values, std::span<const Capabilities> parts) {
  auto can = declared;
  const auto& memory = parts.front();
  // Under random routing the head depends on the position, so equal tokens may get different outputs.
  can.averages = memory.averages && kRoutings.of(values, "routing") != Routing::kRandom;
  can.half_precision = memory.half_precision;
  can.cuda = memory.cuda;
  can.deterministic = memory.deterministic;
  can.length_multiple = memory.length_multiple;
  can.time_exponent = kSimilarityChoices.of(values, "feature_map") == Similarity::kSoftmax ? 2 : memory.time_exponent;
  can.memory_exponent = memory.memory_exponent;
  return can;
}

}  // namespace ablate::adamra
