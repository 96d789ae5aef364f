// Text parameters of [model] and [train] whose values belong to an enumeration. Each list is written once, for the values that
// a study may write and for the code that uses them. Torch-free.
#pragma once

#include <stdexcept>
#include <string>

#include "ablate/choices.h"

namespace ablate {

/// Choices that can also convert the text of a trial's setting to its enumerator.
template <class E, std::size_t N>
class HostChoices : public Choices<E, N> {
 public:
  constexpr explicit HostChoices(const ChoiceOf<E> (&all)[N]) : Choices<E, N>(all) {
    for (std::size_t i = 0; i < N; ++i) all_[i] = all[i];
  }

  /// Throws std::logic_error for an unknown text.
  E of(const std::string& text) const {
    for (const auto& choice : all_)
      if (text == choice.text) return choice.value;
    throw std::logic_error("found " + text + ", expected " + this->joined());
  }

 private:
  ChoiceOf<E> all_[N] = {};
};

template <class E, std::size_t N>
constexpr HostChoices<E, N> host_choices(const ChoiceOf<E> (&all)[N]) {
  return HostChoices<E, N>(all);
}

enum class Classifier { kLinear, kMlp };
inline constexpr auto kClassifiers = host_choices<Classifier>({{"linear", Classifier::kLinear}, {"mlp", Classifier::kMlp}});

/// Encoding of positions.
enum class PositionsBy { kLearned, kSinusoidal, kRotary, kNone };
inline constexpr auto kPositionsBy = host_choices<PositionsBy>({{"learned", PositionsBy::kLearned},
                                                                {"sinusoidal", PositionsBy::kSinusoidal},
                                                                {"rotary", PositionsBy::kRotary},
                                                                {"none", PositionsBy::kNone}});

/// Position of a layer's norms: before each part, or after its residual.
enum class NormStand { kPre, kPost };
inline constexpr auto kNormStands = host_choices<NormStand>({{"pre", NormStand::kPre}, {"post", NormStand::kPost}});

/// Borders between the segments of an example at which gradients are cut.
enum class Cut { kNowhere, kBetween, kBeforeLast };
inline constexpr auto kCuts =
    host_choices<Cut>({{"nowhere", Cut::kNowhere}, {"between", Cut::kBetween}, {"before-last", Cut::kBeforeLast}});

/// Shape of the learning rate's decay at the end of a "wsd" schedule.
enum class CooldownShape { kLinear, kSqrt };
inline constexpr auto kCooldownShapes =
    host_choices<CooldownShape>({{"linear", CooldownShape::kLinear}, {"1-sqrt", CooldownShape::kSqrt}});

}  // namespace ablate
