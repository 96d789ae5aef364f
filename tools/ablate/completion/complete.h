// What may stand where a command line ends, from the declaration of the commands.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "core/registry/plugin_info.h"

namespace ablate {

struct CompletedWord {
  std::string word, about;
};

struct Completions {
  std::vector<CompletedWord> candidates;  ///< begin as the word does; one that ends with = or . is not at its end
  std::string files;                      ///< "file", "folder" or "toml" where the word is one's path; "": none
};

/// Where names come from that are in no declaration. Each is asked only where it is needed.
struct NameSources {
  struct Asked {
    std::string database;              ///< --db as far as it was typed; "": none
    std::vector<std::string> folders;  ///< --plugins
  };
  std::function<std::vector<std::string>(const Asked&)> experiments, metrics, paths;  ///< of the history
  std::function<std::vector<PluginInfo>(const Asked&)> plugins;
  std::function<std::string(const std::string& file)> text;  ///< of a study; "" where it cannot be read
};

/// @param words behind the program's name; the last is to be completed. Throws what sources throw.
Completions complete(CLI::App& app, const std::vector<std::string>& words, const NameSources& sources);

}  // namespace ablate
