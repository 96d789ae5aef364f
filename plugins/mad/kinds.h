// The six kinds of examples, drawn at random.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "ablate/examples.h"

namespace ablate::mad {

struct Settings {
  std::int64_t vocabulary = 0, length = 0;
  double noise = 0;         ///< share of noise pairs (noisy recall)
  std::int64_t copied = 0;  ///< tokens to copy (selective copying)
  bool published = false;   ///< true if examples and targets follow the published protocol
  std::uint64_t seed = 0;   ///< for the data that all examples share
};

class Kind {
 public:
  virtual ~Kind() = default;
  virtual Row draw(bool training, std::mt19937_64& random) const = 0;
};

/// A kind of examples, its published sizes and its factory.
struct KindInfo {
  const char* name;
  std::int64_t vocabulary, length, train;  ///< published values
  bool decoded;                            ///< true if all targets are decoded from one vector
  /// Throws std::invalid_argument if the settings allow no example. The message begins with the parameter's name.
  std::unique_ptr<Kind> (*make)(const Settings& settings);
};

/// @param name a value that the parameter `kind` allows
const KindInfo& kind_of(const std::string& name);

}  // namespace ablate::mad
