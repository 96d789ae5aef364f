// Turns a point of the grid into a trial, with every default filled in.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/host/study/point.h"

namespace ablate {

class Resolver {
 public:
  Resolver(const Draft& draft, const Schema& schema, Diagnostics& diagnostics);

  /// Returns nullopt, and adds diagnostics, if a value is wrong. The label is left empty.
  std::optional<Trial> resolve(const Point& point);

  /// Returns a resolved trial with `factor` times the steps, steps of warm-up and steps between evaluations, as Role::kLonger.
  Trial longer(const Trial& trial, std::int64_t factor);

  /// Returns numbers that are equal for sections with equal contents, wherever they were written. A file counts by its content.
  /// @param trial result of resolve()
  SectionNumbers contents(const Trial& trial) const;

  /// Reports base values of the study that no trial so far has read (ParameterInfo::when). Skips a preset's values, because a
  /// preset also serves other studies.
  void report_unread() const;

 private:
  /// A plugin whose promises are compared with the trial's needs, and its path.
  using Promising = std::pair<const PluginInfo*, std::string>;

  /// A section as set by some alternatives of the grid.
  struct Section {
    std::variant<PluginSpec, ModelSpec, PluginGroup, TrainSpec> said;  ///< in the order of TrialSection
    std::shared_ptr<const WrittenAt::OfSection> where;
    std::map<std::string, std::string> files;
    std::vector<Promising> promising;  ///< parts before the plugins that contain them
    int number = 0;                    ///< set if the section has no errors
    bool ok = true;
  };

  /// @param faulty storage for a section with errors, which is not cached, because each point must report its errors
  const Section& section_at(TrialSection section, Section& faulty);
  Section make(TrialSection section, nlohmann::json& document);
  void number(TrialSection section, const nlohmann::json& document, Section& made);
  /// True if the sections of a trial have no errors and are compatible. Reports incompatible sections.
  bool fit(const Trial& trial, const std::array<const Section*, kTrialSections>& sections);

  /// The next five return the resolved JSON, or null if there is none. `owner`: plugin that has the section as a parameter.
  nlohmann::json section(const std::string& path, const PluginInfo* plugin);
  nlohmann::json plugin_section(const std::string& path, Kind kind, const PluginInfo* owner);
  nlohmann::json list(const std::string& path, const ParameterInfo& parameter, const PluginInfo* owner);
  nlohmann::json entry_sections(const std::string& path, const std::vector<int>& numbers, Kind kind, const PluginInfo* owner);
  nlohmann::json layers();

  std::vector<int> entries(const std::string& path);
  void add_value(const std::string& path, const ParameterInfo& parameter, const PluginInfo* plugin, nlohmann::json& object);
  void add_file(const std::string& path, const std::string& file, const PluginInfo* plugin);
  void refuse_unused(const std::string& path, const PluginInfo* plugin);
  void refuse_unread(const std::string& path, const PluginInfo* plugin, const nlohmann::json& object);
  bool check_plugin(const std::string& path, Kind kind, const PluginInfo* owner);
  void report_missing(const std::string& path, Kind kind, const PluginInfo* owner);
  Location location_of(const std::string& path) const;
  void report(const Location& where, const std::string& message, ExitCode code = ExitCode::kUsage);

  const Draft& draft_;
  const Schema& schema_;
  Diagnostics& diagnostics_;
  const Point* point_ = nullptr;                ///< current point
  WrittenAt::OfSection where_;                  ///< locations in the current section
  std::map<std::string, std::string> files_;    ///< digests in the current section
  std::vector<Promising> promising_;            ///< plugins of the current section
  bool ok_ = true;                              ///< true unless the current section has an error
  std::set<std::string> wrong_;                 ///< paths of values of the point that are invalid
  std::map<std::string, std::string> digests_;  ///< by file, each read once
  std::map<std::string, Diagnostic> unread_;    ///< by a base value's path
  std::set<std::string> read_;                  ///< paths of base values
  using Alternatives = std::vector<std::size_t>;
  std::array<Alternatives, kTrialSections> groups_;                   ///< groups of the draft that set something in the section
  std::array<std::map<Alternatives, Section>, kTrialSections> made_;  ///< sections without errors, by alternatives of groups_
  std::array<std::vector<int>, kTrialSections> contents_;             ///< number of the content, by the section's number
  std::unordered_map<std::string, int> known_contents_;               ///< number of the content, by its digest
  std::map<int, int> longer_;  ///< number of a train section with more steps, by the number of the section that it repeats
  PerSections<bool> fits_{{TrialSection::kModel, TrialSection::kAttention, TrialSection::kTrain}};
};

}  // namespace ablate
