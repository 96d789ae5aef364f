// A compression under test. Makes instances with all rates, types and modes to check. Runs one pass: a write, reads and their
// gradients, on inputs from a seed. Compares two passes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ablate/surrogate.h"
#include "core/trial/conformance/engine/subject.h"

namespace ablate {

/// Lowest rate to try: its segments are longer than any block of tokens.
inline constexpr Rate kLowest{1, 64};
/// Lowest rate of most studies.
inline constexpr Rate kSixteenth{1, 16};

/// Number of parallel heads, channels of each head, and number of queries.
struct HeadShape {
  std::int64_t heads = 2, channels = 6, queries = 5;
};
/// Shapes of studies: fused forms accept heads of 16 channels, and 32 queries or more.
inline constexpr HeadShape kFourHeads{4, 16, 40}, kEightHeads{8, 16, 40};

/// Setting of an instance and its pass.
struct CompressionSetting {
  Slots slots;
  at::ScalarType type = kDouble;
  bool training = false;
  std::int64_t longest = 64;  ///< maximum number of tokens in a pass
  HeadShape shape = {};

  std::string text() const;  ///< "rate 1/3, float32, in training"
};

/// A compression with its device, which is stored because a compression may register no tensor on this device.
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

/// Subject whose checks use the default HeadShape, unless a setting has another one.
class CompressionSubject : public Subject {
 public:
  static constexpr std::int64_t kHeads = HeadShape().heads, kChannels = HeadShape().channels, kQueries = HeadShape().queries;

  /// Finds the rates that the factory accepts.
  CompressionSubject(Candidate candidate, Depth depth);

  /// Rates to check, without the rates that the factory refuses by std::invalid_argument. refusals() has the reasons.
  const std::vector<Rate>& rates() const { return rates_; }
  const std::string& refusals() const { return refusals_; }
  bool takes(Rate rate) const;
  /// Returns 1/3, or the first accepted rate below 1.
  Slots usual() const;
  /// Returns slots of 300 tokens if the factory accepts them.
  std::optional<Slots> long_segments() const;
  /// Returns 2/5, whose segments have two lengths, or the usual rate.
  Slots uneven() const;

  /// Returns settings in every type, in evaluation and in training.
  std::vector<CompressionSetting> settings(const Slots& slots, std::int64_t longest = 64) const;

  /// Returns an instance from a seed, in the setting's type and mode, on the candidate's device.
  CompressionInstance make(const CompressionSetting& setting, std::uint64_t seed = 1) const;

 private:
  std::vector<Rate> rates_;
  std::string refusals_;
};

}  // namespace ablate

namespace ablate {

inline constexpr Similarity kSimilarities[] = {Similarity::kSoftmax, Similarity::kElu, Similarity::kRelu};

struct CompressionInputs {
  Tensor queries;  ///< [batch, heads, queries, d]
  Tensor keys;     ///< [batch, heads, length, d]
  Tensor values;   ///< [batch, heads, length, d]
  Tensor mask;     ///< [batch, length] bool, or undefined
  Tensor query_mask = {};

  std::int64_t length() const { return keys.size(2); }
  /// Returns item `i` of every tensor, keys and values cut to `length`, without a mask.
  CompressionInputs item(std::int64_t i, std::int64_t length) const;
  /// Returns the tokens [first, first + length), without a mask.
  CompressionInputs tokens(std::int64_t first, std::int64_t length) const;
  CompressionInputs to(at::ScalarType type) const;
  CompressionInputs to(c10::Device device) const;
  /// Returns [batch, 1, length, 1] bool: true if padded.
  Tensor gone() const;
  /// Returns a copy with this number in all padded keys and values.
  CompressionInputs padded_with(double number) const;
};

/// All results of a pass, in one fixed order, without graph, on the CPU. Gradients belong to a weighted sum of the
/// outputs, with fixed weights for every item. Their order is queries, keys, values, then the module's parameters.
struct CompressionPass {
  Memory memory;
  std::vector<Named> outputs;    ///< reads by each similarity, also causal ones if promised
  std::vector<Named> gradients;  ///< gradients of the weighted outputs
  Tensor auxiliary;              ///< sum of the reads' auxiliary losses; undefined: none
  double loss = 0;               ///< the weighted outputs
  bool drew = false;             ///< true if the write drew from the input's generator: another shape draws other numbers
  std::vector<Tensor> given;     ///< input tensors on the compression's device: queries, keys, values, mask

