// A study: the contents of one TOML file, expanded into completely resolved trials.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/records/claim.h"
#include "core/records/role.h"
#include "core/records/study_match.h"
#include "core/registry/catalog.h"
#include "core/shared/trial_spec.h"
#include "core/util/error.h"
#include "core/util/flatten.h"  // paths in tables and labels

namespace ablate {

/// Position of a value in its source. Line and column count from 1; 0 if unknown. For an override the file is "--set", and the
/// line is the number of the override, from 1.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

/// The sections of a trial, in their usual order in a study.
enum class TrialSection { kTask, kModel, kAttention, kTrain };
inline constexpr std::size_t kTrialSections = 4;
inline constexpr std::array<TrialSection, kTrialSections> kAllSections = {TrialSection::kTask, TrialSection::kModel,
                                                                          TrialSection::kAttention, TrialSection::kTrain};

inline const char* to_text(TrialSection section) {
  constexpr std::array<const char*, kTrialSections> kNames = {"task", "model", "attention", "train"};
  return kNames[static_cast<std::size_t>(section)];
}

/// Locations of a trial's values, by path: "attention.rates", "attention.plugin". Has only values that the study sets. Copies
/// share the data.
class WrittenAt {
 public:
  using OfSection = std::map<std::string, Location>;

  void put(TrialSection section, std::shared_ptr<const OfSection> locations) {
    sections_[static_cast<std::size_t>(section)] = std::move(locations);
  }

  /// Returns null if the study does not set the path.
  const Location* find(const std::string& path) const {
    for (const auto& section : sections_)
      if (section)
        if (const auto found = section->find(path); found != section->end()) return &found->second;
    return nullptr;
  }

  /// Returns the location of the first path that the study sets, or `otherwise` if it sets none.
  template <class Paths>
  Location first_of(const Paths& paths, const Location& otherwise = {}) const {
    for (const auto& path : paths)
      if (const auto* found = find(path)) return *found;
    return otherwise;
  }

  std::size_t size() const {
    std::size_t count = 0;
    for (const auto& section : sections_) count += section ? section->size() : 0;
    return count;
  }

 private:
  std::array<std::shared_ptr<const OfSection>, kTrialSections> sections_;
};

/// Numbers of a trial's sections in its study. Trials with the same number have the same section, from the same lines.
class SectionNumbers {
 public:
  int& operator[](TrialSection section) { return numbers_[static_cast<std::size_t>(section)]; }
  int operator[](TrialSection section) const { return numbers_[static_cast<std::size_t>(section)]; }
  auto operator<=>(const SectionNumbers&) const = default;

  /// Returns the numbers of these sections, and 0 for the others.
  SectionNumbers of(const std::vector<TrialSection>& sections) const {
    SectionNumbers some;
    for (const auto section : sections) some[section] = (*this)[section];
    return some;
  }

 private:
  std::array<int, kTrialSections> numbers_{};
};

/// Values made from some sections of a trial, each made once for all trials that share these sections.
template <class Made>
class PerSections {
 public:
  explicit PerSections(std::vector<TrialSection> sections) : sections_(std::move(sections)) {}

  /// Returns the value, made by `make` if it does not exist yet.
  template <class Make>
  const Made& of(const SectionNumbers& trial, Make&& make) {
    const auto own = trial.of(sections_);
    const auto found = made_.find(own);
    return found != made_.end() ? found->second : made_.emplace(own, make()).first->second;
  }

