#include "core/host/proof/prove.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <map>

#include "core/host/proof/carried.h"
#include "core/util/scratch_folder.h"
#include "db/history/lineage.h"
#include "db/history/reader.h"

namespace ablate {
namespace {

using nlohmann::json;

struct Pair {
  const PlannedTrial* now;
  db::PastTrial before;
};

/// Null where more than code differs, or nothing.
Change change_of(const json& before, const json& now) {
  Change change = json::object();
  if (before.at("data") != now.at("data") || before.at("torch") != now.at("torch")) return nullptr;
  if (before.at("plugins").size() != now.at("plugins").size()) return nullptr;
  for (const auto& [path, code] : now.at("plugins").items()) {
    const auto other = before.at("plugins").find(path);
    if (other == before.at("plugins").end()) return nullptr;
    if (*other != code) change["plugins"][other->get<std::string>()] = code;
  }
  for (const auto* name : kOwnVersions)
    if (const auto one = before.value(name, json()), other = now.value(name, json()); one != other) change[name] = {one, other};
  return change.empty() ? nullptr : change;
}

/// What of the machine differs, of all that can change a number; the compiler and ablate's own revision are what is being
/// proven.
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

/// Those that can be repeated for a proof, by the change that it would prove.
std::map<Change, std::vector<Pair>> candidates(const std::vector<const PlannedTrial*>& trials, const db::Reader& reader,
                                               const json& environment) {
  std::vector<std::string> keys;
  for (const auto* trial : trials) keys.push_back(trial->key);
  const auto done = db::done_attempts(reader, keys);
  std::map<Change, std::vector<Pair>> found;
  std::string why;
  for (const auto* trial : trials) {
    if (done.contains(trial->key)) continue;
    const auto& identity = trial->identity;
    for (const auto& past : db::done_with(reader, identity.settings)) {
      const auto change = change_of(past.parts.basis, identity.basis);
      if (change.is_null()) continue;
      const auto now = with_values(*trial);
      if (const auto defaults = changed_defaults(now, past.parts); !defaults.empty()) {
        why = fmt::format("; attempt {} was trained with other values: {}", past.attempt,
                          default_text(defaults.front(), past.parts.values, now.values.at(defaults.front())));
        continue;
      }
      const auto elsewhere = environment_difference(db::environment_of(reader, past.attempt), environment);
      if (elsewhere.empty()) {
        found[change].push_back({trial, past});
        break;
      }
      why = fmt::format("; attempt {} was in another environment, where numbers may be others: {}", past.attempt, elsewhere);
    }
  }
  if (!found.empty()) return found;
  for (const auto& line : reader.left_out()) why += "; " + line;
  throw Error(
      fmt::format("there is nothing to prove: {} of the {} trials are done, and none of the others is done under other code "
                  "alone, with the same settings, data and torch, on this machine{}. --dry-run says of each how it differs",
                  done.size(), trials.size(), why));
}

ChangedCode changed_code(const Change& change) {
  ChangedCode changed{.runtime = change.contains("runtime") || change.contains("kernels")};
  const auto plugins = change.value("plugins", json::object());
  for (const auto& [before, after] : plugins.items()) changed.plugins.insert(before);
  return changed;
}

/// What is repeated for one change of code, and what that covers.
struct Repetition {
  Change change;
  std::vector<Pair> pairs;
  Coverage coverage;
};

Repetition repetition_of(const Change& change, const std::vector<Pair>& all, int least) {
  std::vector<Identity> before;
  for (const auto& pair : all) before.push_back(pair.before.parts);
  Repetition picked{change, {}, Coverage(changed_code(change), before, static_cast<std::size_t>(least))};
  for (const auto index : picked.coverage.picked()) picked.pairs.push_back(all[index]);
  return picked;
}

db::Proof proof_of(const Repetition& repeated, const json& environment, std::vector<db::Alias> aliases) {
  const auto& change = repeated.change;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  db::Proof proof{.proven_us = std::chrono::duration_cast<std::chrono::microseconds>(now).count(), .environment = environment};
  proof.before = proof.now = {{"plugins", json::array()}};
  const auto plugins = change.value("plugins", json::object());
  for (const auto& [before, after] : plugins.items())
    proof.before["plugins"].push_back(before), proof.now["plugins"].push_back(after);
  for (const auto* name : kOwnVersions)
    if (change.contains(name)) proof.before[name] = change[name][0], proof.now[name] = change[name][1];
  for (const auto& pair : repeated.pairs) proof.attempts.push_back(pair.before.attempt);
  proof.aliases = std::move(aliases);
  return proof;
}

}  // namespace

ProofSummary prove(const std::vector<const PlannedTrial*>& trials, int least, Executors& executors, db::Store& store,
                   const RunOptions& how, const Catalog& catalog) {
  const db::Reader reader(store.file());
  const auto environment = executors.need().environment();
  std::vector<Repetition> picked;
  std::vector<PlannedTrial> to_run;
  for (const auto& [change, pairs] : candidates(trials, reader, environment)) {
    picked.push_back(repetition_of(change, pairs, least));
    for (const auto& pair : picked.back().pairs) to_run.push_back(*pair.now);
  }
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
  for (const auto& one : picked)
    for (const auto& [now, before] : one.pairs) {
      const auto done = db::done_attempts(repeated, {now->key});
      if (done.empty())
        summary.differences.push_back(fmt::format("attempt {}: repeated, it ends otherwise: {}", before.attempt,
                                                  db::last_failures(repeated, {now->key})[now->key]));
      else
        compare(before.attempt, numbers_of(reader, before.attempt), numbers_of(repeated, done.begin()->second),
                summary.differences);
    }
  if (!summary.differences.empty()) return summary;
  Carried carried(reader, catalog);
  for (const auto& one : picked)
    if (const auto number = store.put_proof(proof_of(one, environment, carried.carry(one.change, one.coverage))); number != 0)
      summary.proofs.push_back(number);
  summary.kept = carried.kept();
  summary.left = carried.left();
  summary.may_prove_more = carried.may_prove_more();
  summary.left_out = reader.left_out();
  return summary;
}

}  // namespace ablate
