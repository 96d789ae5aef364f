#include "core/host/proof/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "core/records/setting_paths.h"
#include "core/shared/optimizers.h"
#include "core/shared/schedules.h"
#include "core/util/plain_json.h"
#include "core/util/scratch_folder.h"
#include "db/history/lineage.h"
#include "db/history/reader.h"

namespace ablate {
namespace {

using nlohmann::json;

/// A trial under today's code, and the same trial as it was done under the old code.
struct Pair {
  const PlannedTrial* now;
  db::PastTrial before;
  json patch;  ///< made by code_patch()
};

using Scopes = std::map<std::string, std::vector<Pair>>;

/// Returns the difference between two machines, if it can change a number: "processor: it was ..., and is ...". The compiler
/// and ablate's own revision do not count, since the proof is about them.
std::string environment_difference(const json& before, const json& now) {
  for (const auto* part : {"host", "processor", "cpu_capability", "gpus", "gpu_driver", "torch", "libraries", "variables"})
    if (before.value(part, json()) != now.value(part, json()))
      return fmt::format("{}: it was {}, and is {}", part, before.value(part, json()).dump(), now.value(part, json()).dump());
  return "";
}

std::map<std::string, double> numbers_of(const db::Reader& reader, std::int64_t attempt) {
  std::map<std::string, double> numbers;
  for (const auto& result : db::results_of(reader, attempt))
    if (!result.metric.is_measured()) numbers[result.metric.name] = result.value;
  return numbers;
}

void compare(std::int64_t attempt, const std::map<std::string, double>& before, const std::map<std::string, double>& now,
             std::vector<std::string>& differences) {
  for (const auto& [metric, value] : before)
    if (const auto other = now.find(metric); other == now.end())
      differences.push_back(fmt::format("attempt {}: {} is no longer measured", attempt, metric));
    else if (std::bit_cast<std::uint64_t>(value) != std::bit_cast<std::uint64_t>(other->second))
      differences.push_back(fmt::format("attempt {}: {} is {:.17g}, was {:.17g}", attempt, metric, other->second, value));
  for (const auto& [metric, value] : now)
    if (!before.contains(metric)) differences.push_back(fmt::format("attempt {}: {} was not measured", attempt, metric));
}

/// Returns the trials that can be repeated for a proof.
std::vector<Pair> candidates(const std::vector<const PlannedTrial*>& trials, const db::Reader& reader,
                             const json& environment) {
  std::vector<std::string> keys;
  for (const auto* trial : trials) keys.push_back(trial->key);
  const auto done = db::done_attempts(reader, keys);
  std::vector<Pair> found;
  std::string why;
  for (const auto* trial : trials) {
    if (done.contains(trial->key)) continue;
    std::optional<Identity> now;  // made only if needed, because all defaults must be resolved for it
    for (const auto& past : db::done_with(reader, trial->identity.settings)) {
      const auto patch = code_patch(past.parts.basis, trial->identity.basis);
      if (patch.is_null()) continue;
      if (!now) now = with_values(*trial);
      if (const auto paths = changed_defaults(*now, past.parts); !paths.empty()) {
        why = fmt::format("; attempt {} was trained with another value of {}: its default was {} and is {}", past.attempt,
                          paths.front(), plain_json(past.parts.values.at(paths.front())),
                          plain_json(now->values.at(paths.front())));
        continue;
      }
      const auto elsewhere = environment_difference(db::environment_of(reader, past.attempt), environment);
      if (elsewhere.empty()) {
        found.push_back({trial, past, patch});
        break;
      }
      why = fmt::format("; attempt {} was in another environment, where numbers may differ: {}", past.attempt, elsewhere);
    }
  }
  if (!found.empty()) return found;
  for (const auto& line : reader.left_out()) why += "; " + line;
  throw Error(fmt::format(
      "there is nothing to prove: {} of the {} trials are done. A proof needs another trial with the settings, data, torch and "
      "machine of a done trial, but with other code; there is none{}. --dry-run shows how each trial differs",
      done.size(), trials.size(), why));
}

/// Returns the paths of [train] whose values change only numbers that a plugin receives, but no shape, call or step count. All
/// other options of [train] are in the scope. A new option is in the scope until it is added here.
const std::set<std::string>& numbers_alone() {
  static const auto paths = [] {
    std::set<std::string> names{"learning_rate", "optimizer", "schedule",   "warmup",        "weight_decay",
                                "decayed",       "clip",      "loss_piece", "shuffle_labels"};
    for (const auto& brought : {own_of("optimizer", kOptimizers), own_of("schedule", kSchedules)})
      for (const auto& parameter : brought) names.insert(parameter.name);
    std::set<std::string> all;
    for (const auto& name : names) all.insert(setting::in(section::kTrain, name));
    return all;
  }();
  return paths;
}

/// Returns the first trial of each scope. If these are fewer than `least`, adds other trials, evenly spread, up to `least`.
std::vector<const Pair*> chosen(const Scopes& scopes, std::size_t least) {
  std::vector<const Pair*> picked, others;
  for (const auto& [scope, pairs] : scopes)
    for (const auto& pair : pairs) (&pair == &pairs.front() ? picked : others).push_back(&pair);
  const auto more = std::min(others.size(), std::max(least, picked.size()) - picked.size());
  for (std::size_t i = 0; i < more; ++i) picked.push_back(others[i * others.size() / more]);
  return picked;
}

/// Returns a new key for each done trial in one of the scopes, unless a done trial already has this key.
std::vector<db::Alias> aliases_of(const db::Reader& reader, const Scopes& scopes, Reach reach) {
  std::map<std::string, db::Alias> by_key;
  std::vector<std::string> keys;
  for (const auto& past : db::all_done(reader)) {
    const auto at = scopes.find(scope_of(past.parts, reach));
    if (at == scopes.end()) continue;
    Identity now{past.parts.settings, past.parts.basis};
    now.basis.merge_patch(at->second.front().patch);
    keys.push_back(now.key());
    by_key.try_emplace(keys.back(), db::Alias{keys.back(), past.trial, now.basis});  // the latest trial comes first
  }
  for (const auto& [key, attempt] : db::done_attempts(reader, keys)) by_key.erase(key);
  std::vector<db::Alias> aliases;
  for (auto& [key, alias] : by_key) aliases.push_back(std::move(alias));
  return aliases;
}

/// Returns the code that differs (new if `now`, else old): {"plugins": [identities], "runtime": version}.
json code_of(const std::vector<const Pair*>& repeated, bool now) {
  std::map<std::string, std::string> plugins;  // new identity by old identity
  json versions = json::object();
  for (const auto* pair : repeated) {
    const auto& before = pair->before.parts.basis;
    const auto& patch = pair->patch;
    const auto changed = patch.value("plugins", json::object());
    for (const auto& [path, code] : changed.items()) plugins[before.at("plugins").at(path)] = code;
    for (const auto* name : kOwnVersions)
      if (patch.contains(name)) versions[name] = now ? patch.at(name) : before.value(name, json());
  }
  auto code = versions;
  code["plugins"] = json::array();
  for (const auto& [old_code, new_code] : plugins) code["plugins"].push_back(now ? new_code : old_code);
  return code;
}

}  // namespace

json code_patch(const json& before, const json& now) {
  auto patch = json::object();
  const auto &olds = before.at("plugins"), &news = now.at("plugins");
  if (before.at("data") != now.at("data") || before.at("torch") != now.at("torch") || olds.size() != news.size())
    return nullptr;
  for (const auto& [path, code] : news.items()) {
    if (!olds.contains(path)) return nullptr;
    if (olds.at(path) != code) patch["plugins"][path] = code;
  }
  for (const auto* name : kOwnVersions)
    if (before.value(name, json()) != now.value(name, json())) patch[name] = now.value(name, json());
  return patch.empty() ? nullptr : patch;
}

Reach reach_of(const json& patch) {
  if (patch.contains("runtime") || patch.contains("kernels")) return Reach::kHost;
  const auto& plugins = patch.at("plugins");  // keyed by path, as in the settings
  return plugins.size() == 1 && plugins.begin().key() == section::kTask ? Reach::kTask : Reach::kPlugin;
}

std::string scope_of(const Identity& before, Reach reach) {
  const auto is_attention = [](const std::string& path) {
    return path == section::kAttention || is_below(path, section::kAttention);
  };
  Identity scope{json::object(), before.basis};
  for (const auto& [path, value] : before.values.items()) {
    const bool counts =
        path != setting::kSeed &&
        (reach == Reach::kHost || (!numbers_alone().contains(path) && (reach != Reach::kTask || !is_attention(path))));
    if (counts) scope.settings[path] = value;
  }
  auto& plugins = scope.basis.at("plugins");
  for (auto plugin = plugins.begin(); plugin != plugins.end();)
    plugin = reach == Reach::kTask && is_attention(plugin.key()) ? plugins.erase(plugin) : std::next(plugin);
  return scope.key();
}

ProofSummary prove(const std::vector<const PlannedTrial*>& trials, int least, Executors& executors, db::Store& store,
                   const RunOptions& how) {
  const db::Reader reader(store.file());
  const auto environment = executors.need().environment();
  const auto pairs = candidates(trials, reader, environment);
  auto reach = Reach::kTask;
  for (const auto& pair : pairs) reach = std::max(reach, reach_of(pair.patch));
  Scopes scopes;
  for (const auto& pair : pairs) scopes[scope_of(pair.before.parts, reach)].push_back(pair);
  const auto picked = chosen(scopes, static_cast<std::size_t>(least));
  std::vector<PlannedTrial> to_run;
  for (const auto* pair : picked) to_run.push_back(*pair->now);
  const ScratchFolder scratch;
  const auto scratch_file = scratch.path() / "proof.db";
  db::Store repeats(scratch_file);
  auto again = how;
  again.again = true;
  again.record = [&](db::GridStore& into) {
    const auto experiment = into.put_experiment({"proof", "", "", "", {}});
    std::vector<db::GridTrial> rows;
    for (const auto& trial : to_run) rows.push_back({trial.key, trial.trial->resolved()});
    into.put_trials(experiment, rows);
  };
  const auto ran = run_trials(to_run, executors, repeats, again);
  if (ran.interrupted) throw Error("interrupted: nothing is proven, and the history is as it was", ExitCode::kInterrupted);
  const db::Reader repeated(scratch_file);
  ProofSummary summary{.repeated = static_cast<int>(to_run.size())};
  for (const auto* pair : picked) {
    const auto& key = pair->now->key;
    const auto attempt = pair->before.attempt;
    const auto done = db::done_attempts(repeated, {key});
    if (done.empty())
      summary.differences.push_back(
          fmt::format("attempt {}: its repetition ended differently: {}", attempt, db::last_failures(repeated, {key})[key]));
    else
      compare(attempt, numbers_of(reader, attempt), numbers_of(repeated, done.begin()->second), summary.differences);
  }
  if (summary.differences.empty()) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    db::Proof proof{std::chrono::duration_cast<std::chrono::microseconds>(now).count(),
                    code_of(picked, false),
                    code_of(picked, true),
                    environment,
                    {},
                    aliases_of(reader, scopes, reach)};
    for (const auto* pair : picked) proof.attempts.push_back(pair->before.attempt);
    summary.proof = store.put_proof(proof);
    summary.kept = proof.aliases.size();
  }
  summary.left_out = reader.left_out();
  return summary;
}

}  // namespace ablate
