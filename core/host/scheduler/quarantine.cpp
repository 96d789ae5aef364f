#include "core/host/scheduler/quarantine.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/util/without_numbers.h"

namespace ablate {
namespace {

bool is_divergence(const std::string& reason) {
  return reason.find("loss is nan") != std::string::npos || reason.find("loss is inf") != std::string::npos ||
         reason.find("loss is -inf") != std::string::npos;
}

bool contains(const Quarantine::Plugins& all, const Quarantine::Plugins& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

Quarantine::Plugins Quarantine::plugins_of(const PlannedTrial& trial) {
  Plugins plugins;
  for (const auto& plugin : trial.plugins) plugins.emplace(plugin.kind, plugin.id);
  return plugins;
}

bool Quarantine::holds(const Plugins& blamed, const PlannedTrial& trial) { return contains(plugins_of(trial), blamed); }

std::optional<Quarantine::Blamed> Quarantine::failed(const PlannedTrial& trial, const std::string& reason) {
  if (is_divergence(reason)) return std::nullopt;
  const auto text = reason_group(reason);
  auto& all = failed_[text];
  all.push_back({plugins_of(trial), ++now_});
  if (all.size() > kEnough) all.erase(all.begin());
  if (all.size() < kEnough) return std::nullopt;
  auto common = all.front().plugins;
  for (const auto& one : all) {
    Plugins both;
    std::set_intersection(common.begin(), common.end(), one.plugins.begin(), one.plugins.end(),
                          std::inserter(both, both.end()));
    common = std::move(both);
  }
  const bool was_done = std::any_of(done_.begin(), done_.end(), [&](const auto& done) {
    return done.second > all.front().when && contains(done.first, common);
  });
  if (common.empty() || was_done) return std::nullopt;
  return Blamed{common, text};
}

std::string Quarantine::Blamed::text() const {
  std::string names;
  for (const auto& [kind, id] : plugins) names += fmt::format("{}{} {}", names.empty() ? "" : " and ", kind, id);
  return names;
}

}  // namespace ablate
