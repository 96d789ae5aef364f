// Attentions: modules that map queries and a context to outputs. Most derive from HeadwiseAttention (headwise.h).
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

/// Method by which the model distinguishes positions. Relative positions are not listed: an attention adds them itself.
enum class Positions { kNone, kAdded, kRotary };

/// Parts of an attention: the plugins among its parameters (kPlugin, kPlugins), and tensors that all layers share. Owned by the
/// host, valid only during the factory's call.
class Parts {
 public:
  virtual ~Parts() = default;

  /// Returns the attention that a parameter names, for the caller's own tokens. The caller registers it and calls its forward,
  /// initial_state and on_step. Throws exceptions of its factory, and std::logic_error if the parameter names no attention.
  /// @param index entry of a list, from 0; 0 for a single plugin
  /// @param width channels of all heads of the returned attention together
  virtual std::shared_ptr<Attention> attention(const char* parameter, std::size_t index, std::int64_t width) = 0;

  /// Returns a new instance of the compression that a parameter names. The caller owns and registers it, and calls on_step().
  /// @param heads number of memories side by side
  /// @param d_head channels of a key and of a value
  virtual std::shared_ptr<Compression> compression(const char* parameter, Slots slots, std::int64_t heads,
                                                   std::int64_t d_head) = 0;

  /// Returns the promises of the plugin that a parameter names, with its own parameters and parts.
  virtual Capabilities promises(const char* parameter, std::size_t index = 0) const = 0;

  /// Returns one tensor that all layers with this plugin share; in a mixture or a list, all layers with this part or entry.
  /// The layers train it together: only the first layer calls `make`. The model owns and registers the tensor.
  virtual Tensor shared(const char* name, const std::function<Tensor()>& make) = 0;
};

/// Arguments of an attention's factory. Owned by the host, valid only during the call: copy the values that are needed later.
/// The generator is a handle and may be stored. After the factory, draw from AttentionInput's generator instead.
struct AttentionContext {
  const Values& parameters;
  std::int64_t d_model;                ///< channels of queries, context and output
  std::int64_t width;                  ///< channels of all heads together: d_model, or less if the layer has several parts
  std::int64_t max_length;             ///< largest number of tokens in a call's queries; no sequence or segment is longer
  std::int64_t train_length;           ///< longest length in training, up to which learned tables of positions are trained
  std::int64_t prefix = 0;             ///< class tokens in front
  std::int64_t layer = 0, layers = 1;  ///< index of this layer, from 0; number of layers of the model
  bool causal = false;                 ///< true only if causal is promised
  bool carries = false;                ///< states are passed from call to call; true only if stateful is promised
  double dropout = 0;                  ///< rate for attention weights in training; above 0 only if weight_dropout is promised
  bool fused = true;                   ///< operations may use their fused forms (train.kernels)
  Positions positions = Positions::kNone;
  Geometry geometry;
  Generator generator;  ///< the only source of randomness; on the CPU: parameters and buffers are made there, then moved
  Parts& parts;
};

/// State that a stateful attention carries from segment to segment: tensors on the module's device, with the batch as dimension
/// 0. Each row belongs to one item of the batch; the host resets an item to its row of initial_state. The host stores the
/// tensors, passes them in with the next segment and detaches them between segments.
using AttentionState = std::vector<Tensor>;

/// Input of one call. Floating tensors have the type and the device of the module's parameters. All tensors are shared with the
/// host: read them, never write into them, and store none after the call (except through AttentionOutput::state).
struct AttentionInput {
  Tensor queries;  ///< [batch, n, d_model]
  Tensor context;  ///< [batch, n_context, d_model]; in self-attention the same tensor as queries
  /// [batch, n_context] bool, true = a token; undefined: no padding. Padding is only at the end, unless holes are promised.
  /// Context under the mask may be anything, NaN too, and changes no output of a real query. In self-attention, outputs at
  /// padded positions may be anything finite, and padding neither decays nor shifts a state.
  Tensor mask;
  Tensor query_mask;     ///< [batch, n] bool, mask of the queries; in self-attention the same tensor as mask
  Tensor position;       ///< [batch] int64: number of tokens before query 0 in its sequence; undefined: 0
  AttentionState state;  ///< state of initial_state or of the last segment; empty if no state is carried
  Generator generator;   ///< for randomness in training, on the input's device; evaluation draws nothing
  bool measure = false;  ///< fill AttentionOutput::metrics (evaluation passes)
};

/// Number about one forward pass, for the run history. The host averages it over examples and over the layers that report it,
/// and stores it as "attention/PLUGIN/name".
struct Measurement {
  std::string name;  ///< snake_case
  double value;
  std::string unit;  ///< "" for a plain number
};

/// Result of one call, which the host takes over. Outputs may be views. They have the type and the device of the queries.
struct AttentionOutput {
  Tensor output;               ///< [batch, n, d_model]; 0 before the output projection if a query has nothing to attend to
  AttentionState state = {};   ///< state for the next segment; empty if the input's state was empty
  Tensor auxiliary_loss = {};  ///< shape [], with its graph; added to the training loss; undefined: none
  std::vector<Measurement> metrics = {};  ///< only if AttentionInput::measure is true: metrics cost a synchronisation
};

/// Attention method. One instance serves one layer of one model, which owns it. All calls come from one thread, which may
/// differ from the factory's thread. Register parameters and buffers with the module, so that the host saves, restores and
/// moves them to the device. A tensor that is not registered is not moved. A parameter that is never used is a defect. Every
/// call may throw std::exception, torch's included: the trial fails with its what(), and the instance is not used again.
///
/// The public calls check the plugin's results and forward to the private virtuals, which a method overrides.
class Attention : public Module {
 public:
  /// Computes the outputs, with the shapes of AttentionInput and AttentionOutput. batch, n and n_context may change at each
  /// call. Gradients are recorded only in training (is_training()). In evaluation no registered tensor may change, and the
  /// result depends only on registered tensors and the input. Throws std::runtime_error if a result or state has another shape,
  /// type or device.
  AttentionOutput forward(const AttentionInput& input);

  /// Returns the state at the start of sequences, with the type and device of the parameters. Dimension 0 of each tensor is the
  /// batch. Empty if stateful is not promised. Throws std::runtime_error if a tensor has another dimension 0.
  AttentionState initial_state(std::int64_t batch) const;

  /// Called after each optimiser step, in training only. A method may change buffers here (moving averages, redrawn features),
  /// under its own NoGradGuard, but not parameters.
  /// @param step from 1
  /// @param generator on the device of the parameters
  void on_step(std::int64_t step, const Generator& generator) { do_step(step, generator); }

  /// Returns the last layers, whose outputs add up to this attention's output. These layers start with smaller weights if the
  /// attention is a part of a layer. Empty if the output is not a projection.
  std::vector<std::shared_ptr<Linear>> output_projections() const { return do_output_projections(); }

  /// Returns the weight of each token's value for each query, in evaluation: [batch, heads, n, n_context], float64, on the
  /// input's device. A row adds up to 1, or is 0 if the query is padding or sees no token. Single weights may be negative if
  /// the method has negative weights. Undefined if the heads do not compute means of their values. The input's state is
  /// ignored. Costs one pass for every d_value tokens of the context. Throws std::logic_error in training.
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
