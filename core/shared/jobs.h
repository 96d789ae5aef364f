// Messages between host and worker: a struct for each job, for each answer, and for the files and libraries that jobs name.
// Only the source beside this header converts messages to their form on the pipe, one JSON object per line. Torch-free.
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

/// File that a parameter names, as it was when the trial's key was computed.
struct PlannedFile {
  static constexpr const char* kName = "planned file";
  std::string parameter;  ///< "attention.table"
  std::string file;       ///< absolute
  std::string digest;     ///< SHA-256
  bool operator==(const PlannedFile&) const = default;
};

/// Libraries that a job needs. A library whose content differs from its hash is refused.
struct Libraries {
  std::vector<std::string> paths;
  std::map<std::string, std::string> hashes;  ///< SHA-256 by path; a path without an entry may have any content
  bool operator==(const Libraries&) const = default;
};

// Jobs: kName is the name of the job, Answer the type of its answer. A job may answer with Failed or Crashed instead.

/// Loads a library and returns its description.
struct InspectJob {
  static constexpr const char* kName = "inspect";
  using Answer = struct Inspected;
  std::string path;
  bool operator==(const InspectJob&) const = default;
};
struct Inspected {
  static constexpr const char* kName = "answer of inspect";
  std::optional<nlohmann::json> info;  ///< a PluginInfo, in the JSON form of plugin_info_from_json and of a scan's cache
  std::string refusal;                 ///< reason why there is no description
  bool operator==(const Inspected&) const = default;
};

/// Returns the content of a task's info().
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
  std::int64_t train_length = 0;                                       ///< length of the longest example in training
  bool causal = false, holes = false, pooled = false, stream = false;  ///< see TaskShape
  /// {absolute path: file_stamp from before the file was read}; absent if the files were replaced meanwhile.
  std::optional<std::map<std::string, std::string>> files = {};
  /// Returns a shape in which `padded` is not set.
  TaskShape shape() const;
  bool operator==(const DescribedTask&) const = default;
};

/// Does the same as DescribeTaskJob, and loads the data: generates and caches missing files.
struct PrepareTaskJob {
  static constexpr const char* kName = "prepare-task";
  using Answer = struct PreparedTask;
  Libraries libraries;
  PluginSpec section;
  bool scan_padding = false;  ///< true to search all examples for padding
  bool operator==(const PrepareTaskJob&) const = default;
};
struct SplitSizes {
  std::int64_t train = 0, dev = 0, test = 0;  ///< examples; segments if the task is a stream
  bool operator==(const SplitSizes&) const = default;
};
struct PreparedTask : DescribedTask {
  static constexpr const char* kName = "answer of prepare-task";
  std::string digest;                ///< digest of the data
  std::int64_t train_positions = 0;  ///< examples of the training split; positions if the task is a stream
  SplitSizes sizes;
  std::optional<bool> padded = {};  ///< absent if scan_padding was false
  TaskShape shape() const;
  bool operator==(const PreparedTask&) const = default;
};

/// Returns the promises of a plugin with its parameters and parts.
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

/// Finds the plugins that refuse their place in a model.
struct TryPlacesJob {
  static constexpr const char* kName = "try-places";
  using Answer = struct TriedPlaces;
  struct Place {
    TrialSpec trial;
    bool operator==(const Place&) const = default;
  };
  Libraries libraries;
  std::vector<Place> places;  ///< all with the same task
  bool operator==(const TryPlacesJob&) const = default;
};
struct TriedPlaces {
  static constexpr const char* kName = "answer of try-places";
  struct Refused {
    std::int64_t place = 0;  ///< index into `places`
    std::string path;        ///< path of the plugin's section, or of the model's setting
    std::string why;
    bool operator==(const Refused&) const = default;
  };
  std::map<std::string, std::string> files;  ///< see DescribedTask::files
  std::vector<Refused> refused;
  bool operator==(const TriedPlaces&) const = default;
};

/// Tests if torch can compute on the device, with mixed products if `mixed` is set.
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

/// Folder and interval of a running trial's checkpoints, and the conditions under which a checkpoint may be used.
struct CheckpointPlan {
  static constexpr const char* kName = "checkpoint plan";
  std::string folder;  ///< absolute; may be missing
  std::string owner;   ///< CheckpointFile::owner in the files that this attempt writes
  std::int64_t fence;  ///< CheckpointFile::fence in these files
  std::string key;     ///< key of the trial
  double every_s = 0;  ///< seconds from the start to the first checkpoint, and between two checkpoints; above 0
  /// Header of each file: settings and basis of the trial's Identity, "environment" (number_parts), the processor that writes
  /// the file, and libtorch's version. A file with other settings or basis is refused.
  nlohmann::json about = nlohmann::json::object();
  Libraries libraries = {};  ///< if a library was overwritten in place, no file is written: the results are invalid
  bool operator==(const CheckpointPlan&) const = default;
};

