// The files that running trials are written to, so that they can go on: how they are named, and which lie in a folder.
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

/// OWNER-TRIAL-STEP.checkpoint; while it is being written, with a dot and the writer's process behind.
struct CheckpointFile {
  std::string owner;      ///< who wrote it, by a text that no other writer has: letters and digits, at most 64
  std::string trial;      ///< the first kTrialDigits of its trial's key
  std::int64_t step = 0;  ///< steps done
  bool is_part = false;   ///< it was not, or is not yet, written to its end
  std::filesystem::path path;

  static constexpr std::size_t kTrialDigits = 32;
  static constexpr const char* kEnding = ".checkpoint";
};

inline std::string checkpoint_trial(const std::string& key) { return key.substr(0, CheckpointFile::kTrialDigits); }

inline std::string checkpoint_name(const std::string& owner, const std::string& key, std::int64_t step) {
  return owner + "-" + checkpoint_trial(key) + "-" + std::to_string(step) + CheckpointFile::kEnding;
}

/// Nothing where the name is no checkpoint's, whatever else lies in the folder.
inline std::optional<CheckpointFile> checkpoint_file(const std::filesystem::path& path) {
  constexpr std::string_view kSmall = "0123456789abcdefghijklmnopqrstuvwxyz", kDigits = kSmall.substr(0, 10);
  const auto is_of = [](std::string_view text, std::string_view letters, std::size_t most) {
    return !text.empty() && text.size() <= most && text.find_first_not_of(letters) == std::string_view::npos;
  };
  const std::string whole = path.filename().string();
  const std::string_view name = whole, ending = CheckpointFile::kEnding;
  const auto trial = name.find('-');
  const auto step = trial == std::string_view::npos ? trial : name.find('-', trial + 1);
  const auto end = step == std::string_view::npos ? step : name.find(ending, step);
  if (end == std::string_view::npos) return std::nullopt;
  const auto behind = name.substr(end + ending.size()), steps = name.substr(step + 1, end - step - 1);
  CheckpointFile file{.owner = whole.substr(0, trial),
                      .trial = whole.substr(trial + 1, step - trial - 1),
                      .is_part = !behind.empty(),
                      .path = path};
  if (!is_of(file.owner, kSmall, 64) || !is_of(file.trial, kSmall, CheckpointFile::kTrialDigits)) return std::nullopt;
  if (file.is_part && (behind.front() != '.' || !is_of(behind.substr(1), kDigits, 10))) return std::nullopt;
  if (!is_of(steps, kDigits, 18)) return std::nullopt;
  std::from_chars(steps.data(), steps.data() + steps.size(), file.step);
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
