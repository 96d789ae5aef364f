// A plugin with its parameters: in a trial, as JSON, and as the Values that the plugin reads. Torch-free.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ablate/values.h"
#include "core/registry/plugin_info.h"

namespace ablate {

struct PluginSpec;

/// Value of a parameter that names plugins: a single plugin or a list. A list with one entry differs from a single plugin.
struct PluginGroup {
  std::vector<PluginSpec> all;
  bool is_list = false;
  bool operator==(const PluginGroup&) const = default;
};

/// A plugin with all its parameters.
struct PluginSpec {
  std::string id;
  nlohmann::json values = nlohmann::json::object();  ///< parameters that name no plugins, canonical (check_value)
  std::map<std::string, PluginGroup> parts = {};     ///< parameters that name plugins
  bool operator==(const PluginSpec&) const = default;
};

/// Returns {"plugin": "softmax", "heads": 2}; for a list of plugins, an array of such sections.
nlohmann::json to_json(const PluginSpec& plugin);
nlohmann::json to_json(const PluginGroup& plugins);
/// Both functions throw nlohmann::json::exception for a section that names no plugin.
PluginSpec plugin_from_json(const nlohmann::json& section);
PluginGroup plugins_from_json(const nlohmann::json& value);

/// Records which parameters are read from the JsonValues that this thread creates while the object lives. Any thread may read
/// these JsonValues. If a thread has several Reads, only the last object records. Without a Reads, a read tests a pointer.
class Reads {
 public:
  Reads();
  ~Reads();
  Reads(const Reads&) = delete;
  Reads& operator=(const Reads&) = delete;

  bool contains(const PluginInfo& plugin, const std::string& parameter) const;  ///< callable from any thread

 private:
  friend class JsonValues;
  void add(const std::string& owner, const std::string& parameter);

  Reads* outer_;
  mutable std::mutex mutex_;
  std::set<std::pair<std::string, std::string>> read_;  ///< "attention adamra", "heads"
};

/// Values of a plugin's parameters, with their declarations. Throws std::logic_error for a name that is not in the schema or is
/// read as another type, and Error for a value that does not fit its parameter.
class JsonValues final : public Values {
 public:
  /// @param owner the plugin, for messages: "attention adamra"
  JsonValues(PluginSpec spec, std::span<const ParameterInfo> declared, std::string owner);
  JsonValues(PluginSpec spec, const PluginInfo& plugin);

  bool boolean(const char* name) const override;
  std::int64_t integer(const char* name) const override;
  double real(const char* name) const override;
  std::string text(const char* name) const override;
  Rate rate(const char* name) const override;
  std::vector<Rate> rates(const char* name) const override;
  std::string file(const char* name) const override;
  std::int64_t count(const char* plugins) const override;

  /// Returns a plugin that the parameter `plugins` names. `index` is its index in a list; 0 for a single plugin.
  const PluginSpec& part(const char* plugins, std::size_t index) const;

 private:
  /// Records the read. Throws std::logic_error if the accessor is for other types, Error if the value does not fit.
  void check_read(const char* name, std::initializer_list<ParameterType> types, const char* accessor) const;
  const nlohmann::json& get(const char* name, std::initializer_list<ParameterType> types, const char* accessor) const;
  const std::vector<PluginSpec>& plugins_of(const char* name) const;

  PluginSpec spec_;
  std::vector<ParameterInfo> declared_;
  std::string owner_;
  Reads* reads_;  ///< null: reads are not recorded
};

}  // namespace ablate
