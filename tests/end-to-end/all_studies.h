// Resolves every study of the tree.
#pragma once

#include <filesystem>
#include <vector>

#include "core/host/study/study.h"
#include "tests/end-to-end/built_plugins.h"

inline const std::filesystem::path kExperiments = std::filesystem::path(ABLATE_SOURCE_DIR) / "experiments";

/// Returns all studies. All models count as equally large (parameters, state bytes), so that widths stay as in the files.
inline std::vector<ablate::Study> studies() {
  const auto plugins = built_plugins();
  const auto alike = [](const std::vector<ablate::Trial>& trials) {
    return std::vector<ablate::ModelSizes>(trials.size(), {.parameters = 1, .state_bytes = 1});
  };
  std::vector<ablate::Study> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kExperiments))
    if (entry.path().extension() == ".toml" && entry.path().parent_path().filename() != "presets")
      all.push_back(ablate::load_study(entry.path(), {}, plugins, {}, alike));
  return all;
}
