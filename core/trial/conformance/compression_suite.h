// The checks of compressions: each measures an error, which check_compression compares with what it tolerates.
#pragma once

#include <limits>
#include <string>

#include "core/trial/conformance/check.h"
#include "core/trial/conformance/compression_probe.h"

namespace ablate {

inline constexpr Rate kCheckedRates[] = {{1, 1}, {1, 2}, {1, 3}, {2, 5}, {3, 4}, {1, 64}};

/// The checks on one choice of parameters. Each returns its error, infinity where a number is not finite or a shape is wrong.
class CompressionSuite {
 public:
  CompressionSuite(Chosen plugin, std::string on, Checks& checks)
      : probe_(std::move(plugin)), on_(std::move(on)), checks_(checks) {}

  /// Every check that the contract or the plugin's promises ask for.
  void all();
  /// The smallest run: what bounds of parameters have to survive.
  void runs();

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  // What the contract asks of every compression (compression_contract.cpp) ...
  double slots();
  /// An item of L tokens gives the memory and the reads of the sequence cut to L.
  double padding();
  double poison();
  double empty();
  double batch();
  double seed();
  /// After a step of training, so that moving averages have moved.
  double save();
  /// Changing all that one instance owns changes nothing in another.
  double instances();
  /// Evaluation changes no parameter and no buffer.
  double frozen();

  // ... and what its numbers have to be, gradients and promises included (compression_numbers.cpp).
  /// Central differences along one random direction for each input and parameter, against autograd.
  double gradient();
  /// Inputs of scale 1e4 in float32.
  double scale();
  /// Three steps of training, then evaluation: everything stays finite.
  double training();
  /// float32 agrees with float64, and outputs have the type of the inputs.
  double type();
  /// float16 and bfloat16: finite, and near float32.
  double half();
  double constants();
  /// At rate 1, a read is attention over the tokens themselves, computed here plainly.
  double lossless();
  /// Keys and values projected after compression, to other heads and channels (AdaMRA, Eq. 9), can be read.
  double projected();

  template <typename Measure>
  void check(const char* name, double tolerance, Measure measure);
  /// Keeps the first place where something went wrong. @return error
  double at(const std::string& place, double error, double tolerance = 0);
  /// The smallest length from this one that the plugin takes.
  std::int64_t fit(std::int64_t length) const;

  CompressionProbe probe_;
  std::string on_;
  Checks& checks_;
  std::string found_;
};

}  // namespace ablate
