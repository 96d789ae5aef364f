// A plugin with its parameters: in a trial, as text, and for the plugin to read. Torch-free.
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

/// What stands where plugins may be named: one, or a list of them, which a document tells apart.
struct PluginGroup {
  std::vector<PluginSpec> all;
  bool is_list = false;
  bool operator==(const PluginGroup&) const = default;
};

/// A plugin with everything that it is given.
struct PluginSpec {
  std::string id;
  nlohmann::json values = nlohmann::json::object();  ///< of parameters that name no plugins: canonical, as check_value has them
  std::map<std::string, PluginGroup> parts = {};     ///< of those that do
  bool operator==(const PluginSpec&) const = default;
};

/// {"plugin": "softmax", "heads": 2}; of a list an array.
nlohmann::json to_json(const PluginSpec& plugin);
nlohmann::json to_json(const PluginGroup& plugins);
/// Each throws nlohmann::json::exception for a section that names no plugin.
PluginSpec plugin_from_json(const nlohmann::json& section);
PluginGroup plugins_from_json(const nlohmann::json& value);

/// Which parameters plugins ask for while it lives: it hears of all JsonValues that its thread makes meanwhile, whichever
/// thread reads them. Of several in a thread the last one hears. Where there is none, a read costs a look at a null pointer.
class Reads {
 public:
  Reads();
  ~Reads();
  Reads(const Reads&) = delete;
  Reads& operator=(const Reads&) = delete;

  bool contains(const PluginInfo& plugin, const std::string& parameter) const;  ///< any thread

 private:
  friend class JsonValues;
  void add(const std::string& owner, const std::string& parameter);

  Reads* outer_;
  mutable std::mutex mutex_;
  std::set<std::pair<std::string, std::string>> read_;  ///< "attention adamra", "heads"
};

/// Values of a plugin's parameters, with their declarations. Throws std::logic_error as ablate/values.h says, and Error for a
/// value that is none of its parameter.
class JsonValues final : public Values {
 public:
  /// @param owner the plugin, for messages: "attention adamra"
  JsonValues(PluginSpec given, std::span<const ParameterInfo> declared, std::string owner);
  JsonValues(PluginSpec given, const PluginInfo& plugin);

  bool boolean(const char* name) const override;
  std::int64_t integer(const char* name) const override;
  double real(const char* name) const override;
  std::string text(const char* name) const override;
  Rate rate(const char* name) const override;
  std::vector<Rate> rates(const char* name) const override;
  std::string file(const char* name) const override;
  std::int64_t count(const char* plugins) const override;

  /// Returns a plugin that is a parameter. @param index in a list; 0 for a single one
  const PluginSpec& part(const char* plugins, std::size_t index) const;

 private:
  /// Records the read. Throws std::logic_error if the accessor is for other types, Error if the value is none of its parameter.
  void check_read(const char* name, std::initializer_list<ParameterType> types, const char* accessor) const;
  const nlohmann::json& get(const char* name, std::initializer_list<ParameterType> types, const char* accessor) const;
  const std::vector<PluginSpec>& plugins_of(const char* name) const;

  PluginSpec given_;
  std::vector<ParameterInfo> declared_;
  std::string owner_;
  Reads* reads_;  ///< null: nobody wants to know
};

}  // namespace ablate
