// Which keys a study may use, given the plugins that it names.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/host/study/draft.h"
#include "core/registry/catalog.h"

namespace ablate {

Kind kind_of(const std::string& section);  ///< of one of kPluginSections
bool has_plugin(const std::string& section);

/// "attention.rates" -> {"attention", "rates"}; {"seed", ""} where there is no dot.
std::pair<std::string, std::string> split_path(const std::string& path);

class Schema {
 public:
  Schema(const Catalog& catalog, const std::map<std::string, std::set<std::string>>& plugins);

  /// The plugin of that name; for an unknown one the nearest name's, so that the rest of a study with a misspelt plugin is
  /// checked as well; nullptr where nothing is near.
  const PluginInfo* plugin(const std::string& section, const std::string& id) const;
  /// Why the name is refused: "unknown attention plugin ..."; "" where there is such a plugin.
  std::string refuse_plugin(const std::string& section, const std::string& id) const;
  /// The library that was probably meant where refuse_plugin refuses because of it; nullptr otherwise.
  const RefusedLibrary* refused_library(const std::string& id) const;

  /// @param plugin of the section; nullptr for [model] and [train].
  static std::span<const ParameterInfo> parameters(const std::string& section, const PluginInfo* plugin);
  static const ParameterInfo* find(const std::string& section, const PluginInfo* plugin, const std::string& key);
  /// The parameters of that name of all plugins which the study uses in the section.
  std::vector<const ParameterInfo*> find_all(const std::string& section, const std::string& key) const;

  /// Why a path of the study cannot be meant: "unknown key ..."; "" where it can.
  std::string refuse_path(const std::string& path) const;

  /// Whether an attention of the study takes a compression; true also where the attentions are not known.
  bool takes_compression() const;
  const std::vector<const PluginInfo*>& used(const std::string& section) const { return used_.at(section); }

 private:
  std::vector<std::string> keys(const std::string& section) const;
  std::string refuse_key(const std::string& section, const std::string& key) const;

  const Catalog& catalog_;
  std::map<std::string, std::vector<const PluginInfo*>> used_;
  std::set<std::string> open_;  ///< sections with a plugin of which nothing is known: any key may be right
};

}  // namespace ablate
