#include <fmt/format.h>

#include <algorithm>

#include "core/host/study/draft.h"
#include "core/records/setting_paths.h"
#include "core/util/trimmed.h"

namespace ablate {
namespace {

bool same_values(const Alternative& a, const Alternative& b) {
  return a.lists == b.lists && std::equal(a.set.begin(), a.set.end(), b.set.begin(), b.set.end(),
                                          [](const auto& x, const auto& y) { return x.path == y.path && x.value == y.value; });
}

/// Gives an axis of the grid other values, where the path has one and the value is a list of what the axis holds: of lists,
/// where it holds lists.
bool replace_axis(const std::string& path, const Node& node, std::vector<Group>& groups, Diagnostics& diagnostics) {
  if (!node.is_array() || node.children.empty()) return false;
  for (auto& group : groups) {
    if (group.form != Group::Form::kAxis || group.path != path) continue;
    const auto& first = group.alternatives.front();
    const bool holds_lists = !first.lists.empty() || (!first.set.empty() && first.set.front().value.is_array());
    for (const auto& item : node.children)
      if (item.is_array() != holds_lists) return false;
    group.alternatives.clear();
    for (const auto& item : node.children) {
      group.alternatives.push_back({item.where, {}, {}});
      add_settings(path, item, group.alternatives.back(), diagnostics);
    }
    return true;
  }
  return false;
}

/// Takes what an override sets out of the grid. Alternatives that no longer differ become one, so that ten rows of rates with
/// the rates overridden are one trial, not ten equal ones.
void remove_from_grid(const Alternative& change, std::vector<Group>& groups) {
  const auto gone = [&](const std::string& path) {
    const auto same = [&](const auto& set) { return set.path == path; };
    return replaces(change, path) || std::any_of(change.set.begin(), change.set.end(), same);
  };
  for (auto& group : groups) {
    std::size_t removed = 0;
    for (auto& alternative : group.alternatives)
      removed += std::erase_if(alternative.set, [&](const auto& set) { return gone(set.path); });
    if (removed == 0) continue;
    for (auto& alternative : group.alternatives)
      std::erase_if(alternative.lists, [&](const auto& list) { return replaces(change, list + ".0.plugin"); });
    std::vector<Alternative> distinct;
    for (auto& alternative : group.alternatives)
      if (std::none_of(distinct.begin(), distinct.end(), [&](const auto& other) { return same_values(other, alternative); }))
        distinct.push_back(std::move(alternative));
    group.alternatives = std::move(distinct);
  }
  std::erase_if(groups, [](const auto& group) { return group.alternatives.size() == 1 && group.alternatives[0].set.empty(); });
}

}  // namespace

std::pair<std::string, std::string> split_override(const std::string& text) {
  const auto equals = text.find('=');
  constexpr const char* kBlanks = " \t";  // a line end belongs to a value
  return {trimmed(text.substr(0, equals), kBlanks),
          equals == std::string::npos ? "" : trimmed(text.substr(equals + 1), kBlanks)};
}

void apply_overrides(const std::vector<std::string>& overrides, Draft& draft, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const Location where{kOverrideFile, static_cast<int>(i + 1), 0};
    const auto [path, text] = split_override(overrides[i]);
    if (path.empty() || text.empty()) {
      diagnostics.add(where, "expected path=value, for example train.steps=200");
      continue;
    }
    const auto node = parse_value(text, where, diagnostics);
    if (path == "seeds") {
      if (node) draft.groups.back() = read_seeds(*node, diagnostics);
      continue;
    }
    if (node && replace_axis(path, *node, draft.groups, diagnostics)) continue;
    Alternative settings;
    if (node)
      add_settings(path, *node, settings, diagnostics);
    else
      settings.set.push_back({path, nullptr, where, where});
    if (path != setting::kSeed)
      remove_from_grid(settings, draft.groups);  // "seed" is refused later; the seeds' group stays the last
    draft.broken.erase(path);
    if (!node) draft.broken.insert(path);
    std::erase_if(draft.base, [&](const auto& entry) { return replaces(settings, entry.first); });
    for (auto& set : settings.set)
      if (node) draft.base[set.path] = std::move(set);
  }
}

}  // namespace ablate
