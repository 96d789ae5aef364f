// What goes through the pipe between host and worker, JSON, one object a line: commands to it, events from it. Torch-free.
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

/// Loads for all later jobs, which share it by fork -> LoadedEvent or RefusedEvent.
struct LoadCommand {
  static constexpr const char* kName = "load";
  struct Data {
    PluginSpec section;
    std::string digest;              ///< of its data: others are refused
    std::vector<PlannedFile> files;  ///< that its parameters name: others are refused
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
  std::string kind;               ///< kName of the job
  nlohmann::json spec;            ///< the job
  double limit_s = 0;             ///< by the worker's clock; 0: none
  std::string output_file = {};   ///< absolute: a new file for all that it prints, where that is more than the tail; "": none
  std::int64_t memory_bytes = 0;  ///< of its own, above which it is ended; 0: no limit
  std::vector<int> processors = {};  ///< the only ones that it may run on; none: all that the worker may
  bool operator==(const StartCommand&) const = default;
};
struct KillCommand {
  static constexpr const char* kName = "kill";
  int job = 0;
  bool operator==(const KillCommand&) const = default;
};
/// Asks a trial to write itself to disk after its next step -> Saved, as a SaidEvent. It runs on. Nothing comes of a job that
/// has no plan for that.
struct SaveCommand {
  static constexpr const char* kName = "save";
  int job = 0;
  bool operator==(const SaveCommand&) const = default;
};
/// -> PongEvent
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
  std::string word;   ///< what every later line begins with
  std::string build;  ///< build_identity(): of another build nothing is understood but this
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
/// What was to be loaded is not.
struct RefusedEvent {
  static constexpr const char* kName = "refused";
  std::string reason;
  ExitCode code = ExitCode::kPlugin;
  bool spoilt = false;  ///< whether this worker is of no use any more
  bool operator==(const RefusedEvent&) const = default;
};
struct SaidEvent {
  static constexpr const char* kName = "message";
  int job = 0;
  nlohmann::json data = nlohmann::json::object();  ///< an object that the job has said
  bool operator==(const SaidEvent&) const = default;
};
/// How much memory of its own a job holds: told now and then, where it has changed.
struct SizeEvent {
  static constexpr const char* kName = "size";
  int job = 0;
  std::int64_t bytes = 0;
  bool operator==(const SizeEvent&) const = default;
};
struct EndedEvent {
  static constexpr const char* kName = "ended";
  int job = 0;
  int status = 0;  ///< as wait() gives it
  double wall_s = 0, cpu_s = 0;
  std::int64_t peak_resident_bytes = 0;
  std::string output;        ///< its tail
  bool late = false;         ///< it was ended by its limit
  std::string intrusion;     ///< what else was in its channel
  std::string killed;        ///< what is known of a signal 9 that the worker has not sent
  std::int64_t printed = 0;  ///< bytes, in all
  std::string unkept = {};   ///< why output_file lacks some of the first bytes of it; "": it has what it was to have
  std::string memory = {};   ///< for want of what memory it was ended, and by whom; "": it was not
  bool operator==(const EndedEvent&) const = default;
};
struct NotStartedEvent {
  static constexpr const char* kName = "ended";
  int job = 0;
  std::string not_started;  ///< why: there is no process or descriptor to be had
  bool operator==(const NotStartedEvent&) const = default;
};
using Event = std::variant<ReadyEvent, LoadedEvent, PongEvent, RefusedEvent, SaidEvent, SizeEvent, EndedEvent, NotStartedEvent>;

/// The job that it tells of; 0: of none.
int job_of(const Event& event);

/// With which of them it is.
nlohmann::json command_to_json(const Command& command);
nlohmann::json event_to_json(const Event& event);
/// Each throws BadMessage.
Command command_from_json(const nlohmann::json& text);
Event event_from_json(const nlohmann::json& text);

}  // namespace ablate
