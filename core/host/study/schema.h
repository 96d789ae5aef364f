// Keys that a study may use with the plugins that it names.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/host/study/draft.h"
#include "core/registry/catalog.h"

namespace ablate {

class Schema {
 public:
  /// @param plugins Draft::plugins
  Schema(const Catalog& catalog, const std::map<std::string, std::set<std::string>>& plugins);

  /// Returns the plugin of that name. If it is unknown, returns the plugin with the nearest name, so that the rest of the study
  /// is checked as well. Returns null if none is near.
  const PluginInfo* plugin(Kind kind, const std::string& id) const;
  /// Returns why the name is refused in a section: "unknown attention plugin ...", or "" if the plugin exists.
  std::string refuse_plugin(const std::string& section, Kind kind, const std::string& id) const;
  /// Returns the library that refuse_plugin names as the probable cause, or null.
  const RefusedLibrary* refused_library(const std::string& id) const;
  std::string known(Kind kind) const;  ///< ids for a message: "none; see ablate plugins" if there are none

  /// A section is a path in all functions here. The plugin of [model] and [train] is null.
  static std::span<const ParameterInfo> parameters(const std::string& section, const PluginInfo* plugin);
  static const ParameterInfo* find(const std::string& section, const PluginInfo* plugin, const std::string& key);
  /// Returns the parameters with that name, from all plugins that the study uses in the section.
  std::vector<const ParameterInfo*> find_all(const std::string& section, const std::string& key) const;

  /// Returns why a path of the study is invalid: "unknown key ...", or "" if it is valid.
  std::string refuse_path(const std::string& path) const;
  /// True if some plugin accepts the path, even a plugin that the study does not use.
  bool known_elsewhere(const std::string& path) const;

  /// Returns the kind of a plugin's section; nullopt for [model], [train] and paths that are not sections.
  std::optional<Kind> kind_of(const std::string& section) const;
  /// Returns the plugins that trials use in a section.
  const std::vector<const PluginInfo*>& used(const std::string& section) const { return sections_.at(section).used; }

 private:
  struct Section {
    std::optional<Kind> kind;
    std::vector<const PluginInfo*> used;
    bool open = false;  ///< true if one of its plugins is unknown: any key may be right
  };

  void add(const std::string& path, Kind kind, const std::map<std::string, std::set<std::string>>& plugins);
  std::pair<std::string, std::string> split_section(const std::string& path) const;
  std::vector<std::string> keys(const std::string& section) const;
  std::vector<std::string> owners(const std::string& section, const std::string& key) const;
  std::string refuse_key(const std::string& section, const std::string& key) const;
  std::string beyond(const std::string& list, const std::string& index) const;
  std::vector<std::string> entries_with(const std::string& list, const std::string& key) const;
  std::string refuse_below(const std::string& section, const std::string& key, const std::string& below) const;

  const Catalog& catalog_;
  std::map<std::string, Section> sections_;  ///< by path
};

}  // namespace ablate
