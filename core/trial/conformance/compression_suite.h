// The checks of compressions: each measures an error, which check_compression compares with what it tolerates.
#pragma once

#include <string>

#include "core/trial/conformance/check.h"
#include "core/trial/conformance/compression_probe.h"

namespace ablate {

inline constexpr Rate kCheckedRates[] = {{1, 1}, {1, 2}, {1, 3}, {2, 5}, {3, 4}, {1, 64}};

/// The checks on one choice of parameters. Each returns its error, infinity where a number is not finite or a shape is wrong.
class CompressionSuite {
 public:
  CompressionSuite(Candidate candidate, std::string on, Checks& checks)
      : probe_(std::move(candidate)), on_(std::move(on)), checks_(checks) {}

  /// Every check that the contract or the plugin's promises ask for.
  void all();
  /// The smallest run: what bounds of parameters have to survive.
  void runs();

 private:
  // What the contract asks of every compression (compression_contract.cpp) ...
  double slots();
  /// An item of L tokens gives the memory and the reads of the sequence cut to L.
  double padding();
  double padding(Slots slots, const std::vector<std::int64_t>& lengths);
  double poison();
  double empty();
  double batch();

  // ... of its instances (compression_instances.cpp) ...
  double seed();
  /// After a step of training, so that moving averages have moved.
  double save();
  /// Changing all that one instance owns changes nothing in another.
  double instances();
  /// Evaluation changes no parameter and no buffer, and draws nothing.
  double frozen();
  /// on_step changes no parameter.
  double step();
  /// Types are what Kept makes of them.
  double kept();
  /// What is handed in is read, not written.
  double inputs();
  /// Three steps of training, then evaluation: everything stays finite.
  double training();

  // ... what its numbers have to be (compression_numbers.cpp) ...
  /// Central differences along one random direction for each input and parameter, against autograd.
  double gradient();
  /// Inputs of scale 1e4 in float32.
  double scale();
  /// float32 agrees with float64, and outputs have the type of the inputs.
  double type();
  /// float16 and bfloat16: finite, and near float32.
  double half();
  double constants();
  /// At rate 1, a read is attention over the tokens themselves, computed here plainly.
  double lossless();
  /// Keys and values projected after compression, to other heads and channels (AdaMRA, Eq. 9), can be read.
  double projected();

  // ... and what it promises of slots (compression_slots.cpp).
  /// A query reads what the memory cut to the slots complete with its position gives, and no later token changes that.
  double causal_reads();
  /// A fixed number of slots for fewer, as many and more tokens, padded as cut.
  double fixed_slots();
  /// Written in two parts as written at once.
  double extends();

  template <typename Measure>
  void check(const char* name, double tolerance, Measure measure);
  /// Keeps the first place where something went wrong. @return error
  double at(const std::string& place, double error, double tolerance = 0);
  std::int64_t fit(std::int64_t length) const { return probe_.candidate().length(length); }

  CompressionProbe probe_;
  std::string on_;
  Checks& checks_;
  std::string found_;
};

}  // namespace ablate
