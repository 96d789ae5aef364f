#include "tests/host/simulated/grid.h"

#include "core/shared/sections.h"
#include "core/util/sha256.h"

namespace ablate::simulated {
namespace {

using nlohmann::json;

json defaults(std::span<const ParameterInfo> parameters) {
  auto values = json::object();
  for (const auto& parameter : parameters) values[parameter.name] = parameter.default_value;
  return values;
}

}  // namespace

Trial trial_of(int seed) {
  Trial trial;
  trial.spec = trial_from_json({{"task", {{"plugin", "simulated"}}},
                                {"model", defaults(model_parameters())},
                                {"attention", {{"plugin", "simulated"}}},
                                {"train", defaults(train_parameters())},
                                {"seed", seed}});
  trial.label = "seed=" + std::to_string(seed);
  return trial;
}

PlannedTrial planned_of(const Trial& trial) { return {.trial = &trial, .identity = {}, .key = sha256(trial.label)}; }

std::vector<UsedPlugin> plugins_with(const std::string& attention) {
  return {{"attention", attention, "1", "c0de", "", "/proc/self/exe"},
          {"task", "simulated", "1", "c0de", "", "/proc/self/exe"}};
}

void record(const std::vector<PlannedTrial>& trials, db::GridStore& into) {
  std::vector<db::GridTrial> rows;
  for (const auto& trial : trials) rows.push_back({trial.key, trial.trial->resolved()});
  into.put_trials(into.put_experiment({"simulated", "", "", "", {}}), rows);
}

Grid::Grid(int count) {
  for (int seed = 1; seed <= count; ++seed) trials_.push_back(trial_of(seed));
  for (const auto& trial : trials_) planned_.push_back(planned_of(trial));
}

void Grid::uses(int seed, const std::string& attention) {
  planned_.at(static_cast<std::size_t>(seed) - 1).plugins = plugins_with(attention);
}

void Grid::computes_on(int seed, const std::string& device) {
  trials_.at(static_cast<std::size_t>(seed) - 1).spec.train.device = device;
}

RunSummary Grid::run(RunOptions options) {
  options.record = [this](db::GridStore& into) { record(planned_, into); };
  auto executors = machine.executors();
  MemoryStore store(disk, kFile);
  return run_trials(
      planned_, executors, store, options,
      {.clock = clock, .output = output_, .stops = stops, .room = room, .process = 1, .locks = [this](const auto& history) {
         return std::make_unique<SimulatedLocks>(holders, history, 1);
       }});
}

std::string Grid::error_of_run(const RunOptions& options) {
  try {
    run(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const db::Attempt& Grid::attempt(int seed) const {
  const auto& all = history().attempts;
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const auto& one) { return one.key == key(seed); });
  if (found == all.rend()) throw Error("no attempt at the trial of seed " + std::to_string(seed));
  return *found;
}

}  // namespace ablate::simulated
