// Compressions: a sequence is written into a memory of slots, and queries read the memory.
#pragma once

#include <memory>
#include <string>

#include "ablate/choices.h"
#include "ablate/module.h"
#include "ablate/plugin.h"
#include "ablate/rate.h"
#include "ablate/values.h"

namespace ablate {

/// What a compression is made with: the host's, valid only during the factory's call. Copy what is needed later; the generator
/// is a handle that may be kept.
struct CompressionContext {
  const Values& parameters;
  const char* id;         ///< of the plugin, for messages
  Capabilities promises;  ///< with these parameters
  Slots slots;
  std::int64_t heads;       ///< memories side by side, each with buffers of its own where the method has any
  std::int64_t d_head;      ///< channels of a key and of a value
  std::int64_t max_length;  ///< tokens; no sequence is longer, so no memory has more than slots.of(max_length) slots
  Generator generator;      ///< the only source of randomness (CPU: parameters and buffers are made there, then moved)
};

/// How alike a query and the key of a slot are (AdaMRA, Eq. 2 and Eq. 7).
enum class Similarity {
  kSoftmax,  ///< exp(q.k / sqrt(d))
  kElu,      ///< phi(q).phi(k), phi = elu + 1 (Katharopoulos et al. 2020)
  kRelu,     ///< phi(q).phi(k), phi = relu (AdaMRA, section 4.3)
};

/// What studies call them.
inline constexpr auto kSimilarityChoices =
    choices<Similarity>({{"relu", Similarity::kRelu}, {"elu+1", Similarity::kElu}, {"softmax", Similarity::kSoftmax}});

/// A compressed sequence. A slot's mass is how much of the sequence it stands for; a slot of mass 0 takes no part in any read.
///
/// Where slots have no keys, values and mass mean something to their own read() only, and a slot may hold several columns side
/// by side: values [batch, heads, slots, columns * d_value] and mass [batch, heads, slots, columns] where columns > 1.
struct Memory {
  Tensor keys = {};    ///< [batch, heads, slots, d_key]; undefined where slots have no keys
  Tensor values = {};  ///< [batch, heads, slots, d_value]; a landmark's is the mean of its tokens'
  Tensor mass = {};    ///< [batch, heads, slots], or [batch, 1, slots] when equal in all heads; undefined: read unnormalised
  /// [batch, 1, slots] bool, true where the item has the slot; undefined: all. Slot j exists when j < slots.of(item's length);
  /// of a fixed number all exist, and those of an item with fewer tokens may have mass 0.
  Tensor slots = {};
  /// [slots] int64, rising: the position with which a slot is complete (beyond the sequence: never). Defined where causal_reads
  /// is promised.
  Tensor last = {};
  /// [batch, heads, 1, 1]: values and mass stand divided by the exponential of it, which cancels in a read. For methods that
  /// extend a memory; undefined: not divided.
  Tensor log_scale = {};
  /// [batch, heads, entries]: how much reads have looked at each entry so far, ReadOutput::usage added up by whoever reads. For
  /// methods that extend a memory and keep what was read most; undefined: not known.
  Tensor usage = {};
};

/// What is written.
struct WriteInput {
  Tensor keys;        ///< [batch, heads, length, d_key]
  Tensor values;      ///< [batch, heads, length, d_value]
  Tensor mask;        ///< [batch, length] bool, true = a token; undefined: no padding
  Tensor queries;     ///< [batch, heads, n, d_key]: those that will read, for methods that group both; may be undefined
  Tensor query_mask;  ///< [batch, n] bool, or undefined
  /// [batch, 1 or heads, length], at least 0, without a graph: how much attention each token has had while it was one, for
  /// methods that keep what was used most; undefined: not known.
  Tensor usage;
  const Memory* held = nullptr;  ///< written before: extended by these tokens, where extends is promised
  Generator generator;           ///< for randomness in training, on the device of the keys
};

/// Who reads, and what.
struct ReadInput {
  Tensor queries;  ///< [batch, heads, n, d_key]
  const Memory& memory;
  Similarity similarity = Similarity::kSoftmax;
  /// Query i sees the slots that are complete with position offset + i; only where causal_reads is promised.
  bool causal = false;
  std::int64_t offset = 0;
  bool looks = false;  ///< fill ReadOutput::usage, where the method can
  Tensor query_mask;   ///< [batch, n] bool: whose looks count; undefined: all
  bool fused = false;  ///< may take fused forms (AttentionContext::fused)
};

struct ReadOutput {
  Tensor values;               ///< [batch, heads, n, d_value]; 0 where there is nothing to read
  Tensor auxiliary_loss = {};  ///< shape [], with its graph; undefined: none
  /// [batch, heads, entries], without a graph: the share of its look that each query gives to an entry, summed over queries.
  /// Undefined where it was not asked for, or the method knows no entries.
  Tensor usage = {};
};

/// A compression method. One instance is owned by one attention layer, which calls it from one thread. Parameters and buffers
/// are registered with the module. Tensors handed in are shared with the caller: read them, never write into them. Results may
/// be views of them, have their type and device, and belong to the caller. Every call may throw std::exception, torch's
/// included: the trial fails with its what().
///
/// Padding: with mask [batch, length] (true = a token; padding only at the end), an item of L tokens gives exactly the memory
/// of the sequence cut to L: the same values in its first slots.of(L) slots, and nothing in the others. Tensors under the
/// mask may hold anything, NaN too. An item without any token reads as 0.
///
/// The public calls check what a plugin gives back (shapes, types and devices only, which costs no synchronisation), throw
/// std::runtime_error naming it, and forward to the private virtuals, which a method overrides.
class Compression : public Module {
 public:
  explicit Compression(const CompressionContext& context)
      : id_(context.id), promises_(context.promises), slots_(context.slots) {}

