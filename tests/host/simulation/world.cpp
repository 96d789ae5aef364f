#include "tests/host/simulation/world.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.h"
#include "tests/host/simulation/troubles.h"

namespace ablate::simulation {
namespace {

using simulated::Grid;

constexpr int kMostSteps = 50'000, kMostRounds = 6;
constexpr double kMostQuiet_s = 86'400;
constexpr double kTroubleInCall = 0.3;  ///< chance of trouble; otherwise another scheduler makes a step

/// Returns the trials. They are made once for all simulations, because making them would take most of a simulation's time.
const std::vector<PlannedTrial>& all_trials() {
  static const auto trials = [] {
    std::vector<Trial> made;
    for (int seed = 1; seed <= Scenario::kMostTrials; ++seed) made.push_back(simulated::trial_of(seed));
    return made;
  }();
  static const auto planned = [] {
    std::vector<PlannedTrial> made;
    for (const auto& trial : trials) {
      made.push_back(simulated::planned_of(trial));
      made.back().plugins = simulated::plugins_with(Scenario::plugin(static_cast<int>(made.size())));
    }
    return made;
  }();
  return planned;
}

std::vector<PlannedTrial> first_trials(int count) { return {all_trials().begin(), all_trials().begin() + count}; }

std::vector<std::string> keys(const std::vector<PlannedTrial>& planned) {
  std::vector<std::string> all;
  for (const auto& trial : planned) all.push_back(trial.key);
  return all;
}

std::set<std::string> all_retries() {
  const auto all = retry_choices();
  return {all.begin(), all.end()};
}

}  // namespace

World::World(std::uint64_t seed, Faults faults)
    : dice_(seed),
      scenario_(dice_),
      faults_(std::move(faults)),
      planned_(first_trials(scenario_.trials())),
      ledger_(disk_, scenario_, keys(planned_)) {
  clock_.while_waiting = [this](double moment_s) { wait(moment_s); };
  disk_.fails = [this](const std::filesystem::path& file) { call(file); };
  disk_.files[Grid::kFile];
  holders_.places_are_kept = true;
}

void World::add_output(int scheduler, const std::string& text) {
  ledger_.add_output(scheduler, text);
  auto line = text;
  if (line.ends_with('\n')) line.pop_back();
  trace_.add(fmt::format("{}: {}", scheduler, line));
}

void World::ended(int scheduler, const RunSummary& summary) { ledger_.ended(scheduler, summary); }

void World::go_on(SimulatedScheduler* own) {
  if (own == nullptr) return;
  while (!own->is_killed() && own->stopped_until_s() > clock_.now_s())
    if (!step()) clock_.pass_until(own->stopped_until_s());
  if (own->is_killed()) throw Killed();
}

void World::point() {
  auto* own = runs_now();
  if (own != nullptr && own->is_killed()) throw Killed();
  if (own == nullptr || disk_.writer != nullptr || !dice_.chance(scenario_.at_calls)) return;
  if (!is_quiet_ && dice_.chance(kTroubleInCall))
    Troubles(*this).one();
  else
    step();
  go_on(own);
}

void World::call(const std::filesystem::path& file) {
  point();
  const bool is_temporary = !file.native().starts_with("/simulated");
  if (file == Grid::kFile) {
    if (runs_now()->has_lost_database()) throw db::Gone("the file was removed");
    if (is_damaged_) throw Error("database disk image is malformed");
    if (clock_.now_s() < locked_until_s_ || (!is_quiet_ && dice_.chance(scenario_.locked)))
      throw db::Unavailable("database is locked");
  }
  if (clock_.now_s() < (is_temporary ? temporary_full_until_s_ : full_until_s_)) throw db::Unavailable("the disk is full");
}

void World::wait(double moment_s) {
  auto* own = runs_now();
  if (own != nullptr && own->is_killed()) throw Killed();
  while (clock_.now_s() < moment_s && disk_.writer == nullptr && dice_.chance(scenario_.overlap) && step()) {
  }
  clock_.pass_until(moment_s);
  go_on(own);
}

std::vector<SimulatedScheduler*> World::living() const {
  std::vector<SimulatedScheduler*> all;
  for (const auto& one : schedulers_)
    if (one->lives()) all.push_back(one.get());
  return all;
}

bool World::step() {
  if (!ledger_.broken().invariant.empty()) return false;
  auto ready = living();
  std::erase_if(ready, [&](const auto* one) {
    return one->stopped_until_s() > clock_.now_s() || std::find(stack_.begin(), stack_.end(), one) != stack_.end();
  });
  if (ready.empty()) return false;
  if (!is_quiet_ && dice_.chance(scenario_.troubles)) {
    Troubles(*this).one();
    return true;
  }
  auto* one = dice_.one_of(ready);
  trace_.mix(one->number());
  stack_.push_back(one);
  one->step();
  stack_.pop_back();
  ++report_.steps;
  look();
  return true;
}

void World::look() {
  std::vector<Living> all;
  for (auto* one : living()) all.push_back({one->number(), one->at_a_time(), one->running()});
  ledger_.look(all, !has_lost_locks_);
}

void World::step_until(const std::function<bool()>& enough, int most_steps) {
  const int before = report_.steps;
  while (ledger_.broken().invariant.empty() && !enough() && report_.steps - before < most_steps) {
    if (step()) continue;
    const auto all = living();
    if (all.empty()) return;
    double first_s = simulated::kNever;
    for (const auto* one : all) first_s = std::min(first_s, one->stopped_until_s());
    clock_.pass_until(first_s);
  }
}

Report World::run() {
  const auto nobody_lives = [&] { return living().empty(); };
  while (report_.steps < scenario_.chaos_steps && ledger_.broken().invariant.empty() && !is_everything_done()) {
    repair();
    start_some();
    step_until([&] { return report_.steps >= scenario_.chaos_steps; }, kMostSteps);
  }
  quieten();
  const double quiet_s = clock_.now_s();
  for (int round = 0; ledger_.broken().invariant.empty(); ++round) {
    step_until(nobody_lives, kMostSteps);
    if (!nobody_lives() || clock_.now_s() - quiet_s > kMostQuiet_s || round > kMostRounds + scenario_.trials())
      ledger_.breaks(invariant::kEnds, fmt::format("{} schedulers live {:.0f} s and {} rounds of runs after the last trouble",
                                                   living().size(), clock_.now_s() - quiet_s, round));
    repair();
    if (round > 0 && is_everything_done()) break;
    start_some();
  }
  ledger_.look_at_end();
  report_.broken = ledger_.broken();
  report_.last_events = trace_.last();
  report_.digest = trace_.digest();
  report_.seen = ledger_.seen();
  report_.runs = static_cast<int>(schedulers_.size());
  report_.simulated_s = clock_.now_s();
  return report_;
}

void World::start_some() {
  for (int count = dice_.whole(1, scenario_.schedulers); count > 0; --count) start_scheduler();
}

void World::start_scheduler() {
  if (is_taken_ || is_damaged_ || static_cast<int>(living().size()) >= scenario_.schedulers) return;
  const int number = static_cast<int>(schedulers_.size()) + 1;
  RunOptions options{.at_a_time = static_cast<int>(dice_.of_any_size(1, 8.99)),
                     .timeout_s = scenario_.timeout_s,
                     .again = !is_quiet_ && scenario_.again && dice_.chance(0.3),
                     .retry = is_quiet_ || dice_.chance(0.5) ? all_retries() : std::set<std::string>(),
                     .max_failures = {.trials = !is_quiet_ && dice_.chance(scenario_.max_failures) ? dice_.whole(1, 4) : 0},
                     .checkpoint_s = scenario_.checkpoints && dice_.chance(0.7) ? 600.0 : 0,
                     .record = [this](db::GridStore& into) { into.together([&] { simulated::record(planned_, into); }); },
                     .load_s = 20,
                     .answer_s = dice_.between(1, 5),
                     .ping_s = dice_.between(2, 20)};
  trace_.add(fmt::format("scheduler {} starts with {} trials at a time{}", number, options.at_a_time,
                         options.again ? ", --again" : ""));
  ledger_.begins(number, options);
  schedulers_.push_back(std::make_unique<SimulatedScheduler>(*this, number, options));
}

void World::quieten() {
  is_quiet_ = true;
  full_until_s_ = temporary_full_until_s_ = locked_until_s_ = low_disk_until_s_ = low_memory_until_s_ = 0;
  for (auto* one : living()) one->goes_on();
  trace_.add("it is quiet");
}

void World::repair() {
  if (!living().empty()) return;
  auto& whole = disk_.files.at(Grid::kFile);
  std::set<std::string> known;
  for (const auto& attempt : whole.attempts) known.insert(attempt.uid);
  for (const auto& [file, history] : disk_.files) {
    if (file == Grid::kFile) continue;
    for (const auto& attempt : history.attempts)
      if (known.insert(attempt.uid).second) whole.attempts.push_back(attempt);
    for (const auto& trial : history.trials)
      if (std::find(whole.trials.begin(), whole.trials.end(), trial) == whole.trials.end()) whole.trials.push_back(trial);
    whole.metrics.insert(history.metrics.begin(), history.metrics.end());
  }
  std::erase_if(disk_.files, [](const auto& one) { return one.first != Grid::kFile; });
  is_taken_ = is_damaged_ = has_lost_locks_ = false;  // new schedulers lock slots of the new file
  ledger_.forget_files();
  look();
}

bool World::is_everything_done() const {
  for (int seed = 1; seed <= scenario_.trials(); ++seed)
    if (!ledger_.was_tried(seed) || ledger_.is_left_undone(seed)) return false;
  return true;
}

}  // namespace ablate::simulation
