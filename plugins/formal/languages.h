// Words whose prefixes have values: products in a group, and sums of products.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "ablate/examples.h"

namespace ablate::formal {

/// The words of one kind. At each position, every allowed symbol is equally likely.
class Language {
 public:
  virtual ~Language() = default;
  virtual std::int64_t vocabulary() const = 0;
  virtual std::int64_t values() const = 0;         ///< each value is in [0, values())
  virtual std::int64_t step() const { return 1; }  ///< every length is a multiple of step()
  /// Draws a word. The target at each position is the value of the prefix that ends there, -1 if the prefix is no expression.
  virtual Row draw(std::int64_t length, std::mt19937_64& random) const = 0;
  virtual std::string symbol(std::int64_t id) const = 0;  ///< display name
};

/// A kind of words: its name and its language.
struct LanguageInfo {
  const char* name;
  bool every;  ///< true if every prefix has a target, as published; false if only the whole word has a target
  std::unique_ptr<Language> (*make)(std::int64_t modulus);
};

/// @param name a value that the parameter `kind` allows
const LanguageInfo& language_of(const std::string& name);

}  // namespace ablate::formal
