// Runs of symbols as features. Internal to the predictors on bags and n-grams.
#pragma once

#include <algorithm>
#include <iterator>

#include "core/shared/objectives.h"
#include "core/trial/conformance/task/symbols.h"
#include "core/trial/floors/softmax_regression.h"

namespace ablate {

/// Runs of 1 to `longest` symbols of each field, wherever they stand, counted and scaled to length 1; of a pair also those that
/// both sequences have.
inline Extract grams(const TaskInfo& info, std::size_t longest) {
  const auto buckets = hashed_features(info.classes);
  const auto fields = info.fields.size(), sequences = static_cast<std::size_t>(info.sequences);
  return [=](const Example& example, std::size_t, std::vector<SparseFeature>& features) {
    std::vector<std::vector<std::uint64_t>> seen(sequences);
    for (std::size_t part = 0; part < example.ids.size(); ++part) {
      const auto& ids = example.ids[part];
      const auto& present = example.present[part / fields];
      for (std::size_t at = 0; at < ids.size(); ++at) {
        auto hash = std::uint64_t{part % fields};
        for (std::size_t n = 0; n < longest && n <= at && present[at - n] != 0; ++n) {
          hash = mixed(hash, static_cast<std::uint64_t>(ids[at - n]));
          seen[part / fields].push_back(hash);
        }
      }
    }
    const auto put = [&](std::size_t tag, std::uint64_t hash) {
      features.push_back({static_cast<std::uint32_t>(mixed(tag, hash) % buckets), 1});
    };
    for (std::size_t sequence = 0; sequence < sequences; ++sequence)
      for (const auto hash : seen[sequence]) put(sequence, hash);
    if (sequences == 2) {
      for (auto& one : seen) std::sort(one.begin(), one.end()), one.erase(std::unique(one.begin(), one.end()), one.end());
      std::vector<std::uint64_t> both;
      std::set_intersection(seen[0].begin(), seen[0].end(), seen[1].begin(), seen[1].end(), std::back_inserter(both));
      for (const auto hash : both) put(2, hash);
    }
    normalise(features);
  };
}

/// Whether a class of sequences with symbols is asked; those of a picture are numbers (values.cpp).
inline bool has_bags(const TaskInfo& info) {
  return !asks_of(info.objective).each && info.classes <= kMostRegressed && info.fields.front().vocabulary > 0 &&
         info.geometry.rows == 0;
}

}  // namespace ablate
