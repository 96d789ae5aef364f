// Attentions: modules from queries and a context to outputs. Most derive from HeadwiseAttention (headwise.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ablate/compression.h"
#include "ablate/geometry.h"
#include "ablate/linear.h"
#include "ablate/module.h"
#include "ablate/plugin.h"
#include "ablate/values.h"

namespace ablate {

class Attention;

/// How the model tells positions apart; relative positions are an attention's own.
enum class Positions { kNone, kAdded, kRotary };

/// What an attention is made of besides itself: the plugins among its parameters (kPlugin, kPlugins), and what all layers
/// share. The host's, valid only during the factory's call.
class Parts {
 public:
  virtual ~Parts() = default;

  /// The attention that a parameter names, for the same tokens. @param index of a list, from 0; 0 for a single one @param width
  /// channels of all its heads together. Register it as a submodule; forward, initial_state and on_step are the caller's to
  /// pass on. Throws what its factory throws, std::logic_error for a parameter that is no attention.
  virtual std::shared_ptr<Attention> attention(const char* parameter, std::size_t index, std::int64_t width) = 0;

  /// The compression that a parameter names, a new instance each call, which belongs to the caller: register it and pass
  /// on_step() on to it. @param heads memories side by side @param d_head channels of a key and of a value
  virtual std::shared_ptr<Compression> compression(const char* parameter, Slots slots, std::int64_t heads,
                                                   std::int64_t d_head) = 0;

  /// What the plugin of a parameter promises, with its own parameters and parts.
  virtual Capabilities promises(const char* parameter, std::size_t index = 0) const = 0;

  /// One tensor for all layers of this plugin (in a mixture: of this part, in a list of attentions: of this entry), trained
  /// once: `make` is called for the first of them. The model owns and registers it.
  virtual Tensor shared(const char* name, const std::function<Tensor()>& make) = 0;
};

/// What an attention is made with: the host's, valid only during the factory's call. Copy what is needed later; the generator
/// is a handle that may be kept, but after the factory draw from AttentionInput's.
struct AttentionContext {
  const Values& parameters;
  std::int64_t d_model;                ///< channels of queries, context and output
  std::int64_t width;                  ///< channels of all heads together: d_model, or a part's share of it
  std::int64_t max_length;             ///< tokens of a call's queries; no sequence, and no segment of one, is longer
  std::int64_t train_length;           ///< the longest in training: what learned tables of positions can know
  std::int64_t prefix = 0;             ///< class tokens in front
  std::int64_t layer = 0, layers = 1;  ///< this one, from 0; of the model
  bool causal = false;                 ///< true only where causal is promised
  bool carries = false;                ///< states are handed on from call to call; true only where stateful is promised
  double dropout = 0;                  ///< of attention weights, in training; above 0 only where weight_dropout is promised
  bool fused = true;                   ///< operations may take their fused forms (train.kernels)
  Positions positions = Positions::kNone;
  Geometry geometry;
  Generator generator;  ///< the only source of randomness (CPU: parameters and buffers are made there, then moved)
  Parts& parts;
};

/// What a stateful attention carries from segment to segment: tensors on the module's device, dimension 0 the batch: an item's
/// row is its own, and initial_state's row resets it. The host keeps them, hands them back with the next segment and detaches
/// them between segments.
using AttentionState = std::vector<Tensor>;

/// One call's input. All floating tensors have the type and the device of the module's parameters. They are shared with the
/// host: read them, never write into them, and keep none after the call (except through AttentionOutput::state).
struct AttentionInput {
  Tensor queries;  ///< [batch, n, d_model]
  Tensor context;  ///< [batch, n_context, d_model]; in self-attention the same tensor as queries
  /// [batch, n_context] bool, true = a token, padding only at the end (holes only where promised); undefined: no padding.
  /// Context under it may hold anything, NaN too, and changes no output of a real query. In self-attention outputs at padded
  /// positions may be anything finite, and padding neither decays nor shifts a state.
  Tensor mask;
  Tensor query_mask;     ///< [batch, n] bool, the queries' own; in self-attention the same tensor as mask
  Tensor position;       ///< [batch] int64: tokens of the sequence before query 0; undefined: none
  AttentionState state;  ///< initial_state's or the last segment's; empty where none is carried
  Generator generator;   ///< for randomness in training, on the input's device; evaluation draws nothing
  bool measure = false;  ///< fill AttentionOutput::metrics (evaluation passes)
};

/// A figure about one forward pass, for the run history: averaged over examples and over the layers that report it, and stored
/// as "attention/PLUGIN/name".
struct Measurement {
  std::string name;  ///< snake_case
  double value;
  std::string unit;  ///< "" for a plain number
};

/// One call's result, which the host takes over. Outputs may be views; they have the type and the device of the queries.
struct AttentionOutput {
  Tensor output;               ///< [batch, n, d_model]; 0 for a query with nothing to attend to, before the output projection
  AttentionState state = {};   ///< for the next segment; empty where the input's was
  Tensor auxiliary_loss = {};  ///< shape [], with its graph; added to the training loss; undefined: none
  std::vector<Measurement> metrics = {};  ///< only where AttentionInput::measure asks for them: they cost a synchronisation
};

/// An attention method. One instance serves one layer of one model and is owned by it; all calls come from one thread, which
/// need not be the factory's. Parameters and buffers are registered with the module, so the host saves, restores and moves them
/// to the device; a tensor that is not registered stays behind, a parameter that is never used is a defect. Every call may
/// throw std::exception, torch's included: then the trial fails with its what(), and the instance is not used again.
///
/// The public calls check what a plugin gives back, and forward to the private virtuals, which a method overrides.
class Attention : public Module {
 public:
  /// Shapes as in AttentionInput and AttentionOutput; batch, n and n_context differ from call to call. With gradients in
  /// training (is_training()), without in evaluation, where nothing registered may change, and the result depends on that and
  /// the input alone. Throws std::runtime_error for a result or a state of another shape, type or device.
  AttentionOutput forward(const AttentionInput& input);

