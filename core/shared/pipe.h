// Messages on the pipe between host and worker: commands to the worker, and its events. One JSON object per line. Torch-free.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "core/shared/jobs.h"
#include "core/util/error.h"

namespace ablate {

// To the worker.

/// Loads libraries and data for all later jobs, which share them by fork. Answered by LoadedEvent or RefusedEvent.
struct LoadCommand {
  static constexpr const char* kName = "load";
  struct Data {
    PluginSpec section;
    std::string digest;              ///< digest of the task's data; other data are refused
    std::vector<PlannedFile> files;  ///< files that the task's parameters name; other content is refused
    bool operator==(const Data&) const = default;
  };
  Libraries libraries;
  std::vector<Data> tasks;
  bool cuda = false;
  bool operator==(const LoadCommand&) const = default;
};
struct StartCommand {
  static constexpr const char* kName = "start";
  int job = 0;
  std::string kind;                  ///< kName of the job
  nlohmann::json spec;               ///< the job
  double limit_s = 0;                ///< limit of time, in seconds by the worker's clock; 0: none
  std::string output_file = {};      ///< absolute: new file for the whole output, if it is longer than the tail; "": none
  std::int64_t memory_bytes = 0;     ///< limit of the job's own memory, above which the job is ended; 0: no limit
  std::vector<int> processors = {};  ///< processors that the job may run on; empty: all that the worker may use
  bool operator==(const StartCommand&) const = default;
};
struct KillCommand {
  static constexpr const char* kName = "kill";
  int job = 0;
  bool operator==(const KillCommand&) const = default;
};
/// Asks a trial to write a checkpoint after its next step. Answered by Saved, in a SaidEvent. The trial runs on. A job without
/// a CheckpointPlan ignores the command.
struct SaveCommand {
  static constexpr const char* kName = "save";
  int job = 0;
  bool operator==(const SaveCommand&) const = default;
};
/// Answered by PongEvent.
struct PingCommand {
  static constexpr const char* kName = "ping";
  bool operator==(const PingCommand&) const = default;
};
using Command = std::variant<LoadCommand, StartCommand, KillCommand, SaveCommand, PingCommand>;

// From the worker.

struct ReadyEvent {
  static constexpr const char* kName = "ready";
  nlohmann::json environment = nlohmann::json::object();
  int most_jobs = 1;  ///< at a time
  std::string word;   ///< random text at the beginning of every later line
  std::string build;  ///< build_identity(); if it differs from the host's, the host reads no other message
  bool operator==(const ReadyEvent&) const = default;
};
struct LoadedEvent {
  static constexpr const char* kName = "loaded";
  bool operator==(const LoadedEvent&) const = default;
};
struct PongEvent {
  static constexpr const char* kName = "pong";
  bool operator==(const PongEvent&) const = default;
};
/// The worker refused to load libraries or data.
struct RefusedEvent {
  static constexpr const char* kName = "refused";
  std::string reason;
  ExitCode code = ExitCode::kPlugin;
  bool spoilt = false;  ///< true if this worker cannot be used any more
  bool operator==(const RefusedEvent&) const = default;
};
struct SaidEvent {
  static constexpr const char* kName = "message";
  int job = 0;
  nlohmann::json data = nlohmann::json::object();  ///< object that the job sent
  bool operator==(const SaidEvent&) const = default;
};
/// A job's own memory, sent from time to time if it has changed.
struct SizeEvent {
  static constexpr const char* kName = "size";
  int job = 0;
  std::int64_t bytes = 0;
  bool operator==(const SizeEvent&) const = default;
};
struct EndedEvent {
  static constexpr const char* kName = "ended";
  int job = 0;
  int status = 0;  ///< result of wait()
  double wall_s = 0, cpu_s = 0;
  std::int64_t peak_resident_bytes = 0;
  std::string output;        ///< the tail of the job's output
  bool late = false;         ///< true if the job reached its time limit and was ended
  std::string intrusion;     ///< fault in the job's channel: text that is no message; "": none
  std::string killed;        ///< known causes of a signal 9 that the worker did not send
  std::int64_t printed = 0;  ///< bytes of the whole output
  std::string unkept = {};   ///< reason why output_file lacks some of the first bytes; "": it is complete
  std::string memory = {};   ///< memory that ran out, and who therefore ended the job; "": the end had another cause
  bool operator==(const EndedEvent&) const = default;
};
struct NotStartedEvent {
  static constexpr const char* kName = "ended";
  int job = 0;
  std::string not_started;  ///< reason: no process or descriptor is available
  bool operator==(const NotStartedEvent&) const = default;
};
using Event = std::variant<ReadyEvent, LoadedEvent, PongEvent, RefusedEvent, SaidEvent, SizeEvent, EndedEvent, NotStartedEvent>;

/// Returns the job of the event; 0: the event belongs to no job.
int job_of(const Event& event);

/// The JSON object contains the kName of the command or event.
nlohmann::json command_to_json(const Command& command);
nlohmann::json event_to_json(const Event& event);
/// The next two functions throw BadMessage.
Command command_from_json(const nlohmann::json& text);
Event event_from_json(const nlohmann::json& text);

}  // namespace ablate
