#include "tests/host/simulation/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "core/records/outcome.h"
#include "tests/host/simulated/grid.h"

namespace ablate::simulation {
namespace {}  // namespace

Ledger::Ledger(const simulated::Disk& disk, const Scenario& scenario, std::vector<std::string> keys)
    : disk_(disk), scenario_(scenario) {
  for (std::size_t i = 0; i < keys.size(); ++i) seeds_[keys[i]] = static_cast<int>(i) + 1;
}

void Ledger::breaks(const char* invariant, const std::string& what) {
  if (broken_.invariant.empty()) broken_ = {invariant, what};
}

int Ledger::seed_of(const std::string& key) const {
  const auto found = seeds_.find(key);
  return found == seeds_.end() ? 0 : found->second;
}

void Ledger::add_output(int scheduler, const std::string& text) {
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one);) line(scheduler, one);
}

/// Reads a line: "[3/8] done      10 s  seed=4  test/accuracy 4.00 %", or a note.
void Ledger::line(int scheduler, const std::string& text) {
  if (says(text, "the database can be written again, and everything is in it") || says(text, "running trials are stored in"))
    return promise_waiting(scheduler);
  if (const auto late = text.find("the result of seed="); late != std::string::npos && says(text, "came late"))
    waiting_[scheduler].erase(std::atoi(text.c_str() + late + 19));
  if (const auto at = text.find("seed="); at != std::string::npos) {
    const std::pair own{scheduler, std::atoi(text.c_str() + at + 5)};
    if (text.starts_with('[') && says(text, "] oom ")) ++of_memory_shown_[own];
    if (says(text, " ran out of memory beside ")) again_alone_[own] = of_memory_shown_[own];
  }
  if (says(text, " written to disk, then ended")) befell_.insert("saved");
  const auto label = text.find("  seed=");
  if (!text.starts_with('[') || label == std::string::npos || !says(text, "] done ")) return;
  const int seed = std::atoi(text.c_str() + label + 7);
  if (says(text, "; could not be stored anywhere") || says(text, "; came late")) return;
  if (says(text, "waits to be written"))
    waiting_[scheduler].insert(seed);
  else
    promise(scheduler, seed);
}

void Ledger::promise(int scheduler, int seed) { promised_.emplace_back(scheduler, seed); }

void Ledger::promise_waiting(int scheduler) {
  for (const int seed : waiting_[scheduler]) promise(scheduler, seed);
  waiting_[scheduler].clear();
}

void Ledger::read(const db::Attempt& attempt) {
  if (!uids_.insert(attempt.uid).second) return;
  const int seed = seed_of(attempt.key);
  const int scheduler = attempt.environment.value("process", 0);
  tried_.insert(seed);
  ++by_[scheduler][attempt.outcome];
  befell_.insert(attempt.outcome);
  const bool is_of_memory = attempt.outcome == outcome::kOom;
  if (is_of_memory || says(attempt.reason, "; it was oom")) of_memory_[{scheduler, seed}].push_back(is_of_memory);
  failed_[seed] += tries_of({attempt.outcome});
  if (attempt.outcome != "done") return;
  const auto found = attempt.results.find("test/accuracy");
  if (found == attempt.results.end() || found->second != seed)
    breaks(invariant::kOwnResult,
           fmt::format("the trial of seed {} is recorded with {}", seed,
                       found == attempt.results.end() ? "no test/accuracy" : fmt::format("test/accuracy {}", found->second)));
  done_.insert(seed);
}

void Ledger::read_shared(const db::Attempt& attempt, const simulated::History& history) {
  if (uids_.contains(attempt.uid)) return;
  const int seed = seed_of(attempt.key);
  read_try(seed, attempt.environment.value("process", 0), tries_of({attempt.outcome}));
  if (attempt.outcome != "done") return;
  if (!fences_.insert(attempt.fence).second)
    breaks(invariant::kOneResult, fmt::format("fence {} has two results, the second of seed {}", attempt.fence, seed));
  const auto newest = history.leases.at(attempt.key).fence;
  if (with_again_.empty() && newest != attempt.fence)
    breaks(invariant::kOneResult,
           fmt::format("seed {} has a result under fence {}; the newest is {}", seed, attempt.fence, newest));
  if (const auto again = with_again_.size(); static_cast<std::size_t>(++shared_[seed]) > 1 + again)
    breaks(invariant::kDoneOnce,
           fmt::format("the trial of seed {} is recorded as done {} times; {} runs had --again", seed, shared_[seed], again));
}

/// A run with --again ignores the history. It tries each trial once. A trial that ran out of memory beside others has another
/// try, alone.
void Ledger::read_try(int seed, int scheduler, int tries) {
  constexpr int kMostAgain = 2;
  const bool is_again = with_again_.contains(scheduler);
  auto& count = is_again ? failed_again_[{scheduler, seed}] : shared_failed_[seed];
  if ((count += tries) > (is_again ? kMostAgain : kMostTries))
    breaks(invariant::kTries, fmt::format("the trial of seed {} has failed {} times {}", seed, count,
                                          is_again ? fmt::format("under scheduler {}, with --again", scheduler)
                                                   : "under schedulers without --again"));
}

