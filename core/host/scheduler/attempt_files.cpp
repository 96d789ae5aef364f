#include "core/host/scheduler/attempt_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "core/records/outcome.h"
#include "core/util/bytes_text.h"
#include "db/history/artifacts.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

/// @return bytes; -1: there is no such file
std::int64_t size_of(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  return failed ? -1 : static_cast<std::int64_t>(size);
}

std::string text_of(std::int64_t bytes) { return bytes_text(static_cast<std::uintmax_t>(bytes)); }

/// With what a process that was ended while it wrote has left beside it.
void remove_beginnings(const fs::path& file) {
  const auto begin = file.stem().string();
  std::error_code failed, ignored;
  for (fs::directory_iterator entry(file.parent_path(), failed), end; !failed && entry != end; entry.increment(failed))
    if (entry->path().filename().string().starts_with(begin)) fs::remove(entry->path(), ignored);
}

}  // namespace

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
    note_once("unkept", fmt::format("warning: the output of {} is not whole in {}: {}. Trials go on; the history has the end",
                                    label, file.string(), ended.unkept()));
  const auto bytes = size_of(file);
  if (bytes < 0) return;
  left.push_back({db::kOutput, bytes, std::max(bytes, ended.printed())});
  if (left.back().of_bytes > bytes)
    note_once("cut", fmt::format("note: {} printed {}: {} has the first {}, the history the end", label,
                                 text_of(left.back().of_bytes), file.string(), text_of(bytes)));
  else
    note_once("long", fmt::format("note: all that {} printed is in {}: the history has only the end", label, file.string()));
}

void AttemptFiles::find_weights(const AttemptInProgress& ended, std::vector<db::Artifact>& left) {
  const auto& attempt = ended.attempt();
  const fs::path file = weights_of(attempt);
  if (attempt.outcome != outcome::kDone) return remove_beginnings(file);
  if (const auto bytes = size_of(file); bytes >= 0)
    left.push_back({db::kWeights, bytes, bytes});
  else
    note_once("weights",
              fmt::format("warning: the best weights of {} are not kept; the end of its output says why: ablate show {}",
                          ended.planned().trial->label, attempt.key.substr(0, 12)));
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
  if (noted_.insert(matter).second) note_(text + "; later ones are not reported");
}

}  // namespace ablate
