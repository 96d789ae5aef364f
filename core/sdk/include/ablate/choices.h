// Text parameters whose values belong to an enumeration, so that no text is compared during a forward pass. Torch-free.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "ablate/parameter.h"
#include "ablate/values.h"

namespace ablate {

template <class E>
struct ChoiceOf {
  const char* text;
  E value;
};

/// Values of a text parameter, declared once for the schema and for the code.
template <class E, std::size_t N>
class Choices {
 public:
  constexpr explicit Choices(const ChoiceOf<E> (&all)[N]) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < N; ++i) {
      all_[i] = all[i];
      if (i > 0) joined_[end++] = '|';
      for (const char* c = all[i].text; *c != '\0'; ++c) joined_[end++] = *c;  // an index past the end does not compile
    }
  }

  /// Texts in the form of a schema: "relu|elu+1". Static storage if this object is static.
  constexpr const char* joined() const { return joined_; }

  /// Returns the parameter's value. Throws std::logic_error if the schema does not allow the text.
  E of(const Values& values, const char* name) const {
    const auto text = values.text(name);
    for (const auto& choice : all_)
      if (text == choice.text) return choice.value;
    throw std::logic_error(std::string(name) + " = " + text + ", expected " + joined_);
  }

 private:
  ChoiceOf<E> all_[N] = {};
  char joined_[256] = {};
};

/// Makes Choices, for a constant: constexpr auto kRoutings = choices<Routing>({{"learned", Routing::kLearned}, ...});
template <class E, std::size_t N>
constexpr Choices<E, N> choices(const ChoiceOf<E> (&all)[N]) {
  return Choices<E, N>(all);
}

/// @param default_value with its JSON quotes: "\"relu\""
template <class E, std::size_t N>
constexpr Parameter text(const char* name, const char* default_value, const Choices<E, N>& choices, const char* help) {
  return text(name, default_value, choices.joined(), help);
}

}  // namespace ablate
