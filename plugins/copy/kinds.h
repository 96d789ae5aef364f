// The three kinds of examples, drawn at random.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "ablate/examples.h"

namespace ablate::copy {

struct Settings {
  std::int64_t vocabulary = 0;
  std::int64_t copied = 0;  ///< tokens among the blanks (selective copying)
};

struct KindInfo {
  const char* name;
  std::int64_t length;  ///< default length
  /// Throws std::invalid_argument if the settings and length allow no example. The message begins with the parameter's name.
  void (*check)(const Settings& settings, std::int64_t length);
  Row (*draw)(const Settings& settings, std::int64_t length, std::mt19937_64& random);
};

/// @param name a value that the parameter `kind` allows
const KindInfo& kind_of(const std::string& name);

}  // namespace ablate::copy
