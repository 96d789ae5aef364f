// Attentions: torch modules from queries and a context to outputs. Most derive from HeadwiseAttention (headwise.h).
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ablate/compression.h"
#include "ablate/plugin.h"
#include "ablate/values.h"

namespace ablate {

/// What an attention is made with: the host's, valid only during the factory's call. Copy what is needed later; the generator
/// is a handle that may be kept, but after the factory draw from AttentionInput's.
struct AttentionContext {
  const Values& parameters;
  std::int64_t d_model;        ///< channels of queries, context and output
  std::int64_t max_length;     ///< tokens; no sequence is longer
  bool causal;                 ///< true only where causal is promised
  torch::Generator generator;  ///< the only source of randomness (CPU: parameters and buffers are made there, then moved)
  /// Makes an instance of the trial's compression plugin, a new one each call, which belongs to the caller: register it as a
  /// submodule and pass on_step() on to it. Call it in the factory only. Throws std::logic_error where takes_compression is not
  /// promised, and what the compression's factory throws.
  std::function<std::shared_ptr<Compression>(Rate rate, std::int64_t heads, std::int64_t d_head)> make_compression;
  /// Whether that plugin's slots have keys which may be projected after compression.
  bool slots_have_keys = false;
};

/// What a stateful attention carries from segment to segment: tensors on the module's device, of any shape. The host keeps
/// them, hands them back with the next segment, detaches them between steps and drops them at a reset.
using AttentionState = std::vector<torch::Tensor>;

/// One call's input. All floating tensors have the type and the device of the module's parameters. They are shared with the
/// host: read them, never write into them, and keep none after the call (except through AttentionOutput::state).
struct AttentionInput {
  torch::Tensor queries;  ///< [batch, n, d_model]
  torch::Tensor context;  ///< [batch, n_context, d_model]; in self-attention the same tensor as queries
  /// [batch, n_context] bool, true = a token, padding only at the end; undefined: no padding. Context under it may hold
  /// anything, NaN too, and changes no output of a real query. In self-attention outputs at padded positions may be anything
  /// finite.
  torch::Tensor mask;
  AttentionState state;        ///< what the last segment's call gave; empty at the start of a sequence, or not stateful
  torch::Generator generator;  ///< for randomness in the forward pass, on the input's device
  bool measure = false;        ///< fill AttentionOutput::metrics (evaluation passes)
};

/// A figure about one forward pass, for the run history: averaged over examples and over the layers that report it, and stored as
/// "attention/PLUGIN/name".
struct Measurement {
  std::string name;  ///< snake_case
  double value;
  std::string unit;  ///< "" for a plain number
};

/// One call's result, which the host takes over. Outputs may be views; they have the type and the device of the queries.
struct AttentionOutput {
  torch::Tensor output;          ///< [batch, n, d_model]; 0 for a query with nothing to attend to, before the output projection
  AttentionState state;          ///< for the next segment; empty where stateful is not promised
  torch::Tensor auxiliary_loss;  ///< shape [], with its graph; added to the training loss; undefined: none
  std::vector<Measurement> metrics;  ///< only where AttentionInput::measure asks for them: they cost a synchronisation
};

/// An attention method. One instance serves one layer of one model and is owned by it; all calls come from one thread, which
/// need not be the factory's. Parameters and buffers are registered with the module, so the host saves, restores and moves them
/// to the device; a tensor that is not registered stays behind. Every call may throw std::exception, torch's included: then the
/// trial fails with its what(), and the instance is not used again.
class Attention : public torch::nn::Module {
 public:
  /// Shapes as in AttentionInput and AttentionOutput; batch, n and n_context differ from call to call. With gradients in
  /// training (is_training()), without in evaluation, where nothing registered may change, and the result depends on that and
  /// the input alone.
  virtual AttentionOutput forward(const AttentionInput& input) = 0;

  /// After an optimiser step, in training only: the place for moving averages and redrawn features, which change buffers under
  /// a torch::NoGradGuard of its own. @param step from 1
  virtual void on_step(std::int64_t step) { static_cast<void>(step); }
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
