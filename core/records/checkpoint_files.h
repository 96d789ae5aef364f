// Checkpoints of running trials: their file names, and the list of the checkpoints in a folder.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ablate {

/// Checkpoint with the name OWNER-FENCE-TRIAL-STEP.checkpoint. If the file is unfinished, a dot and digits follow.
struct CheckpointFile {
  std::string owner;       ///< unique text of the writer: lower-case letters and digits, at most 64
  std::int64_t fence = 0;  ///< number of the writer's lease; the later of two writers has the greater fence
  std::string trial;       ///< the first kTrialDigits digits of the trial's key
  std::int64_t step = 0;   ///< steps done
  bool is_part = false;    ///< true if the file is not fully written
  std::filesystem::path path;

  static constexpr std::size_t kTrialDigits = 32;
  static constexpr const char* kEnding = ".checkpoint";
};

inline std::string checkpoint_trial(const std::string& key) { return key.substr(0, CheckpointFile::kTrialDigits); }

inline std::string checkpoint_name(const std::string& owner, std::int64_t fence, const std::string& key, std::int64_t step) {
  return owner + "-" + std::to_string(fence) + "-" + checkpoint_trial(key) + "-" + std::to_string(step) +
         CheckpointFile::kEnding;
}

/// Returns nullopt if the file's name is not the name of a checkpoint. A folder may also contain other files.
inline std::optional<CheckpointFile> checkpoint_file(const std::filesystem::path& path) {
  constexpr std::string_view kSmall = "0123456789abcdefghijklmnopqrstuvwxyz", kDigits = kSmall.substr(0, 10);
  const std::string whole = path.filename().string();
  std::string_view left = whole;
  const auto part = [&left](char end) {
    const auto at = left.find(end);
    const auto found = left.substr(0, at);
    left.remove_prefix(at == std::string_view::npos ? left.size() : at + 1);
    return found;
  };
  const auto is_of = [](std::string_view text, std::string_view letters, std::size_t most) {
    return !text.empty() && text.size() <= most && text.find_first_not_of(letters) == std::string_view::npos;
  };
  const auto owner = part('-'), fence = part('-'), trial = part('-'), step = part('.'), ending = part('.');
  const bool is_part = whole.ends_with('.') || !left.empty();
  if (!is_of(owner, kSmall, 64) || !is_of(trial, kSmall, CheckpointFile::kTrialDigits) || !is_of(fence, kDigits, 18) ||
      !is_of(step, kDigits, 18) || ending != CheckpointFile::kEnding + 1 || (is_part && !is_of(left, kDigits, 10)))
    return std::nullopt;
  CheckpointFile file{.owner = std::string(owner), .trial = std::string(trial), .is_part = is_part, .path = path};
  std::from_chars(fence.data(), fence.data() + fence.size(), file.fence);
  std::from_chars(step.data(), step.data() + step.size(), file.step);
  return file;
}

/// Lists the checkpoints of one trial in a folder, or of all trials if `key` is "". Includes unfinished files. The list is
/// sorted by trial, then from the most steps to the fewest. It is empty if the folder cannot be read.
inline std::vector<CheckpointFile> checkpoint_files(const std::filesystem::path& folder, const std::string& key = "") {
  std::vector<CheckpointFile> files;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    if (auto file = checkpoint_file(entry->path()); file && (key.empty() || file->trial == checkpoint_trial(key)))
      files.push_back(std::move(*file));
  std::sort(files.begin(), files.end(), [](const CheckpointFile& a, const CheckpointFile& b) {
    return std::tie(a.trial, b.step, a.path) < std::tie(b.trial, a.step, b.path);
  });
  return files;
}

}  // namespace ablate
