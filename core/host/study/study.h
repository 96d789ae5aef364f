// A study: what one TOML file asks for, expanded into trials that are resolved completely.
#pragma once

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

#include "core/records/study_match.h"
#include "core/registry/catalog.h"
#include "core/shared/trial_spec.h"
#include "core/util/error.h"
#include "core/util/flatten.h"  // the paths that tables and labels speak of

namespace ablate {

/// Where a value was written. Line and column count from 1; 0 where there is none. For an override the file is "--set" and the
/// line says which one, from 1.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

/// The sections of a trial, in the order in which a study is usually written.
enum class TrialSection { kTask, kModel, kAttention, kTrain };
inline constexpr std::size_t kTrialSections = 4;
inline constexpr std::array<TrialSection, kTrialSections> kAllSections = {TrialSection::kTask, TrialSection::kModel,
                                                                          TrialSection::kAttention, TrialSection::kTrain};

inline const char* to_text(TrialSection section) {
  constexpr std::array<const char*, kTrialSections> kNames = {"task", "model", "attention", "train"};
  return kNames[static_cast<std::size_t>(section)];
}

/// Where a trial's values were written, by path: "attention.rates", "attention.plugin". Those that the study does not set are
/// none of them. Copies share it.
class WrittenAt {
 public:
  using OfSection = std::map<std::string, Location>;

  void put(TrialSection section, std::shared_ptr<const OfSection> locations) {
    sections_[static_cast<std::size_t>(section)] = std::move(locations);
  }

  /// nullptr where the study does not set the path.
  const Location* find(const std::string& path) const {
    for (const auto& section : sections_)
      if (section)
        if (const auto found = section->find(path); found != section->end()) return &found->second;
    return nullptr;
  }

  /// Of the first of some paths that the study sets. @param otherwise where it sets none
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

/// Numbers of a trial's sections within its study. Trials with the same number have the same section, written on the same
/// lines.
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

/// What is made of some sections of a trial, made once for all trials that share them.
template <class Made>
class PerSections {
 public:
  explicit PerSections(std::vector<TrialSection> sections) : sections_(std::move(sections)) {}