  /// At the start of sequences: dimension 0 of each tensor is the batch. Of the type and on the device of the parameters. Empty
  /// where stateful is not promised. Throws std::runtime_error where a tensor has another dimension 0.
  AttentionState initial_state(std::int64_t batch) const;

  /// After an optimiser step, in training only: the time for moving averages and redrawn features, which change buffers under
  /// a NoGradGuard of its own, never parameters. @param step from 1 @param generator on the device of the parameters
  void on_step(std::int64_t step, const Generator& generator) { do_step(step, generator); }

  /// The last layers, whose outputs add up to this attention's: what has to start quieter where it is a part of a layer. None
  /// where the output is no projection.
  std::vector<std::shared_ptr<Linear>> output_projections() const { return do_output_projections(); }

  /// What each query takes of each token's value, in evaluation: [batch, heads, n, n_context], float64, on the input's device.
  /// A row adds up to 1, or is 0 for what is no query or sees nothing; single weights may be below 0 where a method's are.
  /// Undefined where the heads give no mean of their values. The input's state is left unread. It costs a pass for every
  /// d_value tokens of the context. Throws std::logic_error in training.
  Tensor weights(const AttentionInput& input);

 private:
  virtual AttentionOutput do_forward(const AttentionInput& input) = 0;
  virtual AttentionState do_initial_state(std::int64_t batch) const {
    static_cast<void>(batch);
    return {};
  }
  virtual void do_step(std::int64_t step, const Generator& generator) { static_cast<void>(step), static_cast<void>(generator); }
  virtual std::vector<std::shared_ptr<Linear>> do_output_projections() const { return {}; }
  virtual Tensor do_weights(const AttentionInput& input) {
    static_cast<void>(input);
    return {};
  }
};

}  // namespace ablate

/// Exports an attention class with a constructor from const AttentionContext&. Second argument: an About in braces.
#define ABLATE_ATTENTION(Class, ...)                                                                                    \
  namespace {                                                                                                           \
  constexpr ::ablate::Descriptor ablate_descriptor = [] {                                                               \
    auto descriptor = ::ablate::detail::describe(::ablate::Kind::kAttention, ::ablate::About __VA_ARGS__);              \
    descriptor.make_attention = [](const ::ablate::AttentionContext& context) -> std::shared_ptr<::ablate::Attention> { \
      return std::make_shared<Class>(context);                                                                          \
    };                                                                                                                  \
    return descriptor;                                                                                                  \
  }();                                                                                                                  \
  }                                                                                                                     \
  ABLATE_EXPORT_PLUGIN(ablate_descriptor)
