// An attention under test: its instances at the places that it promises, and one pass through them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ablate/surrogate.h"
#include "core/trial/conformance/engine/subject.h"

namespace ablate {

/// Surroundings of a place, which most methods ignore: nothing; a class token in front; a picture, also with a token in front;
/// other layers before and after; longer sequences than in training.
enum class Around { kNothing, kClassToken, kPicture, kPictureAndToken, kLayers, kTrainedShort };

/// Place of an attention in a model, with the settings that change its results.
struct Stand {
  bool causal = false, carries = false;
  Positions positions = Positions::kNone;
  double dropout = 0;
  Around around = Around::kNothing;
  std::int64_t channels = 16;  ///< width of the model
  bool fused = true;           ///< train.kernels = "fused"

  bool operator==(const Stand&) const = default;
  /// Returns this place with nothing around it.
  Stand alone() const {
    auto stand = *this;
    stand.around = Around::kNothing;
    return stand;
  }
  std::string text() const;  ///< "bidirectional", "causal, carrying", "causal, behind a class token"
};

/// Setting of a pass: place, type, and whether the instance trains.
struct Setting {
  Stand stand;
  at::ScalarType type = kDouble;
  bool training = false;

  bool plain() const { return type == kDouble && !training; }
  std::string text() const;  ///< "causal, carrying, float32, in training"
};

/// An attention on its device. It also owns the tensors that the attention's layers share, as a model does.
class Instance final : public Module {
 public:
  Instance(std::shared_ptr<Attention> attention, const SharedTensors& shared, c10::Device device);
  Attention& attention() const { return *attention_; }
  c10::Device device() const { return device_; }
  void on_step(std::int64_t step) const { attention_->on_step(step, generator_on(device_, 29)); }

 private:
  std::shared_ptr<Attention> attention_;
  c10::Device device_;
};

class AttentionSubject : public Subject {
 public:
  static constexpr std::int64_t kChannels = 16;
  static constexpr std::int64_t kMaxLength = 80;

  explicit AttentionSubject(Candidate candidate, Depth depth = Depth::kFull) : Subject(std::move(candidate), depth) {}

  /// Returns a bidirectional place if that is promised, else a causal one.
  Stand home() const { return {.causal = !promises().bidirectional}; }
  /// True if cross-attention is promised, and is checked at this place: without a state, and causal exactly if home() is.
  bool crosses(const Stand& stand) const {
    return promises().cross_attention && !stand.carries && stand.causal == home().causal;
  }
  /// Returns all promised places, home first: bidirectional, causal, then both with a state.
  std::vector<Stand> promised_stands() const;
  std::vector<Stand> promised_stands(bool carrying) const;
  /// Returns all places that the promises allow: with each surrounding, rotary positions or dropout, even if no result changes.
  std::vector<Stand> possible_stands() const;
  /// Returns the promised places, then their copies with surroundings that matter. A small run adds copies only at home.
  const std::vector<Stand>& stands() const;
  /// Returns the stands() that carry a state.
  std::vector<Stand> carrying() const;

  /// Returns every place in every promised type, in evaluation and in training. A small run has float64 only.
  std::vector<Setting> settings() const;
  std::vector<Setting> settings(const std::vector<Stand>& stands) const;
  /// Returns settings of each stand in one type, in evaluation and in training.
  static std::vector<Setting> settings(const std::vector<Stand>& stands, at::ScalarType type);
  /// Returns lengths that cross blocks. A small run has the first one only.
  std::vector<std::int64_t> long_lengths() const;
  /// Returns the long lengths of one setting: all in float64 in evaluation, the shorter ones in training and in float32. Half
  /// precision gets the first one, because it runs the code of float32. A small run has none except in float64 in evaluation.
  std::vector<std::int64_t> long_lengths(const Setting& setting) const;
  /// Returns a length of a few tokens, and in a full run also a length above the size of any block.
  std::vector<std::int64_t> short_and_long() const;
  /// True if the setting draws random numbers, which another shape or type would change. Records this in the finding.
  bool draws(const Setting& setting, Finding& finding) const;

  /// Returns an instance in evaluation mode.
  /// @param longest maximum number of tokens in a pass
  std::shared_ptr<Instance> make(std::uint64_t seed, const Stand& stand, at::ScalarType type = kDouble,
                                 std::int64_t longest = kMaxLength) const;
  std::shared_ptr<Instance> make(std::uint64_t seed) const { return make(seed, home()); }
  /// Returns an instance in the setting's mode.
  std::shared_ptr<Instance> make(std::uint64_t seed, const Setting& setting, std::int64_t longest = kMaxLength) const;

 private:
  /// Returns copies of a place with each surrounding that changes the results.
  std::vector<Stand> noticed(const Stand& plain) const;
  /// Returns all results of a long pass in evaluation, or of a padded pass in training. The caller compares every bit.
  std::vector<Tensor> all_given(const Stand& stand, bool training) const;

  mutable std::vector<Stand> stands_;  ///< filled by the first stands()
};

/// Inputs and options of one pass. An undefined context means self-attention, in which the mask also applies to the queries. An
/// empty state means the initial state. Each pass has a new generator from the seed.
struct Pass {
  Tensor queries;
  Tensor context;
  Tensor mask;
  Tensor query_mask;
  AttentionState state;
  Tensor position;
  bool measure = false;
  std::shared_ptr<Surrogate> surrogate = nullptr;  ///< set during the pass
  bool moves = false;  ///< true: in training, buffers stay as the pass changed them (moving averages); false: they are restored
  std::uint64_t seed = 17;
};

/// Returns the input on the instance's device.
AttentionInput input_of(const Instance& instance, const Pass& pass);
/// Runs a pass. Output and auxiliary loss are returned on the CPU. A state stays on its device.
AttentionOutput forward(const Instance& instance, const Pass& pass);
Tensor run(const Instance& instance, const Pass& pass);

/// [batch, n, AttentionSubject::kChannels]
Tensor random_tokens(std::int64_t batch, std::int64_t n, std::uint64_t seed, at::ScalarType type = kDouble);
/// Returns the first tokens of one item.
/// @param length number of tokens
Tensor item(const Tensor& batch, std::int64_t index, std::int64_t length);
AttentionState item(const AttentionState& state, std::int64_t index);
AttentionState detached(const AttentionState& state);

/// Returns the output with 0 at padded positions.
/// @param mask undefined: no position is padded
Tensor real(const Tensor& output, const Tensor& mask);

/// Returns sum(output * weights) with fixed random weights. Outputs with weight 0 do not count, whatever their value.
/// @param where [batch, n] bool, or undefined: all outputs
Tensor weighted_sum(const Tensor& output, const Tensor& where = {});
/// Returns the loss of a training step: the weighted sum of the outputs, plus the auxiliary loss.
Tensor loss_of(const AttentionOutput& result, const Tensor& where = {});

/// Returns the mask of the queries whose outputs count; undefined: all.
Tensor queries_of(const Pass& pass);
/// Prefix of each gradient's name.
inline constexpr std::string_view kGradientOf = "gradient of ";
/// Returns the gradients of loss_of() in every parameter ("gradient of query.weight"), then in the queries and the context.
std::vector<Named> gradients(const Instance& instance, Pass pass, const Tensor& where = {});
/// Returns a parameter's name without the instance's prefix.
inline std::string stripped(const std::string& name) { return name.substr(name.starts_with("attention.") ? 10 : 0); }

}  // namespace ablate
