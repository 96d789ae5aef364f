// Parameters as a plugin reads them, over canonical JSON.
#pragma once

#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>

#include "ablate/values.h"
#include "core/registry/plugin_info.h"

namespace ablate {

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

/// A resolved section, {"heads": 2, "rates": ["1/2"], ...}, and what declares its parameters. Throws std::logic_error as
/// ablate/values.h says, and Error for a value that is none of its parameter.
class JsonValues final : public Values {
 public:
  /// @param owner whose section it is, for messages: "attention adamra"
  JsonValues(nlohmann::json section, std::span<const ParameterInfo> declared, std::string owner);
  JsonValues(nlohmann::json section, const PluginInfo& plugin);

  bool boolean(const char* name) const override;
  std::int64_t integer(const char* name) const override;
  double real(const char* name) const override;
  std::string text(const char* name) const override;
  Rate rate(const char* name) const override;
  std::vector<Rate> rates(const char* name) const override;
  std::string file(const char* name) const override;
  std::int64_t count(const char* plugins) const override;

  /// The section of a plugin that is a parameter. @param index of a list; 0 for a single one
  const nlohmann::json& section(const char* plugins, std::size_t index) const;

 private:
  /// Of a declared parameter, by the accessor of its type.
  const nlohmann::json& get(const char* name, std::initializer_list<ParameterType> types, const char* accessor) const;
  const nlohmann::json& plugins_of(const char* name) const;

  nlohmann::json section_;
  std::vector<ParameterInfo> declared_;
  std::string owner_;
  Reads* reads_;  ///< null: nobody wants to know
};

}  // namespace ablate
