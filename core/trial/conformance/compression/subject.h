// A compression under test. Makes its instances in all rates, types and modes to check. Runs one pass, write and read with
// their gradients, on inputs made by seed. Compares two passes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ablate/surrogate.h"
#include "core/trial/conformance/engine/subject.h"

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
  /// Returns segments of 300 tokens if the factory takes them.
  std::optional<Slots> long_segments() const;
  /// 2/5, whose segments are of two lengths, or the usual one.
  Slots uneven() const;

  /// Returns settings in every type, in evaluation and in training.
  std::vector<CompressionSetting> settings(const Slots& slots, std::int64_t longest = 64) const;

  /// Made by seed, moved to the type and the candidate's device, in its mode.
  CompressionInstance make(const CompressionSetting& setting, std::uint64_t seed = 1) const;

 private:
  std::vector<Rate> rates_;
  std::string refusals_;
};

}  // namespace ablate

namespace ablate {

inline constexpr Similarity kSimilarities[] = {Similarity::kSoftmax, Similarity::kElu, Similarity::kRelu};

struct CompressionInputs {
  Tensor queries;  ///< [batch, heads, 5, d]
  Tensor keys;     ///< [batch, heads, length, d]
  Tensor values;   ///< [batch, heads, length, d]
  Tensor mask;     ///< [batch, length] bool, or undefined
  Tensor query_mask = {};

  std::int64_t length() const { return keys.size(2); }
  /// Every tensor's item `i`, keys and values cut to `length`, without a mask.
  CompressionInputs item(std::int64_t i, std::int64_t length) const;
  /// Tokens [first, first + length), without a mask.
  CompressionInputs tokens(std::int64_t first, std::int64_t length) const;
  CompressionInputs to(at::ScalarType type) const;
  CompressionInputs to(c10::Device device) const;
  /// [batch, 1, length, 1] bool: true under the mask.
  Tensor gone() const;
  /// With this number in keys and values under the mask.
  CompressionInputs padded_with(double number) const;
};

/// Everything that a pass gives, in one fixed order, without graph, on the CPU wherever it was computed. Gradients are those of
/// a fixed weighting of the outputs, the same for every item, in queries, keys, values and then the module's parameters.
struct CompressionPass {
  Memory memory;
  std::vector<Named> outputs;    ///< reads by each similarity, where promised causal ones too
  std::vector<Named> gradients;  ///< of the weighted outputs
  Tensor auxiliary;              ///< the reads' auxiliary losses together; undefined: none
  double loss = 0;               ///< the weighted outputs
  bool drew = false;             ///< from the generator handed in, so that another shape meets other numbers
  std::vector<Tensor> given;     ///< the tensors that were handed in, where it computes: queries, keys, values, mask

  /// Returns outputs, then gradients.
  std::vector<Named> results() const { return joined(outputs, gradients); }
};

struct PassOptions {
  std::vector<std::int64_t> offsets = {};  ///< of causal reads; none: the middle of the sequence
  const Memory* held = nullptr;
  std::shared_ptr<Surrogate> surrogate = nullptr;  ///< set while it writes and reads
  bool with_gradients = true;
  bool of_auxiliary = false;  ///< the gradients are the auxiliary loss's
  bool keeps_moved = false;   ///< registered tensors stay as training moved them; else they are put back
  bool fused = true;          ///< reads may take fused forms, as every attention asks
  std::uint64_t seed = 19;    ///< of the generator handed in
};

namespace conformance {

/// Standard normal inputs, the same for one seed. @param lengths of the items; none: `batch` items without a mask.
CompressionInputs inputs_of(std::int64_t length, const std::vector<std::int64_t>& lengths, std::uint64_t seed = 7,
                            std::int64_t batch = 3, const HeadShape& shape = {});

/// Every tensor of it on the device, with its graph.
Memory on(c10::Device device, Memory memory);

// What goes in is moved to the compression's device, what comes out to the CPU.
Memory write(const CompressionInstance& compression, const CompressionInputs& inputs, const Memory* held = nullptr,
             std::uint64_t seed = 19);
/// @param offset in a causal read, query i has position offset + i
Tensor read(const CompressionInstance& compression, const Tensor& queries, const Memory& memory, Similarity similarity,
            std::optional<std::int64_t> offset = {});
/// Writes and reads; of causal reads, rows behind an item's end are 0, for no query stands there. The inputs are copied.
CompressionPass pass(const CompressionInstance& compression, const CompressionInputs& inputs, const PassOptions& options = {});

/// How far sums over tokens may be off in a type.
inline Allowed sums_of(at::ScalarType type) {
  if (type == kDouble) return kRounding;
  return type == kFloat ? Allowed{1e-5, "float32, sums in another order"} : Allowed{0.05, "half precision, some roundings"};
}

/// What a training step does to an instance in training: a pass, and on_step.
void train_step(const CompressionInstance& compression, const CompressionInputs& inputs, std::int64_t step);

/// Keys, values, mass and scale, by name.
std::vector<Named> named(const Memory& memory);

/// One by one, of another length or among other mates: in float64 each where it stands, in narrow types the median of each,
/// since single decisions may fall otherwise.
void compare_items(Finding& finding, const std::vector<Named>& found, const std::vector<Named>& expected,
                   const std::string& where, at::ScalarType type);
/// Each one's item and, of keys and values, their first tokens. @param length < 0: all
std::vector<Named> item_of(const std::vector<Named>& all, std::int64_t item, std::int64_t length = -1);

/// True if a pass drew numbers, of which another shape meets others. Then the finding is told that this is left.
inline bool draws(const CompressionPass& pass, Finding& finding) {
  if (pass.drew) finding.leave(kDraws);
  return pass.drew;
}

/// Gradients in queries, keys and values: those in parameters are of the whole batch.
inline std::vector<Named> of_inputs(const std::vector<Named>& gradients) { return {gradients.begin(), gradients.begin() + 3}; }

/// "softmax", "elu", "relu"
const char* text_of(Similarity similarity);

}  // namespace conformance
}  // namespace ablate
