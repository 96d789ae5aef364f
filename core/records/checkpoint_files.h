// Checkpoints of running trials: how their files are named, and which lie in a folder.
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

/// OWNER-FENCE-TRIAL-STEP.checkpoint; while it is being written, a dot and digits follow.
struct CheckpointFile {
  std::string owner;       ///< who wrote it, by a text that no other writer has: letters and digits, at most 64
  std::int64_t fence = 0;  ///< of the lease that the writer ran under: of two writers the one with the greater fence came later
  std::string trial;       ///< the first kTrialDigits of its trial's key
  std::int64_t step = 0;   ///< steps done
  bool is_part = false;    ///< it was not, or is not yet, written to its end
  std::filesystem::path path;

  static constexpr std::size_t kTrialDigits = 32;
  static constexpr const char* kEnding = ".checkpoint";
};

inline std::string checkpoint_trial(const std::string& key) { return key.substr(0, CheckpointFile::kTrialDigits); }

inline std::string checkpoint_name(const std::string& owner, std::int64_t fence, const std::string& key, std::int64_t step) {
  return owner + "-" + std::to_string(fence) + "-" + checkpoint_trial(key) + "-" + std::to_string(step) +
         CheckpointFile::kEnding;
}

/// Nothing where the name is no checkpoint's, whatever else lies in the folder.
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

/// Those of a folder, of one trial or of all ("", then by trial), the most steps first, parts included. None where it cannot be
/// read.
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
