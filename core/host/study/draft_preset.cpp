// [experiment] preset: base values that have a name.
#include <fmt/format.h>

#include <algorithm>

#include "core/host/study/draft.h"
#include "core/host/study/toml_file.h"
#include "core/util/nearest.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

struct Named {
  std::string name;
  Location where;
};

/// What the study asks for; the command line has the last word.
std::optional<Named> preset_of(const Node& document, const std::vector<std::string>& overrides, Diagnostics& diagnostics) {
  std::optional<Named> found;
  const auto take = [&](const Node& node) {
    if (node.value.is_string()) found = {node.value.get<std::string>(), node.where};  // else refused with [experiment]
  };
  if (const auto* experiment = document.find("experiment"))
    if (const auto* preset = experiment->find("preset")) take(*preset);
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const auto [path, text] = split_override(overrides[i]);
    if (path != "experiment.preset" || text.empty()) continue;
    if (const auto node = parse_value(text, {kOverrideFile, static_cast<int>(i + 1), 0}, diagnostics)) take(*node);
  }
  return found;
}

std::vector<std::string> names_in(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& folder : folders)
    for (const auto& entry : fs::directory_iterator(folder, none))
      if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

void read_preset(const Node& document, const std::vector<std::string>& overrides, const std::vector<fs::path>& folders,
                 Draft& draft, Diagnostics& diagnostics) {
  const auto named = preset_of(document, overrides, diagnostics);
  if (!named) return;
  std::error_code none;
  for (const auto& folder : folders) {
    const auto file = folder / (named->name + ".toml");
    if (named->name.find('/') != std::string::npos || !fs::exists(file, none)) continue;
    draft.preset = file.string();
    const auto preset = parse_document(read_toml(file, "a preset"), draft.preset, diagnostics);
    if (!preset) return;
    for (const auto& child : preset->children) {
      if (std::find(kSections.begin(), kSections.end(), child.name) != kSections.end())
        read_section(child, draft, diagnostics);
      else if (child.name == "experiment" || child.name == "grid" || child.name == "published")
        diagnostics.add(child.key, fmt::format("a preset holds base values alone; [{}] belongs in a study", child.name));
      else
        diagnostics.add(child.key, unknown_section(child.name, kSections));
    }
    return;
  }
  std::string looked;
  for (const auto& folder : folders) looked += (looked.empty() ? "" : ", ") + folder.string();
  diagnostics.add(named->where, fmt::format("unknown preset {}{}; looked for NAME.toml in {}", show(named->name),
                                            hint(named->name, names_in(folders)), looked));
}

}  // namespace ablate
