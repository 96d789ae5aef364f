#include "db/questions/selection/groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "db/report/format.h"
#include "db/types/table.h"

namespace ablate::db {
namespace {

/// Compares values by label_key; an absent parameter comes first.
bool in_order(const Axis::Value* a, const Axis::Value* b) {
  if (a == nullptr || b == nullptr) return a == nullptr && b != nullptr;
  const auto key = [](const Axis::Value& value) {
    return label_key(value.text, value.is_number ? std::optional(value.number) : std::nullopt);
  };
  return key(*a) < key(*b);
}

}  // namespace

Groups::Groups(std::vector<const Axis*> by, std::size_t trials, bool keep_order) : axes(std::move(by)) {
  of_trial.assign(trials, 0);
  if (trials > 0) keys.emplace_back();
  for (const auto* axis : axes) {                                // each axis splits the groups of the earlier axes
    std::map<std::pair<std::size_t, int>, std::size_t> numbers;  // number of each group and value, by first occurrence
    std::vector<std::vector<int>> parted;
    for (std::size_t t = 0; t < trials; ++t) {
      const auto value = axis->of_trial[t];
      const auto [at, is_new] = numbers.try_emplace({of_trial[t], value}, parted.size());
      if (is_new) {
        parted.push_back(keys[of_trial[t]]);
        parted.back().push_back(value);
      }
      of_trial[t] = at->second;
    }
    keys = std::move(parted);
  }
  if (!keep_order) sort();
}

std::vector<nlohmann::ordered_json> Groups::values(std::size_t group) const {
  std::vector<nlohmann::ordered_json> all;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto* found = value(group, i);
    all.push_back(found ? found->json : nlohmann::ordered_json(nullptr));
  }
  return all;
}

std::vector<std::string> Groups::label(std::size_t group) const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto* found = value(group, i);
    texts.push_back(found ? found->text : kAbsent);
  }
  return texts;
}

const Axis::Value* Groups::value(std::size_t group, std::size_t axis) const {
  const int index = keys[group][axis];
  return index < 0 ? nullptr : &axes[axis]->values[static_cast<std::size_t>(index)];
}

void Groups::sort() {
  std::vector<std::size_t> order(keys.size()), place(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (in_order(value(a, i), value(b, i))) return true;
      if (in_order(value(b, i), value(a, i))) return false;
    }
    return false;
  });
  std::vector<std::vector<int>> sorted;
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i, sorted.push_back(keys[order[i]]);
  keys = std::move(sorted);
  for (auto& group : of_trial) group = place[group];
}

}  // namespace ablate::db
