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

/// Arguments of a compression's factory. Owned by the host, valid only during the call: copy the values that are needed later.
/// The generator is a handle that may be stored.
struct CompressionContext {
  const Values& parameters;
  const char* id;         ///< id of the plugin, for messages
  Capabilities promises;  ///< promises of the plugin with these parameters
  Slots slots;
  std::int64_t heads;       ///< memories side by side, each with its own buffers if the method has any
  std::int64_t d_head;      ///< channels of a key and of a value
  std::int64_t max_length;  ///< largest number of tokens of a sequence: a memory has at most slots.of(max_length) slots
  Generator generator;      ///< the only source of randomness; on the CPU: parameters and buffers are made there, then moved
};

/// Similarity of a query and the key of a slot (AdaMRA, Eq. 2 and Eq. 7).
enum class Similarity {
  kSoftmax,  ///< exp(q.k / sqrt(d))
  kElu,      ///< phi(q).phi(k), phi = elu + 1 (Katharopoulos et al. 2020)
  kRelu,     ///< phi(q).phi(k), phi = relu (AdaMRA, section 4.3)
};

/// Names of the similarities in studies.
inline constexpr auto kSimilarityChoices =
    choices<Similarity>({{"relu", Similarity::kRelu}, {"elu+1", Similarity::kElu}, {"softmax", Similarity::kSoftmax}});

/// Compressed sequence. A slot's mass is the amount of the sequence that it represents. A slot of mass 0 is not read.
///
/// If slots have no keys, only the method's own read() interprets values and mass. A slot may then have several columns: values
/// [batch, heads, slots, columns * d_value] and mass [batch, heads, slots, columns] if columns > 1.
struct Memory {
  Tensor keys = {};    ///< [batch, heads, slots, d_key]; undefined if slots have no keys
  Tensor values = {};  ///< [batch, heads, slots, d_value]; for a landmark the mean of its tokens' values
  Tensor mass = {};    ///< [batch, heads, slots], or [batch, 1, slots] if heads share it; undefined: reads are not normalised
  /// [batch, 1, slots] bool, true if the item has the slot; undefined: all. Slot j exists if j < slots.of(item's length). If
  /// the number of slots is fixed, all exist, and slots of an item with fewer tokens may have mass 0.
  Tensor slots = {};
  /// [slots] int64, rising: position where a slot becomes complete, perhaps after the end. Defined if causal_reads is promised.
  Tensor last = {};
  /// [batch, heads, 1, 1]: values and mass are stored divided by exp(log_scale), which cancels in a read. For methods that
  /// extend a memory; undefined: not divided.
  Tensor log_scale = {};
  /// [batch, heads, entries]: attention that each entry received from reads so far. The reader adds up ReadOutput::usage. For
  /// methods that extend a memory and keep its most read entries; undefined: unknown.
  Tensor usage = {};
};

/// Input of a write.
struct WriteInput {
  Tensor keys;        ///< [batch, heads, length, d_key]
  Tensor values;      ///< [batch, heads, length, d_value]
  Tensor mask;        ///< [batch, length] bool, true = a token; undefined: no padding
  Tensor queries;     ///< [batch, heads, n, d_key]: queries that will read, for methods that also group queries; or undefined
  Tensor query_mask;  ///< [batch, n] bool, or undefined
  /// [batch, 1 or heads, length], at least 0, without a graph: attention that each token received before it is compressed. For
  /// methods that keep the most used tokens; undefined: unknown.
  Tensor usage;
  const Memory* held = nullptr;  ///< memory written before, to be extended by these tokens if extends is promised
  Generator generator;           ///< for randomness in training, on the device of the keys
};

/// Input of a read.
struct ReadInput {
  Tensor queries;  ///< [batch, heads, n, d_key]
  const Memory& memory;
  Similarity similarity = Similarity::kSoftmax;
  /// Query i sees the slots that are complete at position offset + i; true only if causal_reads is promised.
  bool causal = false;
  std::int64_t offset = 0;
  bool looks = false;  ///< fill ReadOutput::usage if the method can
  Tensor query_mask;   ///< [batch, n] bool: queries that count for usage; undefined: all
  bool fused = false;  ///< may use fused forms (AttentionContext::fused)
};

struct ReadOutput {
  Tensor values;               ///< [batch, heads, n, d_value]; 0 if there is nothing to read
  Tensor auxiliary_loss = {};  ///< shape [], with its graph; undefined: none
  /// [batch, heads, entries], without a graph: the share of each query's attention that goes to an entry, summed over queries.
  /// Undefined if not requested, or if the method has no entries.
  Tensor usage = {};
};

/// Compression method. One attention layer owns the instance and calls it from one thread. Parameters and buffers are
/// registered with the module. Input tensors belong to the caller: never write into them. Results may be views of input
/// tensors, have the inputs' type and device, and belong to the caller. Calls may throw std::exception, torch's included: the
/// trial fails with the exception's what().
///
/// Padding: with mask [batch, length] (true = a token, padding only at the end), an item of L tokens gives exactly the memory
/// of the sequence cut to L. Its first slots.of(L) slots have the same values, and the other slots are empty. Tensors under the
/// mask may be anything, NaN too. An item without any token reads as 0.
///
/// The public calls forward to the private virtuals, which a method overrides, and check the results (shapes, types and devices
/// only, which costs no synchronisation). For a wrong result they throw std::runtime_error with the plugin's id.
class Compression : public Module {
 public:
  explicit Compression(const CompressionContext& context)
      : id_(context.id), promises_(context.promises), slots_(context.slots) {}

  /// Writes a sequence of any floating type. heads and channels are as in the CompressionContext, and length is at most the
  /// context's max_length. In evaluation no registered tensor may change.
  Memory write(const WriteInput& input);

  /// Reads a memory: out = weights(q) V / (weights(q) mass), without the division if mass is undefined. The memory comes from
  /// write(). If slots_have_keys, its keys and values may be projected linearly, and heads and channels may differ from this
  /// instance's heads and channels.
  ReadOutput read(const ReadInput& input);

  /// True if read() uses ReadInput::similarity. A method with its own kernel returns false (refuse_idle_similarity).
  virtual bool follows_similarity() const { return true; }

  /// True if each slot holds means of its tokens' keys and values, with shares that depend only on lengths and mask. read()
  /// must be kernel_attention() of these means if the similarity is a feature map. Then a caller may project the means instead
  /// of the tokens, and may pass one tensor as keys and values.
  virtual bool slots_are_means() const { return false; }

  /// Called by the attention after each optimiser step, in training only. A method may change buffers here (moving averages,
  /// redrawn features), under its own NoGradGuard.
  /// @param step from 1
  /// @param generator on the device of the parameters
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

/// Throws std::invalid_argument if a study sets a similarity that the compression does not use. The setting would change the
/// trial's key, but none of its numbers. For attentions that let studies choose a similarity.
/// @param parameter name of the parameter
/// @param usual default of the parameter
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
