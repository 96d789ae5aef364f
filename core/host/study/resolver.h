// From a point of the grid to a trial with every default filled in.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/host/study/point.h"

namespace ablate {

class Resolver {
 public:
  Resolver(const Draft& draft, const Schema& schema, Diagnostics& diagnostics);

  /// Nothing, and diagnostics, where a value is wrong. The label is left empty.
  std::optional<Trial> resolve(const Point& point);

  /// Reports base values of the study's own that every trial so far has left unread (ParameterInfo::when): a preset's serve
  /// other studies too.
  void report_unread() const;

 private:
  /// Each returns what could be resolved, null where that is nothing. @param where what asks for it, for a message
  nlohmann::json section(const std::string& path, const PluginInfo* plugin);
  nlohmann::json plugin_section(const std::string& path, Kind kind, const PluginInfo* owner);
  nlohmann::json list(const std::string& path, const ParameterInfo& parameter, const PluginInfo* owner);
  nlohmann::json layers();

  std::vector<int> entries(const std::string& path);
  void add_value(const std::string& path, const ParameterInfo& parameter, const PluginInfo* plugin, nlohmann::json& object);
  void add_file(const std::string& path, const std::string& file, const PluginInfo* plugin);
  void refuse_unused(const std::string& path, const PluginInfo* plugin);
  void refuse_unread(const std::string& path, const PluginInfo* plugin, const nlohmann::json& object);
  bool check_plugin(const std::string& path, Kind kind, const PluginInfo* owner);
  void report_missing(const std::string& path, Kind kind, const PluginInfo* owner);
  Location place_of(const std::string& path) const;
  void report(const Location& where, const std::string& message, ExitCode code = ExitCode::kUsage);

  const Draft& draft_;
  const Schema& schema_;
  Diagnostics& diagnostics_;
  const Point* point_ = nullptr;                ///< at hand
  Trial trial_;                                 ///< made from it
  bool ok_ = true;                              ///< of the point at hand
  std::set<std::string> wrong_;                 ///< its values that are none of their parameters, by path
  std::map<std::string, std::string> digests_;  ///< of files, each read once
  std::map<std::string, Diagnostic> unread_;    ///< by a base value's path
  std::set<std::string> read_;                  ///< paths of base values
};

}  // namespace ablate
