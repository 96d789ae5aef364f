#include "core/host/study/longer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/records/setting_paths.h"

namespace ablate {
namespace {

constexpr std::int64_t kMostTimes = 1000, kMostSteps = 1'000'000'000;
constexpr std::size_t kUsualSeeds = 2;

bool has_seed(const std::vector<Alternative>& seeds, const nlohmann::json& seed) {
  return std::any_of(seeds.begin(), seeds.end(), [&](const auto& one) { return one.set.front().value == seed; });
}

/// Returns the seeds of the draft that are not seeds of [grid.tune].
std::vector<Alternative> reported_seeds(const Draft& draft) {
  auto seeds = draft.groups.back().alternatives;
  if (draft.tuning_seeds)
    std::erase_if(seeds, [&](const auto& one) { return has_seed(draft.tuning_seeds->alternatives, one.set.front().value); });
  return seeds;
}

}  // namespace

std::optional<LongerDraft> read_longer(const Node& node, Diagnostics& diagnostics) {
  if (!node.is_table()) {
    diagnostics.add(node.key, "grid.longer is a table; write [grid.longer], and in it factor = 5");
    return std::nullopt;
  }
  const auto before = diagnostics.size();
  LongerDraft longer{.where = node.where};
  for (const auto& child : node.children) {
    if (child.name == "factor") {
      const auto& value = child.value;
      longer.factor_at = child.where;
      if (value.is_number_integer() && value >= 2 && value <= kMostTimes)
        longer.factor = value;
      else
        diagnostics.add(child.where,
                        fmt::format("grid.longer.factor = {}: expected a whole number in [2, {}]", show(value), kMostTimes));
    } else if (child.name == "seeds") {
      longer.seeds = read_seeds(child, diagnostics);
    } else {
      diagnostics.add(
          child.key, fmt::format("unknown key {} in [grid.longer]{}", child.name, suggestion(child.name, {"factor", "seeds"})));
    }
  }
  if (diagnostics.size() == before && longer.factor == 0)
    diagnostics.add(node.where, "grid.longer has no factor; expected the number that multiplies the steps, as in factor = 5");
  return diagnostics.size() == before ? std::optional(std::move(longer)) : std::nullopt;
}

void check_longer(Draft& draft, Diagnostics& diagnostics) {
  if (!draft.longer) return;
  auto& longer = *draft.longer;
  const auto reported = reported_seeds(draft);
  const bool by_override = reported.front().where.file == kOverrideFile;
  if (longer.seeds && by_override)
    std::erase_if(longer.seeds->alternatives, [&](const auto& one) { return !has_seed(reported, one.set.front().value); });
  if (!longer.seeds || longer.seeds->alternatives.empty()) {
    longer.seeds = draft.groups.back();
    longer.seeds->alternatives = reported;
    longer.seeds->alternatives.resize(std::min(kUsualSeeds, reported.size()));
  }
  for (const auto& one : longer.seeds->alternatives)
    if (const auto& seed = one.set.front(); !has_seed(reported, seed.value))
      diagnostics.add(seed.where,
                      fmt::format("seed {} of grid.longer.seeds is not in grid.seeds: the control compares each trial "
                                  "with the reported trial of the same seed; add the seed to grid.seeds, or leave "
                                  "it out here",
                                  show(seed.value)));
  for (const auto& group : draft.groups)
    for (const auto& alternative : group.alternatives)
      for (const auto& set : alternative.set)
        if (set.path == setting::kSteps)
          return diagnostics.add(set.key,
                                 "the grid varies train.steps, and grid.longer repeats its trials with other steps: keep "
                                 "one of the two");
  if (!draft.smallest && !draft.broken.contains("experiment.smallest"))
    diagnostics.add(longer.where,
                    "grid.longer needs [experiment] smallest: the smallest difference of the main metric that matters in this "
                    "study, as in smallest = 5.0. A row that gains as much with more steps is marked");
}

std::optional<Trial> longer_of(const Draft& draft, const Trial& reported, Resolver& resolver, Diagnostics& diagnostics) {
  const auto& longer = *draft.longer;
  if (!has_seed(longer.seeds->alternatives, reported.spec.seed)) return std::nullopt;
  const auto& train = reported.spec.train;
  const auto most = std::max({train.steps, train.warmup, train.evaluate_every});
  if (most <= kMostSteps / longer.factor) return resolver.longer(reported, longer.factor);
  diagnostics.add(longer.factor_at,
                  fmt::format("grid.longer.factor = {} multiplies {} to {}, expected at most {} steps; lower the factor",
                              longer.factor, most, longer.factor * most, kMostSteps));
  return std::nullopt;
}

double smallest_of(const std::string& text, const std::string& file, const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  const auto document = parse_document(text, file, diagnostics);
  const auto value = document ? written_value(*document, "experiment.smallest", overrides) : nlohmann::json();
  return value.is_number() ? value.get<double>() : 0;
}

}  // namespace ablate