void Ledger::look(const std::vector<Living>& living, bool have_locks) {
  for (const auto& [file, history] : disk_.files) {
    auto& seen = seen_[file.string()];
    if (history.attempts.size() < seen)
      breaks(invariant::kNothingLost,
             fmt::format("{} has {} attempts, and had {}", file.string(), history.attempts.size(), seen));
    for (; seen < history.attempts.size(); ++seen) {
      if (file == simulated::Grid::kFile) read_shared(history.attempts[seen], history);
      read(history.attempts[seen]);
    }
  }
  for (const auto& [scheduler, seed] : promised_)
    if (!is_done(seed))
      breaks(invariant::kNothingLost,
             fmt::format("scheduler {} reported seed {} as done, but no file has its result", scheduler, seed));
  promised_.clear();
  std::map<std::uint64_t, int> owners;
  for (const auto& [scheduler, at_a_time, running] : living) {
    if (static_cast<int>(running.size()) > at_a_time)
      breaks(invariant::kJobs,
             fmt::format("scheduler {} runs {} trials, and may run {} at a time", scheduler, running.size(), at_a_time));
    for (const auto seed : running) {
      if (running.size() > 1 && alone_[scheduler].contains(seed))
        breaks(invariant::kAlone, fmt::format("scheduler {} runs the trial of seed {} beside others", scheduler, seed));
      const auto [other, is_first] = owners.try_emplace(seed, scheduler);
      if (!is_first && have_locks)
        breaks(invariant::kOneOwner,
               fmt::format("schedulers {} and {} run the trial of seed {}", other->second, scheduler, seed));
    }
  }
}

void Ledger::begins(int scheduler, const RunOptions& options) {
  most_failures_[scheduler] = options.max_failures.trials;
  if (options.again) with_again_.insert(scheduler);  // this run may do each trial once more, despite earlier results
}

void Ledger::starts(int scheduler, std::uint64_t seed) {
  if (with_again_.contains(scheduler)) return;
  for (const auto& attempt : disk_.files.at(simulated::Grid::kFile).attempts)
    if (attempt.outcome == outcome::kOom && seed_of(attempt.key) == static_cast<int>(seed)) alone_[scheduler].insert(seed);
}

void Ledger::notified(int scheduler, const Notice& notice) {
  if (++notices_[scheduler][notice.event] > 1)
    breaks(invariant::kNotices, fmt::format("scheduler {} notifies twice of \"{}\"", scheduler, notice.event));
}

void Ledger::starts(int scheduler, std::uint64_t seed, const RunSummary& summary) {
  const int most = most_failures_[scheduler];
  if (most > 0 && summary.failed >= most)
    breaks(invariant::kMostFailures,
           fmt::format("scheduler {} starts the trial of seed {} after {} failures, at most {} are allowed", scheduler, seed,
                       summary.failed, most));
}

int Ledger::uncounted(int scheduler) const {
  int count = 0;
  for (const auto& [own, which] : again_alone_) {
    const auto found = of_memory_.find(own);
    if (own.first != scheduler || found == of_memory_.end()) continue;
    if (which >= 1 && which <= found->second.size() && found->second[which - 1]) ++count;
  }
  return count;
}

void Ledger::ended(int scheduler, const RunSummary& summary) {
  promise_waiting(scheduler);
  look({}, true);
  auto& own = by_[scheduler];
  int failed = -uncounted(scheduler);
  for (const auto& [outcome, count] : own)
    if (counts_as_failed(outcome)) failed += count;
  if (summary.done != own["done"] || summary.failed != failed)
    breaks(invariant::kSummary, fmt::format("scheduler {} sums up {}; recorded are {} done and {} failed", scheduler,
                                            text_of(summary), own["done"], failed));
  const int sum = summary.done + summary.failed + summary.skipped + summary.elsewhere + summary.failed_elsewhere +
                  summary.not_started + summary.set_aside.total();
  if (summary.interrupted ? sum > scenario_.trials() : sum != scenario_.trials())
    breaks(invariant::kSummary,
           fmt::format("scheduler {} sums up {}, of {} trials", scheduler, text_of(summary), scenario_.trials()));
  auto& notices = notices_[scheduler];
  if (notices["end"] != 1 || (summary.failed > 0 && notices["failure"] != 1))
    breaks(invariant::kNotices, fmt::format("scheduler {} notified {} times of its end, {} times of a failure, and sums up {}",
                                            scheduler, notices["end"], notices["failure"], text_of(summary)));
  if (summary.set_aside.quarantined > 0) befell_.insert("quarantined");
  if (summary.set_aside.exhausted > 0) befell_.insert("exhausted");
  if (!summary.set_aside.by_outcome.empty()) befell_.insert("set aside");
  if (summary.not_started > 0) befell_.insert("not started");
  if (uncounted(scheduler) > 0) befell_.insert("again alone");
}

void Ledger::ended_by(int scheduler, const Error& error) {
  const std::string what = error.what();
  if (what.empty()) breaks(invariant::kError, "what() is empty");
  // The file that the message names has the results that waited, unless they could not be stored.
  if (!says(what, "could not be stored")) promise_waiting(scheduler);
  look({}, true);
}

bool Ledger::is_left_undone(int seed) const {
  const auto failed = failed_.find(seed);
  const auto nature = scenario_.nature(seed);
  const bool does_nothing_wrong = nature == Nature::kGood || nature == Nature::kLacksMemoryBesideOthers;
  return does_nothing_wrong && !is_done(seed) && (failed == failed_.end() || failed->second < kMostTries);
}

void Ledger::look_at_end() {
  for (int seed = 1; seed <= scenario_.trials(); ++seed) {
    if (is_left_undone(seed)) breaks(invariant::kBlameless, fmt::format("the trial of seed {} is not done", seed));
    if (!was_tried(seed)) breaks(invariant::kEnds, fmt::format("the trial of seed {} has no attempt", seed));
  }
}

}  // namespace ablate::simulation
