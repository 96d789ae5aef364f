#include "db/history/artifacts.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/records/checkpoint_files.h"
#include "core/util/real_path.h"
#include "db/history/reader.h"
#include "db/history/schema.h"
#include "db/history/trial_writer.h"

namespace ablate::db {
namespace {

namespace fs = std::filesystem;
using SQLite::Statement;

constexpr std::size_t kDigits = 32;  ///< length of a uid

struct ArtifactKind {
  const char *name, *ending;
};
constexpr ArtifactKind kArtifactKinds[] = {
    {kOutput, ".txt"}, {kWeights, ".safetensors"}, {kCheckpoints, CheckpointFile::kEnding}};

std::string file_name(const std::string& kind, const std::string& uid) {
  const auto* const found = std::find_if(std::begin(kArtifactKinds), std::end(kArtifactKinds),
                                         [&](const ArtifactKind& one) { return one.name == kind; });
  return found == std::end(kArtifactKinds) || kind == kCheckpoints || bytes_of_uid(uid).empty() ? "" : uid + found->ending;
}

/// File that ablate wrote, in the folder of its kind.
struct Found {
  std::string name;
  std::uintmax_t bytes = 0;
  fs::file_time_type changed;
};

std::vector<Found> found_in(const fs::path& history, const std::string& kind) {
  std::vector<Found> found;
  std::error_code failed;
  for (fs::directory_iterator entry(artifact_folder(history, kind), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code gone;
    Found one{entry->path().filename().string(), entry->file_size(gone), {}};
    if (!gone) one.changed = entry->last_write_time(gone);
    if (!gone && entry->is_regular_file(gone) && ArtifactFile{kind, one.name}.is_ours()) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace

fs::path artifact_folder(const fs::path& history, const std::string& kind) { return real_path(history).string() + "." + kind; }

fs::path artifact_file(const fs::path& history, const std::string& kind, const std::string& uid) {
  const auto name = file_name(kind, uid);
  return name.empty() ? fs::path() : artifact_folder(history, kind) / name;
}

bool ArtifactFile::is_ours() const {
  if (kind == kCheckpoints) return name.find('/') == std::string::npos && checkpoint_file(name).has_value();
  return name.size() > kDigits && file_name(kind, name.substr(0, kDigits)) == name;
}

std::vector<ArtifactFile> oldest_output(const fs::path& history, std::uintmax_t most_bytes) {
  auto all = found_in(history, kOutput);
  std::uintmax_t bytes = 0;
  for (const auto& one : all) bytes += one.bytes;
  if (bytes <= most_bytes) return {};
  std::sort(all.begin(), all.end(),
            [](const Found& a, const Found& b) { return std::tie(a.changed, a.name) < std::tie(b.changed, b.name); });
  std::vector<ArtifactFile> oldest;
  for (auto one = all.begin(); one != all.end() && bytes > most_bytes; ++one) {
    bytes -= one->bytes;
    oldest.push_back({kOutput, one->name});
  }
  return oldest;
}

KeptFiles files_there(const fs::path& history, const std::vector<ArtifactFile>& files) {
  KeptFiles there;
  for (const auto& one : files) {
    std::error_code failed;
    const auto bytes = one.is_ours() ? fs::file_size(one.in(history), failed) : 0;
    if (one.is_ours() && !failed) ++there.files, there.bytes += bytes;
  }
  return there;
}

KeptFiles remove_files(const fs::path& history, const std::vector<ArtifactFile>& files) {
  KeptFiles removed;
  std::set<fs::path> folders;
  for (const auto& one : files) {
    if (!one.is_ours()) continue;
    std::error_code failed;
    const auto bytes = fs::file_size(one.in(history), failed);
    if (failed || !fs::remove(one.in(history), failed)) continue;
    ++removed.files, removed.bytes += bytes;
    folders.insert(artifact_folder(history, one.kind));
  }
  for (const auto& folder : folders) rmdir(folder.c_str());  // removes only empty folders
  return removed;
}

KeptFiles copy_files(const fs::path& from, const fs::path& to, const std::vector<ArtifactFile>& files) {
  KeptFiles copied;
  for (const auto& one : files) {
    std::error_code failed;
    if (!one.is_ours() || fs::exists(one.in(to), failed) || !fs::is_regular_file(one.in(from), failed)) continue;
    fs::create_directories(artifact_folder(to, one.kind), failed);
    const fs::path part = one.in(to).string() + ".part";
    const auto when = fs::last_write_time(one.in(from), failed);
    fs::copy_file(one.in(from), part, fs::copy_options::overwrite_existing, failed);
    if (!failed) fs::rename(part, one.in(to), failed);
    if (failed) {
      std::error_code none;
      fs::remove(part, none);
      continue;
    }
    fs::last_write_time(one.in(to), when, failed);  // the oldest file stays the oldest
    ++copied.files, copied.bytes += fs::file_size(one.in(to), failed);
  }
  return copied;
}

std::vector<FilesOfKind> kept_files(const fs::path& history) {
  const Reader reader(history);
  return guarded(history, [&] {
    std::vector<FilesOfKind> kinds;
    for (const auto& [kind, ending] : kArtifactKinds) {
      FilesOfKind of_kind;
      of_kind.kind = kind;
      Statement known(reader.database(), "SELECT 1 FROM artifact WHERE kind = ? AND name = ?");
      for (const auto& one : found_in(history, kind)) {
        ++of_kind.files, of_kind.bytes += one.bytes;
        SQLite::bind(known, kind, one.name);
        if (!known.executeStep()) of_kind.strays.push_back(artifact_folder(history, kind) / one.name);
        known.reset();
      }
      std::sort(of_kind.strays.begin(), of_kind.strays.end());
      if (of_kind.files > 0) kinds.push_back(std::move(of_kind));
    }
    return kinds;
  });
}

std::string bytes_of_uid(const std::string& uid) {
  if (uid.size() != kDigits || uid.find_first_not_of("0123456789abcdef") != std::string::npos) return "";
  std::string bytes;
  for (std::size_t i = 0; i < kDigits; i += 2) bytes += static_cast<char>(std::stoi(uid.substr(i, 2), nullptr, 16));
  return bytes;
}

void put_artifacts(SQLite::Database& database, std::int64_t attempt, const Attempt& of) {
  Statement put(database, "INSERT INTO artifact (kind, name, attempt, bytes, of_bytes) VALUES (?, ?, ?, ?, ?)");
  for (const auto& [kind, bytes, of_bytes, name] : of.artifacts)
    execute(put, kind, name.empty() ? file_name(kind, of.uid) : name, attempt, bytes, of_bytes);
}

std::vector<ArtifactFile> artifacts_of(SQLite::Database& database, const std::string& attempts) {
  Statement ask(database, "SELECT kind, name, attempt, bytes, of_bytes, coalesce(removed_us, 0) FROM artifact WHERE attempt " +
                              attempts + " ORDER BY kind, name");
  std::vector<ArtifactFile> files;
  while (ask.executeStep())
    files.push_back({ask.getColumn(0).getString(), ask.getColumn(1).getString(), ask.getColumn(2).getInt64(),
                     ask.getColumn(3).getInt64(), ask.getColumn(4).getInt64(), ask.getColumn(5).getInt64()});
  return files;
}

std::set<std::string> keys_with_weights(SQLite::Database& database, const std::map<std::string, std::int64_t>& done) {
  Statement ask(database,
                "SELECT 1 FROM attempt a JOIN artifact f ON f.attempt = a.id AND f.kind = 'weights' AND f.removed_us IS NULL "
                "WHERE a.trial = (SELECT trial FROM attempt WHERE id = ?)");
  std::set<std::string> found;
  for (const auto& [key, attempt] : done) {
    ask.bind(1, attempt);
    if (ask.executeStep()) found.insert(key);
    ask.reset();
  }
  return found;
}

void mark_removed(SQLite::Database& database, const std::vector<ArtifactFile>& files) {
  Statement put(database,
                "UPDATE artifact SET removed_us = CAST((julianday('now') - 2440587.5) * 86400e6 AS INTEGER) "
                "WHERE kind = ? AND name = ?");
  for (const auto& one : files) execute(put, one.kind, one.name);
}

}  // namespace ablate::db