 private:
  std::vector<TrialSection> sections_;
  std::map<SectionNumbers, Made> made_;
};

struct Diagnostic {
  Location where;
  std::string message;  ///< found, expected, remedy
  ExitCode code = ExitCode::kUsage;
};

/// All errors of a study at once. what() has one "file:line:column: message" per line. code() is kPlugin if an error is about a
/// plugin that cannot be loaded.
class ConfigError : public Error {
 public:
  explicit ConfigError(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

inline constexpr int kMostBeyond = 4;  ///< largest number of values that [grid.tune] widen adds to a cell

/// One point of the grid, with every default filled in.
struct Trial {
  TrialSpec spec;
  /// Returns the trial's canonical document: {"task": {"plugin": "image", ...}, "model": {...}, "attention": {"plugin": ...,
  /// ...}, "train": {...}, "seed": 1}. A parameter that is a plugin is such a section itself: {"plugin": "compressed", "rate":
  /// "1/4", "compression": {"plugin": "segment-mean"}}. A list of plugins is an array of sections. "attention" is an array if
  /// layers differ: layer i takes entry i modulo the array's size, which divides model.layers. Rates are texts, "1/8". Keys
  /// are sorted, as in nlohmann::json.
  nlohmann::json resolved() const { return to_json(spec); }
  WrittenAt where;
  std::map<std::string, std::string> files;  ///< SHA-256 of files, by the path of the value that names the file
  /// Differences from the study's other trials, by paths of flatten(): "attention=adamra attention.rates=1/2,1/4 seed=1". Never
  /// empty, and unique in a study.
  std::string label;
  /// Set if the study tunes ([grid.tune]): number shared by trials that differ only in tuned values and seeds.
  std::optional<std::int64_t> cell = {};
  std::int64_t value = 0;  ///< number of the tuned value in the cell: equal for trials that differ only in seeds
  /// 0 for a value that the study writes. k: the k-th value beyond the largest, -k: beyond the smallest. `widen` of [grid.tune]
  /// adds such a value to a cell only when the previous value on that side is the best so far.
  int beyond = 0;
  Role role = Role::kReported;
  SectionNumbers sections = {};
};

/// Returns the first trial with each combination of some sections. Other trials with the same sections need no second check.
/// Throws Interrupted.
std::vector<const Trial*> first_of_each(const std::vector<Trial>& trials, const std::vector<TrialSection>& sections);

/// A paper's number for a trial: shown beside the trial's own results, never in place of them.
struct Published {
  std::size_t trial;   ///< index into Study::trials
  std::string metric;  ///< "test/accuracy"
  double value;        ///< in the unit of the source
  std::string source;
};

/// A table that a study names ([table.NAME]), as options of `ablate table`.
struct NamedTable {
  struct Asked {
    std::string option;
    std::vector<std::string> values = {};
    std::vector<int> each = {};            ///< number of values in each item, in order: 2 for a pair
    std::vector<Location> locations = {};  ///< location of each value
    bool is_set = false;                   ///< true if the value is `true`, without other values
    Location key = {}, where = {};
  };
  std::string name;
  Location where = {};
  std::vector<Asked> asked = {};
};

/// A setting whose width was solved for ([grid.match]). All its trials have this width.
struct MatchedSetting {
  std::string setting;                                ///< parts set by the grid: "attention=adamra"
  std::int64_t width = 0, number = 0, reference = 0;  ///< number: of parameters or state bytes; reference: number to match

  bool operator==(const MatchedSetting&) const = default;
  /// Returns the number's relative difference from the reference.
  double off() const { return static_cast<double>(number - reference) / static_cast<double>(reference); }
  bool matches() const { return is_matched(number, reference); }
};

/// Returns "model.hidden = 37, 9812 parameters beside 9840 (-0.3 %)", with ", the nearest" added if the width does not match.
std::string width_text(const MatchedSetting& one, const StudyMatch& match);

struct Study {
  std::string name;           ///< [experiment] name; default: the file's stem
  std::string description;    ///< [experiment] description
  double timeout_s = 0;       ///< [experiment] timeout: time limit of a trial; 0: none
  double checkpoint_s = 0;    ///< [experiment] checkpoint: seconds between checkpoints of a running trial; 0: none
  bool keep_weights = false;  ///< [experiment] keep_weights: stores each trial's best weights beside the history
  std::filesystem::path file;
  std::string text;  ///< the file as read
  std::vector<std::string> overrides;
  std::vector<Trial> trials;
  std::vector<std::string> tuned = {};  ///< the paths of [grid.tune]
  /// Seeds of [grid.tune]. If empty, values are compared on the reported seeds. Otherwise the grid first runs the trials that
  /// tune, then the reported trials at each cell's chosen value (core/host/launch/dev_choice.h).
  std::vector<std::uint64_t> tuning_seeds = {};
  bool widens = false;  ///< [grid.tune] widen: values are added beyond an edge until the best value is not at an edge
  Location tuning_seeds_at = {};
  /// [grid.longer] factor, by which trials of Role::kLonger multiply the steps. 0: the study has no such trials.
  std::int64_t longer_factor = 0;
  Location longer_at = {};
  /// [experiment] smallest: the smallest difference of the main metric that matters in the study, in its unit; 0: none.
  double smallest = 0;
  std::optional<StudyMatch> match = {};      ///< [grid.match]
  std::vector<MatchedSetting> matched = {};  ///< in the grid's order, without the reference
  std::vector<Published> published;          ///< at most one for each trial and metric
  std::vector<NamedTable> tables = {};
  std::vector<Claim> claims = {};  ///< [[claim]]
  Location claims_at = {};         ///< location of the first claim

  /// Returns the role of the trials on which dev compares tuned values. They run before all others.
  Role comparing_role() const { return tuning_seeds.empty() ? Role::kReported : Role::kTuning; }
  /// True if dev chooses the parameter's value.
  /// @param path as in the study or in the history
  bool tunes(const std::string& path) const {
    const auto is_it = [&](const std::string& one) { return history_path(one) == history_path(path); };
    return std::any_of(tuned.begin(), tuned.end(), is_it);
  }
  /// True if some trials run only at the value that dev chooses.
  bool waits_for_dev() const { return !tuned.empty() && (!tuning_seeds.empty() || longer_factor > 0 || widens); }
};

/// Returns the device that `train.device = "auto"` means on this machine: "cuda" if one can be opened, else "cpu".
using AutoDevice = std::function<std::string()>;

/// Sizes of a model before training, as trials record them (core/shared/sizes_job.h).
struct ModelSizes {
  std::int64_t parameters = 0, state_bytes = 0;
  std::string refused = {};  ///< why the model is impossible; "" if it is possible
};

/// Returns the sizes of the models, in order. All trials have the same task. Throws Error if the task cannot describe itself.
using CountSizes = std::function<std::vector<ModelSizes>(const std::vector<Trial>& trials)>;

/// Loads a study. Presets ([experiment] preset) are in the folder presets beside the study, or among ablate's own presets.
/// Throws ConfigError with all errors.
/// @param overrides "train.steps=200": a TOML value, or a bare word for a text; replaces base values and axes of the file
/// @param auto_device empty: "auto" is "cpu"
/// @param count empty: a study with [grid.match] is refused
Study load_study(const std::filesystem::path& file, const std::vector<std::string>& overrides, const Catalog& catalog,
                 const AutoDevice& auto_device = {}, const CountSizes& count = {});

}  // namespace ablate
