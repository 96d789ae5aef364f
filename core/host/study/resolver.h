// From a point of the grid to a trial with every default filled in.
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

  /// Nothing, and diagnostics, where a value is wrong. The label is left empty.
  std::optional<Trial> resolve(const Point& point);

  /// Of sections by their numbers whether they say the same, written wherever: numbers that are equal where they do. Of a file
  /// its content counts, not its path. @param trial one that was resolved here
  SectionNumbers contents(const Trial& trial) const;

  /// Reports base values of the study's own that every trial so far has left unread (ParameterInfo::when): a preset's serve
  /// other studies too.
  void report_unread() const;

 private:
  /// A plugin whose promises are compared with what the trial asks, and its path.
  using Promising = std::pair<const PluginInfo*, std::string>;

  /// A section as some alternatives of the grid make it.
  struct Section {
    std::variant<PluginSpec, ModelSpec, PluginGroup, TrainSpec> said;  ///< in the order of TrialSection
    std::shared_ptr<const WrittenAt::OfSection> where;
    std::map<std::string, std::string> files;
    std::vector<Promising> promising;  ///< parts before what they are parts of
    int number = 0;                    ///< of what is without fault
    bool ok = true;
  };

  /// @param faulty holds one that is not stored, since each point has to report its faults
  const Section& section_at(TrialSection section, Section& faulty);
  Section make(TrialSection section, nlohmann::json& document);
  void number(TrialSection section, const nlohmann::json& document, Section& made);
  /// Whether the sections of a trial go together.
  bool fit(const Trial& trial, const std::array<const Section*, kTrialSections>& sections);

  /// Each returns what could be resolved, null where that is nothing. @param where what asks for it, for a message
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
  const Point* point_ = nullptr;                ///< at hand
  WrittenAt::OfSection where_;                  ///< of the section at hand
  std::map<std::string, std::string> files_;    ///< likewise
  std::vector<Promising> promising_;            ///< likewise
  bool ok_ = true;                              ///< of the section at hand
  std::set<std::string> wrong_;                 ///< values of the point that are none of their parameters, by path
  std::map<std::string, std::string> digests_;  ///< of files, each read once
  std::map<std::string, Diagnostic> unread_;    ///< by a base value's path
  std::set<std::string> read_;                  ///< paths of base values
  using Alternatives = std::vector<std::size_t>;
  std::array<Alternatives, kTrialSections> groups_;                   ///< of the draft: those that say something of a section
  std::array<std::map<Alternatives, Section>, kTrialSections> made_;  ///< by what those have chosen; without fault
  std::array<std::vector<int>, kTrialSections> contents_;             ///< by number
  std::unordered_map<std::string, int> known_contents_;               ///< by digest
  PerSections<bool> fits_{{TrialSection::kModel, TrialSection::kAttention, TrialSection::kTrain}};
};

}  // namespace ablate
