#include "core/host/study/tuning.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/host/study/path.h"
#include "core/records/setting_paths.h"

namespace ablate {
namespace {

/// What a parameter changes of what dev asks; "": nothing.
std::string changed_by(const std::string& path) {
  if (is_of_task(path)) return "what is asked";
  if (path == setting::kShuffleLabels) return "what is learned";
  if (path == setting::kEvaluateBatches) return "which examples of dev are read";
  return path == setting::kStride ? "what dev is asked with" : "";
}

}  // namespace

void check_tuned(const Draft& draft, Diagnostics& diagnostics) {
  for (const auto& group : draft.groups) {
    if (!group.tuned) continue;
    for (const auto& alternative : group.alternatives)
      for (const auto& set : alternative.set)
        if (const auto what = changed_by(set.path); !what.empty())
          diagnostics.add(set.key,
                          fmt::format("{} changes {}, so that dev metrics of its values do not compare; make it an axis "
                                      "of [grid]",
                                      set.path, what));
    if (const auto paths = group.paths(); group.alternatives.size() == 1 && !paths.empty())
      diagnostics.add(group.alternatives.front().where,
                      fmt::format("{} is tuned, and has one value: give it several to choose from, or set it in [{}]",
                                  paths.front(), split_path(paths.front()).first));
  }
}

std::optional<std::int64_t> Cells::add(const std::vector<std::size_t>& alternatives, const Trial& trial,
                                       Diagnostics& diagnostics) {
  Alternatives rest, tuned;
  std::size_t seed = 0;
  for (std::size_t g = 0; g < alternatives.size(); ++g) {
    const auto& group = draft_.groups[g];
    if (group.form == Group::Form::kSeeds)
      seed = alternatives[g];
    else
      (group.tuned ? tuned : rest).push_back(alternatives[g]);
  }
  if (tuned.empty()) return std::nullopt;
  const auto batch = trial.spec.train.batch, batches = trial.spec.train.evaluate_batches;
  auto& cell = cells_.try_emplace(rest, Cell{static_cast<std::int64_t>(cells_.size()), batch}).first->second;
  if (batches > 0 && batch != cell.batch) {
    const auto* where = trial.where.find(setting::kBatch);
    diagnostics.add(where != nullptr ? *where : draft_.start,
                    fmt::format("train.batch = {} is tuned beside {}, and train.evaluate_batches = {} limits dev to so many "
                                "batches: other examples of dev for each, whose metrics do not compare; set "
                                "train.evaluate_batches = 0, or make train.batch an axis of [grid]",
                                batch, cell.batch, batches));
  }
  cell.seeds[tuned].insert(seed);
  return cell.number;
}

void Cells::check_seeds(Diagnostics& diagnostics) const {
  for (const auto& [unused, cell] : cells_) {
    std::set<std::size_t> all;
    for (const auto& [tuned, seeds] : cell.seeds) all.insert(seeds.begin(), seeds.end());
    for (const auto& [tuned, seeds] : cell.seeds) {
      if (seeds.size() == all.size()) continue;
      std::string value;
      const Location* where = nullptr;
      auto alternative = tuned.begin();
      for (const auto& group : draft_.groups) {
        if (!group.tuned) continue;
        const auto& taken = group.alternatives[*alternative++];
        if (where == nullptr) where = &taken.where;
        for (const auto& set : taken.set)
          value += fmt::format("{}{} = {}", value.empty() ? "" : ", ", set.path, show(set.value));
      }
      diagnostics.add(*where, fmt::format("{}: an exclude rule leaves out some of its seeds, and means over other seeds do not "
                                          "compare; exclude all of them, or none",
                                          value));
    }
  }
}

}  // namespace ablate
