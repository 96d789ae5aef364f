// The study that `ablate bench` composes from its options, and its errors in terms of these options.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/host/study/study.h"

namespace ablate {

struct BenchArguments {
  std::vector<std::string> plugins;  ///< ATTENTION or ATTENTION+COMPRESSION; none: all attentions
  std::vector<std::int64_t> lengths = {1024, 2048, 4096, 8192, 16384}, batch = {1}, heads;
  std::vector<std::string> devices = {"cpu"}, dtypes = {"float32"}, vary, overrides;
  std::string name = "bench";
  bool again = false, dry_run = false;
};

/// "attention.window=[16, 32]": a parameter and its values, as TOML and JSON both write them.
struct Varied {
  std::string path;
  nlohmann::json values;
};

/// One row of the table.
struct Subject {
  const PluginInfo* attention;
  const PluginInfo* compression;  ///< nullptr: segment-mean, where the attention takes one
};

/// The axes of --heads and --vary. Throws Error where one is no list.
std::vector<Varied> varied(const BenchArguments& arguments);

/// The plugins named, or all attentions. Throws Error with the nearest name where there is no such plugin.
std::vector<Subject> subjects(const BenchArguments& arguments, const Catalog& catalog);

/// The study's text: a median over seven steps after which nothing is evaluated that could be left out. Throws Error for a
/// parameter that none of the subjects has and for what is named twice.
std::string compose(const BenchArguments& arguments, const std::vector<Subject>& subjects, const std::vector<Varied>& vary);

/// The errors of a composed study, at the options that it was composed from and not at lines that the user never wrote.
/// @param file where the text is stored
ConfigError in_options(const ConfigError& error, const std::string& text, const std::string& file,
                       const BenchArguments& arguments);

}  // namespace ablate
