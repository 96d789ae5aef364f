// A compression under test: instances of it with the rates, the types and the modes that it is checked in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/trial/conformance/subject.h"

namespace ablate {

/// The lowest rate that is tried: segments that are longer than any block of tokens is wide.
inline constexpr Rate kLowest{1, 64};
/// The lowest rate of most studies.
inline constexpr Rate kSixteenth{1, 16};

/// Heads side by side, the channels of each, and how many queries read.
struct HeadShape {
  std::int64_t heads = 2, channels = 6, queries = 5;
};
/// Shapes of studies: fused forms take heads of 16 channels and 32 queries or more.
inline constexpr HeadShape kFourHeads{4, 16, 40}, kEightHeads{8, 16, 40};

/// How an instance is made and run.
struct CompressionSetting {
  Slots slots;
  at::ScalarType type = kDouble;
  bool training = false;
  std::int64_t longest = 64;  ///< the most tokens it has to take
  HeadShape shape = {};

  std::string text() const;  ///< "rate 1/3, float32, in training"
};

/// A compression and the device where it computes, which nothing else tells of one that registers no tensor.
class CompressionInstance {
 public:
  CompressionInstance(std::shared_ptr<Compression> compression, c10::Device device)
      : compression_(std::move(compression)), device_(device) {}

  c10::Device device() const { return device_; }
  Compression& get() const { return *compression_; }
  Compression* operator->() const { return compression_.get(); }
  const CompressionInstance& operator*() const { return *this; }
  operator const Module&() const { return *compression_; }
  void on_step(std::int64_t step) const { compression_->on_step(step, generator_on(device_, 29)); }

 private:
  std::shared_ptr<Compression> compression_;
  c10::Device device_;
};

/// Checks run on the shape that HeadShape begins with, unless a setting has another one.
class CompressionSubject : public Subject {
 public:
  static constexpr std::int64_t kHeads = HeadShape().heads, kChannels = HeadShape().channels, kQueries = HeadShape().queries;

  /// Tries which rates it takes.
  CompressionSubject(Candidate candidate, Depth depth);

  /// The rates to check with that its factory takes; refusals() says why not the others. A factory refuses by
  /// std::invalid_argument.
  const std::vector<Rate>& rates() const { return rates_; }
  const std::string& refusals() const { return refusals_; }
  bool takes(Rate rate) const;
  /// 1/3, or the first one below 1 that it takes.
  Slots usual() const;
  /// 2/5, whose segments are of two lengths, or the usual one.
  Slots uneven() const;

  /// In every type, in evaluation and in training.
  std::vector<CompressionSetting> settings(const Slots& slots, std::int64_t longest = 64) const;

  /// Made by seed, moved to the type and the candidate's device, in its mode.
  CompressionInstance make(const CompressionSetting& setting, std::uint64_t seed = 1) const;

 private:
  std::vector<Rate> rates_;
  std::string refusals_;
};

}  // namespace ablate
