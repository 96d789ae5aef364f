// From a point of the grid to a trial with every default filled in.
#pragma once

#include <optional>

#include "core/host/study/point.h"

namespace ablate {

class Resolver {
 public:
  Resolver(const Draft& draft, const Schema& schema, Diagnostics& diagnostics);

  /// Nothing, and diagnostics, where a value is wrong. The label is left empty.
  std::optional<Trial> resolve(const Point& point);

 private:
  void add_section(const std::string& section, const PluginInfo* plugin, const Point& point, Trial& trial);
  void add_value(const std::string& path, const Point::Setting& setting, const ParameterInfo& parameter, Trial& trial);
  void refuse_setting(const std::string& section, const PluginInfo* plugin, const std::string& path,
                      const Point::Setting& setting);
  void check_plugin(const std::string& section, const Point& point);
  void add_compression(const Point& point, Trial& trial);
  void report(const Location& where, const std::string& message, ExitCode code = ExitCode::kUsage);

  const Draft& draft_;
  const Schema& schema_;
  Diagnostics& diagnostics_;
  bool ok_ = true;  ///< of the point at hand
};

}  // namespace ablate
