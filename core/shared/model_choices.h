// Text parameters of [model] and [train] whose values are an enumeration's: told once, for what a study may write and for the
// code that goes by it. Torch-free.
#pragma once

#include "ablate/choices.h"

namespace ablate {

enum class Classifier { kLinear, kMlp };
inline constexpr auto kClassifiers = choices<Classifier>({{"linear", Classifier::kLinear}, {"mlp", Classifier::kMlp}});

/// How positions are told.
enum class PositionsBy { kLearned, kSinusoidal, kRotary, kNone };
inline constexpr auto kPositionsBy = choices<PositionsBy>({{"learned", PositionsBy::kLearned},
                                                           {"sinusoidal", PositionsBy::kSinusoidal},
                                                           {"rotary", PositionsBy::kRotary},
                                                           {"none", PositionsBy::kNone}});

/// Where a layer's norms stand.
enum class NormStand { kPre, kPost };
inline constexpr auto kNormStands = choices<NormStand>({{"pre", NormStand::kPre}, {"post", NormStand::kPost}});

/// Where gradients end among the segments of an example.
enum class Cut { kNowhere, kBetween, kBeforeLast };
inline constexpr auto kCuts =
    choices<Cut>({{"nowhere", Cut::kNowhere}, {"between", Cut::kBetween}, {"before-last", Cut::kBeforeLast}});

/// How the rate of a "wsd" schedule falls.
enum class CooldownShape { kLinear, kSqrt };
inline constexpr auto kCooldownShapes =
    choices<CooldownShape>({{"linear", CooldownShape::kLinear}, {"1-sqrt", CooldownShape::kSqrt}});

}  // namespace ablate
