// Which keys a study may use, given the plugins that it names.
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

  /// The plugin of that name; for an unknown one the nearest name's, so that the rest of a study with a misspelt plugin is
  /// checked as well; nullptr where nothing is near.
  const PluginInfo* plugin(Kind kind, const std::string& id) const;
  /// Why the name is refused in a section: "unknown attention plugin ..."; "" where there is such a plugin.
  std::string refuse_plugin(const std::string& section, Kind kind, const std::string& id) const;
  /// The library that was probably meant where refuse_plugin refuses because of it; nullptr otherwise.
  const RefusedLibrary* refused_library(const std::string& id) const;
  std::string known(Kind kind) const;  ///< ids for a message: "none; see ablate plugins" where there are none

  /// @param section a path, as everywhere here. @param plugin of the section; nullptr for [model] and [train].
  static std::span<const ParameterInfo> parameters(const std::string& section, const PluginInfo* plugin);
  static const ParameterInfo* find(const std::string& section, const PluginInfo* plugin, const std::string& key);
  /// The parameters of that name of all plugins which the study uses in the section.
  std::vector<const ParameterInfo*> find_all(const std::string& section, const std::string& key) const;

  /// Why a path of the study cannot be meant: "unknown key ..."; "" where it can.
  std::string refuse_path(const std::string& path) const;
  /// Whether some plugin would take the path, be it one that the study does not use.
  bool known_elsewhere(const std::string& path) const;

  /// Of a section that has one; nothing for [model], [train] and what is no section.
  std::optional<Kind> kind_of(const std::string& section) const;
  /// The plugins that trials use in a section.
  const std::vector<const PluginInfo*>& used(const std::string& section) const { return sections_.at(section).used; }

 private:
  struct Section {
    std::optional<Kind> kind;
    std::vector<const PluginInfo*> used;
    bool open = false;  ///< nothing is known of a plugin of it: any key may be right
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
