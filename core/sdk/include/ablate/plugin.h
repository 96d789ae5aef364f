// What a plugin library exports: one descriptor. Torch-free; attention.h, compression.h and task.h hold what the factories
// make, and the macro of each kind: ABLATE_ATTENTION, ABLATE_COMPRESSION, ABLATE_TASK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "ablate/abi.h"
#include "ablate/parameter.h"

// Of the library that includes this header: defined by ABLATE_EXPORT_PLUGIN, filled in by ablate_add_plugin.
extern "C" __attribute__((visibility("hidden"))) const ablate::CodeStamp ablate_code;

namespace ablate {

class Attention;
class Compression;
class Task;
class Values;
struct AttentionContext;
struct CompressionContext;
struct TaskContext;

/// Enumerator, name, whether plugins of the kind may be parameters of others. All that goes through kinds goes by this list.
// clang-format off
#define ABLATE_KINDS(kind)                \
  kind(kAttention, "attention", true)     \
  kind(kCompression, "compression", true) \
  kind(kTask, "task", false)
// clang-format on

enum class Kind : std::int32_t {
#define ABLATE_KIND(enumerator, ...) enumerator,
  ABLATE_KINDS(ABLATE_KIND)
#undef ABLATE_KIND
};

/// Promises, each of which the conformance suite checks. What is not promised the host refuses to ask for.
struct Capabilities {
  // attention
  bool causal = false;           ///< can be built so that an output depends on its own and earlier positions alone
  bool key_padding = false;      ///< a masked context token changes nothing
  bool cross_attention = false;  ///< queries and context may be different sequences
  bool stateful = false;         ///< carries a state from segment to segment
  bool bidirectional = true;     ///< can be built without causal, too
  bool holes = false;            ///< a mask may be false anywhere, not only at the end
  /// Of one that is stateful and causal: whole, by segments and token by token are the same.
  bool recurrent = false;
  bool rotary = false;  ///< queries and keys are turned by their positions where the model says so (HeadwiseAttention does it)
  bool weight_dropout = false;  ///< attention weights are dropped in training where the model says so (dropout.h)
  // compression
  bool slots_have_keys = false;  ///< a slot has a key that may be projected after compression (all but random features)
  /// A constant sequence is compressed to that constant. Of an attention: weights sum to 1, so that where all tokens are alike
  /// their number makes no difference (one that takes a compression: over compressions that promise it too).
  bool averages = false;
  bool lossless_at_rate_1 = false;  ///< at rate 1 a read equals attention over the sequence itself
  bool causal_reads = false;        ///< with a rate, a query can be shown the slots complete before it alone
  bool fixed_slots = false;         ///< keeps a fixed number of slots where asked
  bool extends = false;             ///< new tokens can be written into a memory that is there
  /// A softmax read weighs slot j with mass_j exp(q.key_j / sqrt(d)), so that slots may stand in one softmax beside tokens.
  bool beside_tokens = false;
  // attention and compression
  /// A limit, and no promise: some outputs leave out tokens that causality and masks allow (a window, a cluster's members).
  bool sparse = false;
  bool half_precision = false;       ///< float16 and bfloat16, besides float32 and float64
  bool cuda = true;                  ///< runs on CUDA devices, besides the CPU
  bool deterministic = true;         ///< same seed, same bits
  std::int64_t length_multiple = 1;  ///< sequence lengths must be a multiple of it
  double time_exponent = 1;          ///< time grows as length to this power ...
  double memory_exponent = 1;        ///< ... and memory to this
};

/// What a plugin promises with these parameters: `declared` by its Descriptor, changed by what they, and the plugins among them
/// (`parts`, in the order of the schema, lists in theirs), make of it. May throw nothing.
using Promises = Capabilities (*)(const Capabilities& declared, const Values& parameters, std::span<const Capabilities> parts);

/// What the suite would take for a fault, and which is so on purpose, as published: it is shown with the check that it excuses.
struct Exemption {
  const char* check;  ///< "trained", "causal", "splits are disjoint": what `ablate check` calls it
  const char* what;   ///< of what: a parameter's name ("router"), splits ("dev, test"); "": all that the check looks at
  const char* why;    ///< one line, with its source
  /// Above 0: the largest error that is excused, as `ablate check` tells it ("off by 0.07"). A larger one fails. A check that
  /// says yes or no ("trained", "reach") is off by 1.
  double tolerance;
  const char* when = "";  ///< only with this value of a parameter: "router_gradient = none"; "": always
};

/// Another plugin of the same kind that this one equals at some parameters, with the same weights by name: the suite compares
/// outputs and gradients.
struct Oracle {
  const char* at;           ///< this plugin's parameters, the others at their defaults: R"({"window": 4096})"
  const char* plugin;       ///< the other one's id
  const char* with = "{}";  ///< its parameters
};

/// What a library offers besides, by a name that ends in a version ("ablate.memory/1"), as CLAP's get_extension: static storage
/// of the type that the header which says the name says; null for every name that the library does not know. A change of that
/// type is another version, so that no library of before is refused. Any thread; throws nothing.
using Extension = const void* (*)(const char* name);

/// What a plugin library says of itself. All pointers are to static storage of the library, which is never unloaded.
struct Descriptor {
  AbiStamp abi;  ///< first, whatever else changes
  Kind kind;
  const char* id;       ///< kebab-case; also the name of the folder and of the library
  const char* version;  ///< major.minor.patch
  const char* summary;  ///< one line
  const char* paper;    ///< where the method is from; "" for none
  const char* code_digest;
  Capabilities capabilities;
  Promises promises;  ///< null: as declared, whatever the parameters
  const Parameter* parameters;
  std::size_t parameter_count;
  const Exemption* exemptions;
  std::size_t exemption_count;
  const Oracle* oracles;
  std::size_t oracle_count;
  // The factory of the plugin's kind; the others are null. It gives a new instance each call, owned by the caller, and is
  // called in a worker only, from one thread at a time. It may throw std::exception: the trial fails with its what().
  std::shared_ptr<Attention> (*make_attention)(const AttentionContext&);
  std::shared_ptr<Compression> (*make_compression)(const CompressionContext&);
  std::unique_ptr<Task> (*make_task)(const TaskContext&);
  Extension extension;  ///< null: it offers none. The factory of every other kind is one, "ablate.KIND/1"
};

/// @param E the type of an extension, whose name is E::kName @return null where the library does not offer it
template <class E>
const E* extension_of(const Descriptor& descriptor) {
  return descriptor.extension == nullptr ? nullptr : static_cast<const E*>(descriptor.extension(E::kName));
}

/// What a plugin's author writes, all of it static storage; the macros add the rest.
struct About {
  const char* id;
  const char* version;
  const char* summary;
  const char* paper = "";
  Capabilities capabilities = {};
  std::span<const Parameter> parameters = {};
  Promises promises = nullptr;
  std::span<const Exemption> exemptions = {};
  std::span<const Oracle> oracles = {};
  Extension extension = nullptr;
};

/// The name of the one exported symbol, a function: const Descriptor* ablate_plugin(). Called once, after loading; gives static
/// storage, never null, and throws nothing.
inline constexpr const char* kPluginSymbol = "ablate_plugin";
inline constexpr const char* kAbiSection = ".ablate.abi";
inline constexpr const char* kCodeSection = ".ablate.code";

constexpr AbiStamp abi_stamp() { return make_abi_stamp(sizeof(Descriptor), sizeof(Parameter)); }

namespace detail {

constexpr Descriptor describe(Kind kind, const About& about) {
  return {abi_stamp(),
          kind,
          about.id,
          about.version,
          about.summary,
          about.paper,
          ablate_code.identity,
          about.capabilities,
          about.promises,
          about.parameters.data(),
          about.parameters.size(),
          about.exemptions.data(),
          about.exemptions.size(),
          about.oracles.data(),
          about.oracles.size(),
          nullptr,
          nullptr,
          nullptr,
          about.extension};
}

}  // namespace detail
}  // namespace ablate

#define ABLATE_EXPORT_PLUGIN(descriptor)                                                                                \
  extern "C" __attribute__((section(".ablate.abi"), used, visibility("default"))) const ::ablate::AbiStamp ablate_abi = \
      ::ablate::abi_stamp();                                                                                            \
  extern "C" __attribute__((section(".ablate.code"), used)) const ::ablate::CodeStamp ablate_code = {};                 \
  extern "C" __attribute__((visibility("default"))) const ::ablate::Descriptor* ablate_plugin() { return &(descriptor); }