/// Runs a trial whose libraries and data were loaded. The trial's messages are in core/shared/messages.h.
struct TrialJob {
  static constexpr const char* kName = "trial";
  TrialSpec trial;
  std::vector<PlannedFile> files;  ///< files that the trial's attentions and compressions name
  std::string weights_file = {};   ///< absolute: new file in the safetensors format for the best weights; "": none
  std::optional<CheckpointPlan> checkpoint = {};  ///< none: the trial writes no checkpoint and starts at step 0
  bool operator==(const TrialJob&) const = default;
};

/// Runs the conformance suite on a library: a job of the checker. Sends CheckBegun before a check and CheckResult after it, so
/// the reader can find the check that did not end. Sends only CheckRefused if the job's parameters make every check impossible.
struct CheckJob {
  static constexpr const char* kName = "check";
  std::string library;
  std::vector<std::string> parts;             ///< libraries for parameters that are plugins
  std::map<std::string, std::string> hashes;  ///< see Libraries::hashes
  nlohmann::json parameters = nlohmann::json::object();
  std::string scratch;  ///< folder for the data that tasks generate
  std::string device = "cpu";
  bool quick = false, timed = false;
  std::vector<std::string> only;  ///< names of checks; empty: all
  std::int64_t length = 0;        ///< additional length to check; 0: none
  bool operator==(const CheckJob&) const = default;
};
struct CheckBegun {
  static constexpr const char* kName = "answer of check";
  std::string begin, on;          ///< name of the check, and the case that it runs on
  std::vector<std::string> with;  ///< the plugins among the checked plugin's parameters
  bool operator==(const CheckBegun&) const = default;
};
struct CheckResult {
  static constexpr const char* kName = "answer of check";
  std::string check, on;
  std::string verdict;                                          ///< "passed", "failed" or "unchecked"
  std::string found;                                            ///< finding, or the reason why the check could not run here
  double error = std::numeric_limits<double>::quiet_NaN();      ///< distance from the expected value; NaN: no number
  double tolerance = std::numeric_limits<double>::quiet_NaN();  ///< largest allowed error
  std::string why;                                              ///< source of the tolerance
  std::string part;                                             ///< parameter plugins without which the check passes; "": none
  bool operator==(const CheckResult&) const = default;
};
struct CheckRefused {
  static constexpr const char* kName = "answer of check";
  std::string refused;  ///< fault in the request: an unknown check, or parameters that the plugin cannot be made with
  bool operator==(const CheckRefused&) const = default;
};
struct CheckEnded {
  static constexpr const char* kName = "answer of check";
  std::map<std::string, std::int64_t> lengths = {};  ///< see CheckedLengths
  bool operator==(const CheckEnded&) const = default;
};
using CheckSaid = std::variant<CheckBegun, CheckResult, CheckRefused, CheckEnded>;

/// Audits a task's data without a model: a job of the checker. Sends CheckBegun before each check and CheckResult after it.
struct AuditJob {
  static constexpr const char* kName = "audit";
  Libraries libraries;
  PluginSpec section;   ///< with all parameters
  std::string digest;   ///< digest of the task's data; other data are refused
  std::string scratch;  ///< folder for the data of another data_seed
  bool operator==(const AuditJob&) const = default;
};

/// Answer of a job that threw.
struct Failed {
  static constexpr const char* kName = "answer of any job";
  static constexpr const char* kHost = "the host's memory";
  static constexpr const char* kDevice = "the device's memory";
  std::string failed;                          ///< reason
  bool fault = false;                          ///< true if a plugin is at fault
  std::optional<std::string> ran_out_of = {};  ///< kHost or kDevice; nullopt: another failure
  bool operator==(const Failed&) const = default;
};
/// Message of a job's process when a signal ends it.
struct Crashed {
  static constexpr const char* kName = "answer of any job";
  std::string crashed;  ///< "function in library.so"
  bool operator==(const Crashed&) const = default;
};

template <class M>
concept Message = requires {
  { M::kName } -> std::convertible_to<const char*>;
};

/// Defined for every struct here and in core/shared/pipe.h.
template <Message M>
nlohmann::json to_json(const M& message);
/// Throws BadMessage.
template <Message M>
M from_json(const nlohmann::json& text);

CheckSaid check_said_from_json(const nlohmann::json& text);
/// Also parses cached answers, which another version or an unknown program may have written. Throws BadMessage.
DescribedTask answer_from(const nlohmann::json& text, const DescribeTaskJob& job);
PreparedTask answer_from(const nlohmann::json& text, const PrepareTaskJob& job);

}  // namespace ablate