  /// Returns outputs, then gradients.
  std::vector<Named> results() const { return joined(outputs, gradients); }
};

struct PassOptions {
  std::vector<std::int64_t> offsets = {};  ///< offsets of causal reads; none: the middle of the sequence
  const Memory* held = nullptr;
  std::shared_ptr<Surrogate> surrogate = nullptr;  ///< set during the pass
  bool with_gradients = true;
  bool of_auxiliary = false;  ///< gradients of the auxiliary loss instead of the outputs
  bool keeps_moved = false;   ///< true: registered tensors stay as training moved them; false: they are restored
  bool fused = true;          ///< reads may use fused forms, as in every attention
  std::uint64_t seed = 19;    ///< seed of the input's generator
};

namespace conformance {

/// Returns standard normal inputs from a seed.
/// @param lengths lengths of the items; none: `batch` items without a mask
CompressionInputs inputs_of(std::int64_t length, const std::vector<std::int64_t>& lengths, std::uint64_t seed = 7,
                            std::int64_t batch = 3, const HeadShape& shape = {});

/// Returns the memory with every tensor on the device, with its graph.
Memory on(c10::Device device, Memory memory);

// Inputs are moved to the compression's device, results to the CPU.
Memory write(const CompressionInstance& compression, const CompressionInputs& inputs, const Memory* held = nullptr,
             std::uint64_t seed = 19);
/// @param offset in a causal read, query i has position offset + i
Tensor read(const CompressionInstance& compression, const Tensor& queries, const Memory& memory, Similarity similarity,
            std::optional<std::int64_t> offset = {});
/// Writes and reads. In causal reads, rows after an item's end are 0, because no query is there. The inputs are copied.
CompressionPass pass(const CompressionInstance& compression, const CompressionInputs& inputs, const PassOptions& options = {});

/// Returns the allowed error of sums over tokens in a type.
inline Allowed sums_of(at::ScalarType type) {
  if (type == kDouble) return kRounding;
  return type == kFloat ? Allowed{1e-5, "float32, sums in another order"} : Allowed{0.05, "half precision, some roundings"};
}

/// Does one training step with an instance in training: a pass, and on_step.
void train_step(const CompressionInstance& compression, const CompressionInputs& inputs, std::int64_t step);

/// Returns keys, values, mass and scale, by name.
std::vector<Named> named(const Memory& memory);

/// Compares results of items whose length or batch mates differ. In float64, compares every number. In narrow types, compares
/// the median of each tensor, because single decisions may change.
void compare_items(Finding& finding, const std::vector<Named>& found, const std::vector<Named>& expected,
                   const std::string& where, at::ScalarType type);
/// Returns one item of each result. Cuts gradients of keys and values to the item's first `length` tokens.
/// @param length < 0: all tokens
std::vector<Named> item_of(const std::vector<Named>& all, std::int64_t item, std::int64_t length = -1);

/// True if a pass drew numbers, which another shape would change. Records in the finding that a comparison is left out.
inline bool draws(const CompressionPass& pass, Finding& finding) {
  if (pass.drew) finding.leave(kDraws);
  return pass.drew;
}

/// Returns gradients in queries, keys and values. Gradients in parameters belong to the whole batch.
inline std::vector<Named> of_inputs(const std::vector<Named>& gradients) { return {gradients.begin(), gradients.begin() + 3}; }

/// "softmax", "elu", "relu"
const char* text_of(Similarity similarity);

}  // namespace conformance
}  // namespace ablate