  /// Writes a sequence. Any floating type; the device of the inputs. heads and channels are those of the context, length is at
  /// most its max_length. In evaluation nothing registered may change.
  Memory write(const WriteInput& input);

  /// Reads a memory: out = weights(q) V / (weights(q) mass), without the division where mass is undefined.
  /// The memory is write()'s, or write()'s with keys and values projected linearly where slots_have_keys is promised; then
  /// heads and channels may differ from this instance's.
  ReadOutput read(const ReadInput& input);

  /// Whether read() follows ReadInput::similarity. A method with a kernel of its own does not (refuse_idle_similarity).
  virtual bool follows_similarity() const { return true; }

  /// Whether each slot holds means of its tokens' keys and values, with shares that lengths and mask alone decide, and read()
  /// is kernel_attention() of them where the similarity is a feature map. Then means of projected tokens are projected means,
  /// and keys and values may be one tensor.
  virtual bool slots_are_means() const { return false; }

  /// After an optimiser step, in training only, passed on by the attention: the time for moving averages and redrawn features,
  /// which change buffers under a NoGradGuard of its own. @param step from 1 @param generator on the device of the parameters
  void on_step(std::int64_t step, const Generator& generator) { do_step(step, generator); }

  const Capabilities& promises() const { return promises_; }

 protected:
  const Slots& slots() const { return slots_; }

 private:
  virtual Memory do_write(const WriteInput& input) = 0;
  virtual ReadOutput do_read(const ReadInput& input) = 0;
  virtual void do_step(std::int64_t step, const Generator& generator) { static_cast<void>(step), static_cast<void>(generator); }

  std::string id_;
  Capabilities promises_;
  Slots slots_;
};

/// For an attention that lets studies choose a similarity: throws std::invalid_argument where one is chosen that the
/// compression does not follow. It would change the trial's key and no number.
/// @param parameter its name @param usual its default
void refuse_idle_similarity(const Compression& compression, const std::string& parameter, Similarity chosen, Similarity usual);

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
