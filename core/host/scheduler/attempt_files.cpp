#include "core/host/scheduler/attempt_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/records/checkpoint_files.h"
#include "core/records/environment_parts.h"
#include "core/records/outcome.h"
#include "core/shared/precisions.h"
#include "core/util/bytes_text.h"
#include "core/util/sha256.h"
#include "db/history/artifacts.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kLongestSave_s = 8;  ///< batch systems kill ten seconds after their signal, or later

/// Returns the kind of processor that computes a trial's numbers: the CPU, or all kinds of GPUs.
std::string processor_of(const json& environment, bool on_cuda) {
  if (!on_cuda) return fmt::format("{} ({})", environment.value("processor", ""), environment.value("cpu_capability", ""));
  std::string all;
  for (const auto& gpu : environment.value("gpus", json::array()).get<std::set<std::string>>())
    all += (all.empty() ? "" : " + ") + gpu;
  return all;
}

/// Returns the parts of an environment that can change a trial's numbers.
json environment_of(const json& environment, const TrainSpec& train) {
  auto parts = number_parts(environment);
  if (!train.on_cuda())
    for (const auto* part : {"gpus", "gpu_driver"}) parts.erase(part);
  if (!precision_info(train.dtype).mixed) parts.erase("kernels_bfloat16");
  return parts;
}

/// Returns the size in bytes, or -1 if the file is missing.
std::int64_t size_of(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  return failed ? -1 : static_cast<std::int64_t>(size);
}

std::string text_of(std::int64_t bytes) { return bytes_text(static_cast<std::uintmax_t>(bytes)); }

/// Removes a file, and unfinished files that an ended process left beside it.
void remove_beginnings(const fs::path& file) {
  const auto begin = file.stem().string();
  std::error_code failed, ignored;
  for (fs::directory_iterator entry(file.parent_path(), failed), end; !failed && entry != end; entry.increment(failed))
    if (entry->path().filename().string().starts_with(begin)) fs::remove(entry->path(), ignored);
}

}  // namespace

std::optional<CheckpointPlan> Checkpoints::plan_of(const AttemptInProgress& starting, const json& environment,
                                                   Recorder& recorder) {
  if (!are_written()) return std::nullopt;
  const auto& planned = starting.planned();
  if (begun_.insert(planned.key).second && again_) recorder.remove_checkpoints(planned.key);
  const auto& identity = planned.identity;
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
    note_once("unwritten", fmt::format("warning: the checkpoint of {} is not on disk: {}. Trials go on; an interrupted trial "
                                       "resumes from an earlier step",
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
  // The checkpoint itself may be wrong, in a way that its checksum does not show.
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
  if (noted_.insert(matter).second) note_(text + "; later messages of this kind are not shown");
}

std::string AttemptFiles::output_of(const db::Attempt& attempt) const {
  return db::artifact_file(history_, db::kOutput, attempt.uid).string();
}

std::string AttemptFiles::weights_of(const db::Attempt& attempt) const {
  return keeps_weights_ ? db::artifact_file(history_, db::kWeights, attempt.uid).string() : "";
}

std::vector<db::Artifact> AttemptFiles::left_by(const AttemptInProgress& ended) {
  std::vector<db::Artifact> left;
  find_output(ended, left);
  if (keeps_weights_) find_weights(ended, left);
  return left;
}

void AttemptFiles::find_output(const AttemptInProgress& ended, std::vector<db::Artifact>& left) {
  const fs::path file = output_of(ended.attempt());
  const auto& label = ended.planned().trial->label;
  if (!ended.unkept().empty())
    note_once("unkept", fmt::format("warning: {1} lacks some of the output of {0}: {2}. Trials go on; the history has the end",
                                    label, file.string(), ended.unkept()));
  const auto bytes = size_of(file);
  if (bytes < 0) return;
  left.push_back({db::kOutput, bytes, std::max(bytes, ended.printed())});
  if (left.back().of_bytes > bytes)
    note_once("cut", fmt::format("note: {} printed {}: {} has the first {}, the history has the end", label,
                                 text_of(left.back().of_bytes), file.string(), text_of(bytes)));
  else
    note_once("long", fmt::format("note: the whole output of {} is in {}: the history has only the end", label, file.string()));
}

void AttemptFiles::find_weights(const AttemptInProgress& ended, std::vector<db::Artifact>& left) {
  const auto& attempt = ended.attempt();
  const fs::path file = weights_of(attempt);
  if (attempt.outcome != outcome::kDone) return remove_beginnings(file);
  if (const auto bytes = size_of(file); bytes >= 0)
    left.push_back({db::kWeights, bytes, bytes});
  else
    note_once("weights",
              fmt::format("warning: the best weights of {} are not kept; the end of its output has the reason: ablate show {}",
                          ended.planned().trial->label, short_digest(attempt.key)));
}

void AttemptFiles::limit(const db::Attempt& recorded, Recorder& recorder) {
  const auto is_output = [](const db::Artifact& one) { return one.kind == db::kOutput; };
  if (std::none_of(recorded.artifacts.begin(), recorded.artifacts.end(), is_output)) return;
  if (const auto gone = recorder.limit_output(); gone.files > 0)
    note_once("removed", fmt::format("note: the oldest files in {} are removed when all together exceed {}",
                                     db::artifact_folder(history_, db::kOutput).string(),
                                     text_of(static_cast<std::int64_t>(db::kMostOutputBytes))));
}

void AttemptFiles::note_once(const char* matter, const std::string& text) {
  if (noted_.insert(matter).second) note_(text + "; later messages of this kind are not shown");
}

}  // namespace ablate
