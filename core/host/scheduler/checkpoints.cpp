#include "core/host/scheduler/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/records/checkpoint_files.h"
#include "core/records/environment_parts.h"
#include "core/records/outcome.h"
#include "core/util/bytes_text.h"
#include "db/history/artifacts.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kLongestSave_s = 8;  ///< batch systems kill ten seconds after their word, or later

/// The kind of processor that a trial computes on, as far as it can change a number.
std::string processor_of(const json& environment, bool on_cuda) {
  if (!on_cuda) return fmt::format("{} ({})", environment.value("processor", ""), environment.value("cpu_capability", ""));
  std::string all;
  for (const auto& gpu : environment.value("gpus", json::array()).get<std::set<std::string>>())
    all += (all.empty() ? "" : " + ") + gpu;
  return all;
}

/// The parts of an environment that can change a trial's numbers.
json environment_of(const json& environment, const TrainSpec& train) {
  auto parts = number_parts(environment);
  if (!train.on_cuda())
    for (const auto* part : {"gpus", "gpu_driver"}) parts.erase(part);
  if (train.dtype != "mixed") parts.erase("kernels_bfloat16");
  return parts;
}

}  // namespace

std::optional<CheckpointPlan> Checkpoints::plan_of(const AttemptInProgress& starting, const json& environment,
                                                   Recorder& recorder) {
  if (!are_written()) return std::nullopt;
  const auto& planned = starting.planned();
  if (begun_.insert(planned.key).second && again_) recorder.remove_checkpoints(planned.key);
  const auto identity = planned.identity.whole();
  Libraries libraries;
  for (const auto& plugin : planned.plugins)
    if (libraries.hashes.emplace(plugin.path, plugin.content_hash).second) libraries.paths.push_back(plugin.path);
  return CheckpointPlan{.folder = db::artifact_folder(history_, db::kCheckpoints).string(),
                        .owner = starting.attempt().uid,
                        .fence = starting.attempt().fence,
                        .key = planned.key,
                        .every_s = every_s_,
                        .about = {{"settings", identity.settings},
                                  {"basis", identity.basis},
                                  {"environment", environment_of(environment, planned.trial->spec.train)},
                                  {"processor", processor_of(environment, planned.trial->spec.train.on_cuda())},
                                  {"torch", environment.value("torch", "")}},
                        .libraries = std::move(libraries)};
}

void Checkpoints::heard(AttemptInProgress& trial) {
  const auto& label = trial.planned().trial->label;
  if (const auto resumed = trial.take_resumed()) {
    for (const auto& why : resumed->unusable) note_(fmt::format("warning: {}: a checkpoint is not used: {}", label, why));
    if (const auto other = differences_text(resumed->environments); resumed->step > 0)
      note_(fmt::format("{} goes on after step {} of an earlier attempt{}", label, resumed->step,
                        other.empty() ? "" : ", computed in another environment: " + other));
    else
      note_(fmt::format("{} begins anew", label));
  }
  if (const auto& failed = trial.saved().failed; !failed.empty())
    note_once("unwritten",
              fmt::format("warning: the checkpoint of {} is not on disk: {}. Trials go on; what is cut off goes on "
                          "from an earlier step",
                          label, failed));
}

void Checkpoints::add_left(const AttemptInProgress& ended, std::vector<db::Artifact>& left) const {
  const auto& attempt = ended.attempt();
  if (attempt.outcome == outcome::kDone) return;
  for (const auto& file : checkpoint_files(db::artifact_folder(history_, db::kCheckpoints), attempt.key)) {
    std::error_code failed;
    const auto bytes = static_cast<std::int64_t>(fs::file_size(file.path, failed));
    if (file.owner == attempt.uid && !file.is_part && !failed)
      left.push_back({db::kCheckpoints, bytes, bytes, file.path.filename().string()});
  }
}

void Checkpoints::tidy(const AttemptInProgress& ended, const Running& running, Recorder& recorder) {
  const auto& attempt = ended.attempt();
  if (checkpoint_files(db::artifact_folder(history_, db::kCheckpoints), attempt.key).empty()) return;
  // Perhaps it is the file that is wrong, in a way that its sum does not tell.
  if (attempt.outcome == outcome::kFailed && ended.is_resumed()) recorder.remove_checkpoints(attempt.key);
  std::set<std::string> keys;
  for (const auto& [job, trial] : running)
    if (&trial != &ended) keys.insert(trial.attempt().key);
  if (recorder.tidy_checkpoints(keys).files > 0)
    note_once("removed",
              fmt::format("note: the oldest files in {} are removed when all together exceed {}",
                          db::artifact_folder(history_, db::kCheckpoints).string(), bytes_text(db::kMostCheckpointBytes)));
}

void Checkpoints::ask(const Running& running, Executor& executor, double now_s) {
  if (asked_s_ || !are_written()) return;
  asked_s_ = now_s;
  for (const auto& [job, trial] : running) {
    saves_before_[job] = trial.saves();
    executor.send(SaveCommand{job});
  }
  note_(fmt::format("{} running trial{} written to disk, then ended; a second signal ends them at once", running.size(),
                    running.size() == 1 ? " is" : "s are"));
}

bool Checkpoints::have_answered(const Running& running, double now_s) const {
  if (!asked_s_) return false;
  return now_s - *asked_s_ > kLongestSave_s || std::all_of(running.begin(), running.end(), [&](const auto& entry) {
           return entry.second.saves() > saves_before_.at(entry.first);
         });
}

void Checkpoints::note_once(const char* matter, const std::string& text) {
  if (noted_.insert(matter).second) note_(text + "; later ones are not reported");
}

}  // namespace ablate
