#include "core/host/study/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/host/study/path.h"
#include "core/records/setting_paths.h"

namespace ablate {
namespace {

bool holds_tables(const Node& node) {
  return node.is_array() && std::any_of(node.children.begin(), node.children.end(), [](const Node& n) { return n.is_table(); });
}

void add_entries(const std::string& path, const Node& list, Alternative& into, Diagnostics& diagnostics) {
  into.lists.push_back(path);
  for (std::size_t i = 0; i < list.children.size(); ++i) {
    const auto& entry = list.children[i];
    const auto entry_path = fmt::format("{}.{}", path, i);
    if (entry.is_table() && !entry.children.empty()) {
      add_settings(entry_path, entry, into, diagnostics);
      continue;
    }
    diagnostics.add(entry.where, fmt::format("{} is {}, expected a section with plugin = \"...\"", entry_path,
                                             entry.is_table() ? "empty" : show(entry.value)));
    into.set.push_back({entry_path + ".plugin", nlohmann::json(nlohmann::json::value_t::discarded), entry.where, entry.where});
  }
}

}  // namespace

void add_settings(const std::string& path, const Node& node, Alternative& into, Diagnostics& diagnostics) {
  if (node.has_settings()) {
    for (const auto& child : node.children)
      add_settings(path.empty() ? child.name : path + "." + child.name, child, into, diagnostics);
  } else if (holds_tables(node)) {
    add_entries(path, node, into, diagnostics);
  } else {
    into.set.push_back({path, node.value, node.key, node.where});
  }
}

void note_tables(const std::string& path, const Node& node, std::map<std::string, Location>& locations) {
  if (!node.is_table() && !holds_tables(node)) return;
  locations[path] = node.where;
  for (std::size_t i = 0; i < node.children.size(); ++i)
    note_tables(path + "." + (node.is_table() ? node.children[i].name : std::to_string(i)), node.children[i], locations);
}

bool replaces(const Alternative& setting, const std::string& path) {
  if (std::any_of(setting.lists.begin(), setting.lists.end(), [&](const auto& list) { return is_below(path, list); }))
    return true;
  const auto parts = split_first(path);
  return is_index(split_first(parts.second).first) && std::any_of(setting.set.begin(), setting.set.end(), [&](const auto& set) {
           return set.path == parts.first + ".plugin";
         });
}

}  // namespace ablate
