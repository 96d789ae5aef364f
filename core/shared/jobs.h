// What host and worker tell each other: a struct for each job, each answer, and what carries them. The source beside this
// header alone knows how they are written on the pipe: JSON, one object a line. Torch-free.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/registry/plugin_info.h"
#include "core/shared/messages.h"
#include "core/shared/requirements.h"
#include "core/shared/trial_spec.h"

namespace ablate {

/// A file that a parameter names, as a trial's key was made with it.
struct PlannedFile {
  static constexpr const char* kName = "planned file";
  std::string parameter;  ///< "attention.table"
  std::string file;       ///< absolute
  std::string digest;     ///< SHA-256
  bool operator==(const PlannedFile&) const = default;
};

/// Libraries that a job needs. One whose content is not what its hash says is refused.
struct Libraries {
  std::vector<std::string> paths;
  std::map<std::string, std::string> hashes;  ///< SHA-256 by path; of a path that is not in it any content will do
  bool operator==(const Libraries&) const = default;
};

// Jobs: kName says which, Answer what it says. A job may say Failed or Crashed instead.

/// Loads a library and tells what it says of itself.
struct InspectJob {
  static constexpr const char* kName = "inspect";
  using Answer = struct Inspected;
  std::string path;
  bool operator==(const InspectJob&) const = default;
};
struct Inspected {
  static constexpr const char* kName = "answer of inspect";
  std::optional<nlohmann::json> info;  ///< a PluginInfo, as plugin_info_from_json reads it and the cache of a scan keeps it
  std::string refusal;                 ///< why there is none
  bool operator==(const Inspected&) const = default;
};

/// What a task's info() says.
struct DescribeTaskJob {
  static constexpr const char* kName = "describe-task";
  using Answer = struct DescribedTask;
  Libraries libraries;
  PluginSpec section;
  bool operator==(const DescribeTaskJob&) const = default;
};
struct DescribedTask {
  static constexpr const char* kName = "answer of describe-task";
  std::int64_t length = 0;                                             ///< of the longest example, or of a stream's segments
  std::int64_t train_length = 0;                                       ///< of the longest example in training
  bool causal = false, holes = false, pooled = false, stream = false;  ///< as TaskShape
  /// {absolute path: file_stamp from before it was read}; absent where they were replaced meanwhile
  std::optional<std::map<std::string, std::string>> files = {};
  /// padded is left open.
  TaskShape shape() const;
  bool operator==(const DescribedTask&) const = default;
};

/// Loads the data, too: generates and caches what lacks.
struct PrepareTaskJob {
  static constexpr const char* kName = "prepare-task";
  using Answer = struct PreparedTask;
  Libraries libraries;
  PluginSpec section;
  bool scan_padding = false;  ///< whether to look through all examples for padding
  bool operator==(const PrepareTaskJob&) const = default;
};
struct SplitSizes {
  std::int64_t train = 0, dev = 0, test = 0;  ///< examples; of a stream segments
  bool operator==(const SplitSizes&) const = default;
};
struct PreparedTask : DescribedTask {
  static constexpr const char* kName = "answer of prepare-task";
  std::string digest;                ///< of the data
  std::int64_t train_positions = 0;  ///< examples of the training split; of a stream its positions
  SplitSizes sizes;
  std::optional<bool> padded = {};  ///< absent where it was not asked for
  TaskShape shape() const;
  bool operator==(const PreparedTask&) const = default;
};

/// What a plugin promises with its parameters and parts.
struct PromisesJob {
  static constexpr const char* kName = "promises";
  using Answer = struct Promised;
  Libraries libraries;
  Kind kind = Kind::kAttention;  ///< or kCompression
  PluginSpec section;
  bool operator==(const PromisesJob&) const = default;
};
struct Promised {
  static constexpr const char* kName = "answer of promises";
  Capabilities promises;
};

/// Which plugins refuse their place in a model.
struct TryPlacesJob {
  static constexpr const char* kName = "try-places";
  using Answer = struct TriedPlaces;
  struct Place {
    TrialSpec trial;
    bool operator==(const Place&) const = default;
  };
  Libraries libraries;
  std::vector<Place> places;  ///< of one task
  bool operator==(const TryPlacesJob&) const = default;
};
struct TriedPlaces {
  static constexpr const char* kName = "answer of try-places";
  struct Refused {
    std::int64_t place = 0;  ///< which
    std::string path;        ///< of the section; of the model its setting's
    std::string why;
    bool operator==(const Refused&) const = default;
  };
  std::map<std::string, std::string> files;  ///< as DescribedTask::files
  std::vector<Refused> refused;
  bool operator==(const TriedPlaces&) const = default;
};

/// Whether torch can compute there, with mixed products where they are asked for.
struct OpenDeviceJob {
  static constexpr const char* kName = "open-device";
  using Answer = struct OpenedDevice;
  std::string device;
  bool mixed = false;  ///< PrecisionInfo::mixed
  bool operator==(const OpenDeviceJob&) const = default;
};
struct OpenedDevice {
  static constexpr const char* kName = "answer of open-device";
  bool opened = false;
  bool operator==(const OpenedDevice&) const = default;
};

/// Where and how often a running trial is written to disk, and what it may go on from.
struct CheckpointPlan {
  static constexpr const char* kName = "checkpoint plan";
  std::string folder;  ///< absolute; it need not be there
  std::string owner;   ///< CheckpointFile::owner of what this attempt writes
  std::int64_t fence;  ///< likewise
  std::string key;     ///< of the trial
  double every_s = 0;  ///< after the start, and between two; above 0
  /// The beginning of each file: settings and basis of the trial's Identity, without which it is refused, "environment"
  /// (number_parts) and the processor that it is written on, libtorch's version.
  nlohmann::json about = nlohmann::json::object();
  Libraries libraries = {};  ///< while one was overwritten in place nothing is written: what it gave cannot be believed
  bool operator==(const CheckpointPlan&) const = default;
};

/// Runs a trial whose libraries and data were loaded. Says what core/shared/messages.h has.
struct TrialJob {
  static constexpr const char* kName = "trial";
  TrialSpec trial;
  std::vector<PlannedFile> files;  ///< of its attentions and compressions
  std::string weights_file = {};   ///< absolute: a new file, in the safetensors format, for its best weights; "": none
  std::optional<CheckpointPlan> checkpoint = {};  ///< none: it is never written, and begins anew
  bool operator==(const TrialJob&) const = default;
};

/// The conformance suite over one library: a job of the checker. Says CheckBegun before a check and CheckResult after it, so
/// that whoever listens knows which did not come to its end; CheckRefused alone where nothing can be checked as it was asked.
struct CheckJob {
  static constexpr const char* kName = "check";
  std::string library;
  std::vector<std::string> parts;             ///< libraries that parameters which are plugins are tried with
  std::map<std::string, std::string> hashes;  ///< as Libraries::hashes
  nlohmann::json parameters = nlohmann::json::object();
  std::string scratch;  ///< a folder for the data that tasks generate
  std::string device = "cpu";
  bool quick = false, timed = false;
  std::vector<std::string> only;  ///< names of checks; none: all
  std::int64_t length = 0;        ///< to look at, too; 0: none
  bool operator==(const CheckJob&) const = default;
};
struct CheckBegun {
  static constexpr const char* kName = "answer of check";
  std::string begin, on;          ///< the check's name, and on what
  std::vector<std::string> with;  ///< the plugins among its parameters
  bool operator==(const CheckBegun&) const = default;
};
struct CheckResult {
  static constexpr const char* kName = "answer of check";
  std::string check, on;
  std::string verdict;                                          ///< "passed", "failed" or "unchecked"
  std::string found;                                            ///< or why it could not be checked here
  double error = std::numeric_limits<double>::quiet_NaN();      ///< how far off; NaN: no number
  double tolerance = std::numeric_limits<double>::quiet_NaN();  ///< how far it may be
  std::string why;                                              ///< where the tolerance comes from
  std::string part;                                             ///< the plugins with which alone it fails, or ""
  bool operator==(const CheckResult&) const = default;
};
struct CheckRefused {
  static constexpr const char* kName = "answer of check";
  std::string refused;  ///< what is wrong with what was asked: a check of no such name, parameters that nothing is made with
  bool operator==(const CheckRefused&) const = default;
};
struct CheckEnded {
  static constexpr const char* kName = "answer of check";
  std::map<std::string, std::int64_t> lengths = {};  ///< as CheckedLengths
  bool operator==(const CheckEnded&) const = default;
};
using CheckSaid = std::variant<CheckBegun, CheckResult, CheckRefused, CheckEnded>;

/// What a task's data tell without a model: a job of the checker. Says CheckBegun before a finding and CheckResult after it.
struct AuditJob {
  static constexpr const char* kName = "audit";
  Libraries libraries;
  PluginSpec section;   ///< complete
  std::string digest;   ///< of its data: others are refused
  std::string scratch;  ///< a folder for the data of another data_seed
  bool operator==(const AuditJob&) const = default;
};

/// What any job may say in place of its answer: that it threw.
struct Failed {
  static constexpr const char* kName = "answer of any job";
  static constexpr const char* kHost = "the host's memory";
  static constexpr const char* kDevice = "the device's memory";
  std::string failed;                          ///< why
  bool fault = false;                          ///< whether that is a plugin's fault
  std::optional<std::string> ran_out_of = {};  ///< kHost or kDevice; nothing: it was another failure
  bool operator==(const Failed&) const = default;
};
/// What its process says while a signal ends it.
struct Crashed {
  static constexpr const char* kName = "answer of any job";
  std::string crashed;  ///< "function in library.so"
  bool operator==(const Crashed&) const = default;
};

template <class M>
concept Message = requires {
  { M::kName } -> std::convertible_to<const char*>;
};

/// Of every struct here and in core/shared/pipe.h.
template <Message M>
nlohmann::json to_json(const M& message);
/// Throws BadMessage.
template <Message M>
M from_json(const nlohmann::json& text);

CheckSaid check_said_from_json(const nlohmann::json& text);
/// Of what is remembered, too, which may be of another version or of nobody that this program knows: an answer to this job.
DescribedTask answer_from(const nlohmann::json& text, const DescribeTaskJob& job);
PreparedTask answer_from(const nlohmann::json& text, const PrepareTaskJob& job);

}  // namespace ablate
