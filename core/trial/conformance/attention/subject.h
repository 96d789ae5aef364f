// An attention under test: instances of it at the places it promises to stand, and one pass through them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ablate/surrogate.h"
#include "core/trial/conformance/engine/subject.h"

namespace ablate {

/// What is around a place, of which most methods take no notice: nothing; a class token in front; a picture's places, with one
/// in front, too; a layer behind others; longer sequences than in training.
enum class Around { kNothing, kClassToken, kPicture, kPictureAndToken, kLayers, kTrainedShort };

/// Where an attention stands, as far as it changes what it does.
struct Stand {
  bool causal = false, carries = false;
  Positions positions = Positions::kNone;
  double dropout = 0;
  Around around = Around::kNothing;
  std::int64_t channels = 16;  ///< of the model
  bool fused = true;           ///< train.kernels = "fused"

  bool operator==(const Stand&) const = default;
  /// With nothing around.
  Stand alone() const {
    auto stand = *this;
    stand.around = Around::kNothing;
    return stand;
  }
  std::string text() const;  ///< "bidirectional", "causal, carrying", "causal, behind a class token"
};

/// How an instance is run: where it stands, in which type, and whether it trains.
struct Setting {
  Stand stand;
  at::ScalarType type = kDouble;
  bool training = false;

  bool plain() const { return type == kDouble && !training; }
  std::string text() const;  ///< "causal, carrying, float32, in training"
};

/// An attention with what a model owns for it, the tensors that its layers share, on the device where it computes.
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

  /// Bidirectional where that is promised, else causal.
  Stand home() const { return {.causal = !promises().bidirectional}; }
  /// Whether it promises to attend to another sequence there, and is checked so: at home, carrying nothing.
  bool crosses(const Stand& stand) const {
    return promises().cross_attention && !stand.carries && stand.causal == home().causal;
  }
  /// All that it promises, home first: bidirectional, causal, and each of them carrying.
  std::vector<Stand> promised_stands() const;
  std::vector<Stand> promised_stands(bool carrying) const;
  /// All that the host may ask for by its promises, taken notice of or not: with everything around, rotary positions, dropout.
  std::vector<Stand> possible_stands() const;
  /// Those promised, and then those of them with something around that it takes notice of; of a small run at home alone.
  const std::vector<Stand>& stands() const;
  /// Those of them that carry a state.
  std::vector<Stand> carrying() const;

  /// Every stand in every type that is promised, in evaluation and in training; of a small run in float64 alone.
  std::vector<Setting> settings() const;
  std::vector<Setting> settings(const std::vector<Stand>& stands) const;
  /// Returns settings of each stand in one type, in evaluation and in training.
  static std::vector<Setting> settings(const std::vector<Stand>& stands, at::ScalarType type);
  /// Lengths that cross blocks; of a small run the first alone.
  std::vector<std::int64_t> long_lengths() const;
  /// Those of one setting: all in float64 and evaluation, the shorter ones in training and in float32, the first in half
  /// precision, whose code is float32's; where a small run has none.
  std::vector<std::int64_t> long_lengths(const Setting& setting) const;
  /// A few tokens; of a full run also more than any block has.
  std::vector<std::int64_t> short_and_long() const;
  /// Whether a pass of another shape, length or type meets other random numbers, as in training where it draws some; then the
  /// finding is told that this is left.
  bool draws(const Setting& setting, Finding& finding) const;

  /// An instance in evaluation mode. @param longest the most tokens it has to take
  std::shared_ptr<Instance> make(std::uint64_t seed, const Stand& stand, at::ScalarType type = kDouble,
                                 std::int64_t longest = kMaxLength) const;
  std::shared_ptr<Instance> make(std::uint64_t seed) const { return make(seed, home()); }
  /// In the mode that the setting asks for.
  std::shared_ptr<Instance> make(std::uint64_t seed, const Setting& setting, std::int64_t longest = kMaxLength) const;

 private:
  /// The places with something around it where it does something else than at this one.
  std::vector<Stand> noticed(const Stand& plain) const;
  /// All that a pass gives, over several windows, or in training and padded: to the last bit.
  std::vector<Tensor> all_given(const Stand& stand, bool training) const;

  mutable std::vector<Stand> stands_;  ///< once they were asked for
};

/// One pass: what to feed, and how. Undefined context: self-attention, where the mask is the queries', too. An empty state:
/// the initial one. Each pass has a fresh generator of the seed.
struct Pass {
  Tensor queries;
  Tensor context;
  Tensor mask;
  Tensor query_mask;
  AttentionState state;
  Tensor position;
  bool measure = false;
  std::shared_ptr<Surrogate> surrogate = nullptr;  ///< set during the pass
  bool moves = false;  ///< in training: buffers stay as the pass leaves them (moving averages); else they are put back
  std::uint64_t seed = 17;
};

/// On the instance's device.
AttentionInput input_of(const Instance& instance, const Pass& pass);
/// Output and auxiliary loss are on the CPU, wherever they were computed; a state stays where it is.
AttentionOutput forward(const Instance& instance, const Pass& pass);
Tensor run(const Instance& instance, const Pass& pass);

/// [batch, n, AttentionSubject::kChannels]
Tensor random_tokens(std::int64_t batch, std::int64_t n, std::uint64_t seed, at::ScalarType type = kDouble);
/// Items' rows and first tokens.
Tensor item(const Tensor& batch, std::int64_t index, std::int64_t length);
AttentionState item(const AttentionState& state, std::int64_t index);
AttentionState detached(const AttentionState& state);

/// Where a token stands; 0 elsewhere. @param mask undefined: everywhere
Tensor real(const Tensor& output, const Tensor& mask);

/// sum(output * weights) with fixed random weights; outputs where the weight is 0 take no part, whatever they are.
/// @param where [batch, n] bool, or undefined: all outputs
Tensor weighted_sum(const Tensor& output, const Tensor& where = {});
/// What a training step differentiates: the weighted sum of the outputs, and the auxiliary loss.
Tensor loss_of(const AttentionOutput& result, const Tensor& where = {});

/// Whose outputs count: of the queries that stand there. Undefined: all.
Tensor queries_of(const Pass& pass);
/// Prefix of each gradient's name.
inline constexpr std::string_view kGradientOf = "gradient of ";
/// Returns the gradients of loss_of() in every parameter ("gradient of query.weight"), then in the queries and the context.
std::vector<Named> gradients(const Instance& instance, Pass pass, const Tensor& where = {});
/// Returns a parameter's name without the instance's prefix.
inline std::string stripped(const std::string& name) { return name.substr(name.starts_with("attention.") ? 10 : 0); }

}  // namespace ablate
