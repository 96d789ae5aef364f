#include "db/questions/groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "db/report/label_order.h"
#include "db/types/table.h"

namespace ablate::db {
namespace {

/// As label_key has them; a parameter that is absent comes first.
bool in_order(const Axis::Value* a, const Axis::Value* b) {
  if (a == nullptr || b == nullptr) return a == nullptr && b != nullptr;
  const auto key = [](const Axis::Value& value) {
    return label_key(value.text, value.is_number ? std::optional(value.number) : std::nullopt);
  };
  return key(*a) < key(*b);
}

}  // namespace

Groups::Groups(std::vector<const Axis*> by, std::size_t trials, bool keep_order) : axes(std::move(by)) {
  std::map<std::vector<int>, std::size_t> index;
  for (std::size_t t = 0; t < trials; ++t) {
    std::vector<int> key;
    for (const auto* axis : axes) key.push_back(axis->of_trial[t]);
    const auto [at, fresh] = index.try_emplace(key, keys.size());
    if (fresh) keys.push_back(key);
    of_trial.push_back(at->second);
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
