// Compressions: a sequence is written into a memory of ceil(rate * length) slots, and queries read the memory.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>

#include "ablate/plugin.h"
#include "ablate/rate.h"
#include "ablate/values.h"

namespace ablate {

/// What a compression is made with: the host's, valid only during the factory's call. Copy what is needed later; the generator
/// is a handle that may be kept.
struct CompressionContext {
  const Values& parameters;
  Rate rate;
  std::int64_t heads;          ///< memories side by side, each with buffers of its own where the method has any
  std::int64_t d_head;         ///< channels of a key and of a value
  std::int64_t max_length;     ///< tokens; no sequence is longer, so no memory has more than rate.slots(max_length) slots
  torch::Generator generator;  ///< the only source of randomness (CPU: parameters and buffers are made there, then moved)
};

/// How alike a query and the key of a slot are (AdaMRA, Eq. 2 and Eq. 7).
enum class Similarity {
  kSoftmax,  ///< exp(q.k / sqrt(d))
  kElu,      ///< phi(q).phi(k), phi = elu + 1 (Katharopoulos et al. 2020)
  kRelu,     ///< phi(q).phi(k), phi = relu (AdaMRA, section 4.3)
};

/// A compressed sequence. A slot's mass is how much of the sequence it stands for; a slot of mass 0 takes no part in any read.
///
/// Where slots have no keys, values and mass mean something to their own read() only, and a slot may hold several columns side
/// by side: values [batch, heads, slots, columns * d_value] and mass [batch, heads, slots, columns] where columns > 1.
struct Memory {
  torch::Tensor keys;    ///< [batch, heads, slots, d_key]; undefined where slots have no keys
  torch::Tensor values;  ///< [batch, heads, slots, d_value]; a landmark's is the mean of its tokens'
  torch::Tensor mass;    ///< [batch, heads, slots], or [batch, 1, slots] when equal in all heads; undefined: read unnormalised
  /// [batch, 1, slots] bool, true where the item has the slot; undefined: all. Slot j exists when j < rate.slots(item's
  /// length).
  torch::Tensor slots;
};

/// A compression method. One instance is owned by one attention layer, which calls it from one thread. Parameters and buffers
/// are registered with the module. Tensors handed in are shared with the caller: read them, never write into them. Results may
/// be views of them, have their type and device, and belong to the caller. Every call may throw std::exception, torch's
/// included: the trial fails with its what().
///
/// Padding: with mask [batch, length] (true = a token; padding only at the end), an item of L tokens gives exactly the memory
/// of the sequence cut to L: the same values in its first rate.slots(L) slots, and nothing in the others. Tensors under the
/// mask may hold anything, NaN too. An item without any token reads as 0.
class Compression : public torch::nn::Module {
 public:
  /// Writes a sequence. @param keys [batch, heads, length, d_key] @param values [batch, heads, length, d_value]
  /// @param mask [batch, length] bool, or undefined: no padding. Any floating type; the device of the inputs. heads and
  /// channels are those of the context, length is at most its max_length. In evaluation nothing registered may change.
  virtual Memory write(const torch::Tensor& keys, const torch::Tensor& values, const torch::Tensor& mask) = 0;

  /// Reads a memory: out = weights(q) V / (weights(q) mass), without the division where mass is undefined.
  /// The memory is write()'s, or write()'s with keys and values projected linearly where slots_have_keys is promised; then
  /// heads and channels may differ from this instance's. A method with a kernel of its own has no use for the similarity.
  /// @param queries [batch, heads, n, d_key] @return [batch, heads, n, d_value]; 0 where there is nothing to read.
  virtual torch::Tensor read(const torch::Tensor& queries, const Memory& memory, Similarity similarity) = 0;

  /// After an optimiser step, in training only, passed on by the attention: the place for moving averages and redrawn features,
  /// which change buffers under a torch::NoGradGuard of its own. @param step from 1
  virtual void on_step(std::int64_t step) { static_cast<void>(step); }
};

}  // namespace ablate

/// Exports a compression class with a constructor from const CompressionContext&. Second argument: an About in braces.
#define ABLATE_COMPRESSION(Class, ...)                                                                                        \
  namespace {                                                                                                                 \
  constexpr ::ablate::Descriptor ablate_descriptor = [] {                                                                     \
    auto descriptor = ::ablate::detail::describe(::ablate::Kind::kCompression, ::ablate::About __VA_ARGS__);                  \
    descriptor.make_compression = [](const ::ablate::CompressionContext& context) -> std::shared_ptr<::ablate::Compression> { \
      return std::make_shared<Class>(context);                                                                                \
    };                                                                                                                        \
    return descriptor;                                                                                                        \
  }();                                                                                                                        \
  }                                                                                                                           \
  ABLATE_EXPORT_PLUGIN(ablate_descriptor)
