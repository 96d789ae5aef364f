#include "db/questions/attention_names.h"

#include <charconv>
#include <unordered_map>

namespace ablate::db {
namespace {

/// "attention.parts" and "1" of "attention.parts.1"
std::pair<std::string, std::string> split_last(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? std::pair(std::string(), path) : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

std::optional<int> index_of(const std::string& text) {
  int index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return index;
}

}  // namespace

AttentionNames::AttentionNames(const std::map<std::string, std::int64_t>& paths) {
  const auto is_attention = [&](const std::string& path) { return path == setting::kAttention || entries_.contains(path); };
  for (const auto& [path, id] : paths) {  // in order: what holds an entry comes before it
    const auto [list, last] = split_last(path);
    const auto index = index_of(last);
    if (!index) continue;
    const bool is_layer = is_attention(list);
    const auto owner = is_layer ? list : split_last(list).first;
    if (!is_attention(owner)) continue;
    entries_.emplace(path, id);
    (is_layer ? layers_ : parts_)[owner].emplace(*index, path);
  }
}

std::string AttentionNames::name(const std::string& path, const PluginAt& plugin_at) const {
  const auto joined = [&](const auto& lists, const char* between) {
    std::string text;
    if (const auto found = lists.find(path); found != lists.end())
      for (const auto& [index, entry] : found->second)
        if (const auto one = name(entry, plugin_at); !one.empty()) text += (text.empty() ? "" : between) + one;
    return text;
  };
  const auto plugin = plugin_at(path);
  if (!plugin) return joined(layers_, " / ");
  const auto parts = joined(parts_, ", ");
  return parts.empty() ? *plugin : *plugin + "(" + parts + ")";
}

Axis load_attention(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  const auto paths = reader.paths();
  const AttentionNames names(paths);
  std::map<std::string, Axis> parts;
  for (const auto& [path, id] : names.entries())
    if (auto axis = load_axis(reader, path, id, trials); !axis.values.empty()) parts.emplace(path, std::move(axis));
  const auto plain = paths.find(setting::kAttention);
  auto axis = plain == paths.end() ? Axis{setting::kAttention, {}, std::vector<int>(trials.size(), -1)}
                                   : load_axis(reader, setting::kAttention, plain->second, trials);
  if (parts.empty()) return axis;
  parts.emplace(setting::kAttention, axis);

  Axis named{setting::kAttention, {}, {}};
  std::unordered_map<std::string, int> index;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const auto name = names.name([&](const std::string& path) -> std::optional<std::string> {
      const auto part = parts.find(path);
      if (part == parts.end() || part->second.of_trial[t] < 0) return std::nullopt;
      return part->second.values[static_cast<std::size_t>(part->second.of_trial[t])].text;
    });
    const auto [at, fresh] = index.try_emplace(name, static_cast<int>(named.values.size()));
    if (fresh && !name.empty()) named.values.push_back({.text = name, .json = name});
    named.of_trial.push_back(name.empty() ? -1 : at->second);
  }
  return named;
}

}  // namespace ablate::db
