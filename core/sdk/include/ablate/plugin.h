// Descriptor that a plugin library exports. Torch-free. attention.h, compression.h and task.h declare the types that the
// factories make, and the macro of each kind: ABLATE_ATTENTION, ABLATE_COMPRESSION, ABLATE_TASK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "ablate/abi.h"
#include "ablate/parameter.h"

// Code stamp of the library that includes this header. ABLATE_EXPORT_PLUGIN defines it, and ablate_add_plugin fills it in.
extern "C" __attribute__((visibility("hidden"))) const ablate::CodeStamp ablate_code;

namespace ablate {

class Attention;
class Compression;
class Task;
class Values;
struct AttentionContext;
struct CompressionContext;
struct TaskContext;

/// List of all plugin kinds: enumerator, name, true if plugins of the kind may be parameters of other plugins.
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

/// Promises of a plugin, each of which the conformance suite checks. The host uses no feature that is not promised.
struct Capabilities {
  // attention
  bool causal = false;           ///< can be built so that an output depends only on its own and earlier positions
  bool key_padding = false;      ///< a masked context token changes nothing
  bool cross_attention = false;  ///< queries and context may be different sequences
  bool stateful = false;         ///< carries a state from segment to segment
  bool bidirectional = true;     ///< can be built without causal, too
  bool holes = false;            ///< a mask may be false anywhere, not only at the end
  /// For attentions that are stateful and causal: a whole sequence, segments and single tokens give the same outputs.
  bool recurrent = false;
  bool rotary = false;          ///< queries and keys are rotated if the model has rotary positions (HeadwiseAttention does it)
  bool weight_dropout = false;  ///< attention weights are dropped in training if the model has weight dropout (dropout.h)
  // compression
  bool slots_have_keys = false;  ///< a slot has a key that may be projected after compression (all but random features)
  /// A constant sequence is compressed to that constant. For an attention: weights sum to 1, so the number of tokens makes no
  /// difference if all are alike. (An attention with a compression promises it only if the compression does.)
  bool averages = false;
  bool lossless_at_rate_1 = false;  ///< at rate 1 a read equals attention over the sequence itself
  bool causal_reads = false;        ///< with a rate, a query can be restricted to the slots complete at its position
  bool fixed_slots = false;         ///< can use a fixed number of slots
  bool extends = false;             ///< new tokens can be written into an existing memory
  /// A softmax read weights slot j with mass_j exp(q.key_j / sqrt(d)), so slots and tokens can share one softmax.
  bool beside_tokens = false;
  // attention and compression
  /// A limit, not a promise: some outputs ignore tokens that causality and masks allow (a window, a cluster's members).
  bool sparse = false;
  bool half_precision = false;       ///< float16 and bfloat16, besides float32 and float64
  bool cuda = true;                  ///< runs on CUDA devices, besides the CPU
  bool deterministic = true;         ///< same seed, same bits
  std::int64_t length_multiple = 1;  ///< sequence lengths must be a multiple of it
  double time_exponent = 1;          ///< time grows as length to this power
  double memory_exponent = 1;        ///< memory grows as length to this power
};

/// Computes a plugin's promises for these parameters. Must not throw.
/// @param declared promises of its Descriptor
/// @param parts promises of the plugins among the parameters, in the order of the schema, lists in their order
using Promises = Capabilities (*)(const Capabilities& declared, const Values& parameters, std::span<const Capabilities> parts);

/// Intended and published property that the suite would report as a fault. It is shown with the check that it excuses.
struct Exemption {
  const char* check;  ///< name of the check in `ablate check`: "trained", "causal", "splits are disjoint"
  const char* what;   ///< excused object: a parameter's name ("router"), splits ("dev, test"); "": all objects of the check
  const char* why;    ///< one line, with its source
  /// Above 0: the largest error that is excused, in the unit of `ablate check` ("off by 0.07"). A larger error fails. The error
  /// of a yes-or-no check ("trained", "reach") is 1.
  double tolerance;
  const char* when = "";  ///< only with this value of a parameter: "router_gradient = none"; "": always
};

/// Another plugin of the same kind that gives the same results for certain parameters, if weights of the same name are equal.
/// The suite compares outputs and gradients.
struct Oracle {
  const char* at;           ///< this plugin's parameters, others at their defaults: R"({"window": 4096})"
  const char* plugin;       ///< id of the other plugin
  const char* with = "{}";  ///< parameters of the other plugin
};

/// Returns an optional interface of the library by its name, which ends in a version ("ablate.memory/1"), like CLAP's
/// get_extension. The header that declares the name declares the type too. The result is static storage, or null for an unknown
/// name. A changed type gets another version, so older libraries stay valid. Called from any thread. Must not throw.
using Extension = const void* (*)(const char* name);

/// Description of a plugin library. All pointers are to static storage of the library, which is never unloaded.
struct Descriptor {
  AbiStamp abi;  ///< always the first field, in every version
  Kind kind;
  const char* id;       ///< kebab-case; also the name of the folder and of the library
  const char* version;  ///< major.minor.patch
  const char* summary;  ///< one line
  const char* paper;    ///< source of the method; "" for none
  const char* code_digest;
  Capabilities capabilities;
  Promises promises;  ///< null: the promises are `capabilities` for all parameters
  const Parameter* parameters;
  std::size_t parameter_count;
  const Exemption* exemptions;
  std::size_t exemption_count;
  const Oracle* oracles;
  std::size_t oracle_count;
  // Only the factory of the plugin's kind is set. The factory returns a new instance in each call, owned by the caller.
  // Workers call it, from one thread at a time. It may throw std::exception: the trial fails with the exception's what().
  std::shared_ptr<Attention> (*make_attention)(const AttentionContext&);
  std::shared_ptr<Compression> (*make_compression)(const CompressionContext&);
  std::unique_ptr<Task> (*make_task)(const TaskContext&);
  Extension extension;  ///< null: no extensions. A kind without a make_ field has its factory here: "ablate.KIND/1"
};

/// @param E type of an extension, with the name E::kName
/// @return null if the library does not offer the extension
template <class E>
const E* extension_of(const Descriptor& descriptor) {
  return descriptor.extension == nullptr ? nullptr : static_cast<const E*>(descriptor.extension(E::kName));
}

/// Fields that a plugin's author writes, all of them static storage. The macros add the rest.
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

/// Name of the one exported symbol, a function: const Descriptor* ablate_plugin(). The host calls it once, after loading. It
/// returns static storage, never null, and must not throw.
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