  /// @param make called if the value does not exist yet
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

/// Everything that is wrong with a study, all at once. what(): one "file:line:column: message" a line. code(): kPlugin where
/// one of them is a plugin that cannot be loaded.
class ConfigError : public Error {
 public:
  explicit ConfigError(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// One point of the grid, every default filled in.
struct Trial {
  TrialSpec spec;
  /// Its document, canonical, made anew each time: {"task": {"plugin": "image", ...}, "model": {...}, "attention": {"plugin":
  /// ..., ...}, "train":
  /// {...}, "seed": 1}. A parameter that is a plugin is such a section itself: {"plugin": "compressed", "rate": "1/4",
  /// "compression":
  /// {"plugin": "segment-mean"}}, a list of plugins an array of them. "attention" is an array where layers differ: layer i
  /// takes entry i modulo their count, which divides model.layers. Rates as "1/8"; keys sorted, as nlohmann::json keeps them.
  nlohmann::json resolved() const { return to_json(spec); }
  WrittenAt where;
  std::map<std::string, std::string> files;  ///< SHA-256 of the files that values name, by path
  /// What tells it from the study's other trials, in the paths of flatten(): "attention=adamra attention.rates=1/2,1/4 seed=1".
  /// Never empty, and different for each trial of a study.
  std::string label;
  /// Of a study that tunes ([grid.tune]): the trials that differ in tuned values and seeds alone have one number.
  std::optional<std::int64_t> cell = {};
  std::int64_t value = 0;  ///< of the cell: trials that differ in seeds alone have one number
  bool tunes = false;      ///< on a seed of [grid.tune]: values are compared by it, and it is not reported
  SectionNumbers sections = {};
};

/// Returns the first trial with each combination of some sections. Other trials with the same sections need no second look.
/// Throws Interrupted.
std::vector<const Trial*> first_of_each(const std::vector<Trial>& trials, const std::vector<TrialSection>& sections);

/// What a paper reports for a trial: shown beside the trial's own results, never in place of them.
struct Published {
  std::size_t trial;   ///< index into Study::trials
  std::string metric;  ///< "test/accuracy"
  double value;        ///< in the unit of the source
  std::string source;
};

/// A table that a study names ([table.NAME]): what it is asked for, by the names of `ablate table`'s options.
struct NamedTable {
  struct Asked {
    std::string option;
    std::vector<std::string> values = {};
    std::vector<int> each = {};            ///< how many of the values stand together, in their order: 2 of a pair
    std::vector<Location> locations = {};  ///< of each value
    bool is_set = false;                   ///< it is `true`, and has no values
    Location key = {}, where = {};
  };
  std::string name;
  Location where = {};
  std::vector<Asked> asked = {};
};

/// A setting whose width was solved for ([grid.match]): all of its trials have it.
struct MatchedSetting {
  std::string setting;                                ///< what the grid makes of it: "attention=adamra"
  std::int64_t width = 0, number = 0, reference = 0;  ///< number: of what is matched; reference: what it was to be

  bool operator==(const MatchedSetting&) const = default;
  /// How much more it has, of the reference's.
  double off() const { return static_cast<double>(number - reference) / static_cast<double>(reference); }
  bool matches() const { return is_matched(number, reference); }
};

/// "model.hidden = 37, 9812 parameters beside 9840 (-0.3 %)", and that it is the nearest where it does not match.
std::string width_text(const MatchedSetting& one, const StudyMatch& match);

struct Study {
  std::string name;           ///< [experiment] name; default: the file's stem
  std::string description;    ///< [experiment] description
  double timeout_s = 0;       ///< [experiment] timeout: a trial that runs longer is ended; 0: none
  double checkpoint_s = 0;    ///< [experiment] checkpoint: a running trial is written to disk so often; 0: never
  bool keep_weights = false;  ///< [experiment] keep_weights: the best ones of each trial, beside the history
  std::filesystem::path file;
  std::string text;  ///< the file as read
  std::vector<std::string> overrides;
  std::vector<Trial> trials;
  std::vector<std::string> tuned = {};  ///< the paths of [grid.tune]
  /// [grid.tune] seeds; empty: values are compared on the seeds that are reported. Else there are two phases: trials that tune,
  /// and those of other seeds, of which each cell's at the chosen value alone are run (core/host/launch/planned_study.h).
  std::vector<std::uint64_t> tuning_seeds = {};
  Location tuning_seeds_at = {};
  std::optional<StudyMatch> match = {};      ///< [grid.match]
  std::vector<MatchedSetting> matched = {};  ///< in the grid's order; the reference is none of them
  std::vector<Published> published;          ///< at most one for a trial and a metric
  std::vector<NamedTable> tables = {};
};

/// The kind of device that `train.device = "auto"` means on this machine: "cuda" where one can be opened, else "cpu".
using AutoDevice = std::function<std::string()>;

/// What a model has before it is trained, as trials record it (core/shared/sizes_job.h).
struct ModelSizes {
  std::int64_t parameters = 0, state_bytes = 0;
  std::string refused = {};  ///< why there is no such model; "": there is
};

/// Of trials of one task, in their order. Throws Error where the task cannot say what it is.
using CountSizes = std::function<std::vector<ModelSizes>(const std::vector<Trial>& trials)>;

/// Presets ([experiment] preset) are looked for in the folder presets beside the study, then among those that came with ablate.
/// @param overrides "train.steps=200": values as in TOML, or a bare word for a text; they replace the file's base values and
/// grid axes. @param auto_device none: "auto" is "cpu". @param count none: a study with [grid.match] is refused. Throws
/// ConfigError with everything that is wrong.
Study load_study(const std::filesystem::path& file, const std::vector<std::string>& overrides, const Catalog& catalog,
                 const AutoDevice& auto_device = {}, const CountSizes& count = {});

}  // namespace ablate
