#include "tests/host/simulation/scheduler.h"

#include <fmt/format.h>

#include "core/util/error.h"
#include "tests/host/simulation/world.h"

namespace ablate::simulation {

std::string text_of(const RunSummary& summary) {
  return fmt::format("{} done, {} failed, {} skipped, {} set aside, {} not started, {} done and {} failed elsewhere{}",
                     summary.done, summary.failed, summary.skipped, summary.set_aside.total(), summary.not_started,
                     summary.elsewhere, summary.failed_elsewhere, summary.interrupted ? ", interrupted" : "");
}

bool UserOutput::write(std::string_view text) noexcept {
  if (!is_killed_) world_.add_output(scheduler_, std::string(text));
  return true;
}

SimulatedScheduler::SimulatedScheduler(World& world, int number, const RunOptions& options)
    : world_(world),
      number_(number),
      at_a_time_(options.at_a_time),
      options_(options),
      output_(world, number),
      life_(std::make_unique<Life>(world.clock())) {
  life_->machine.environment["process"] = number;
  options_.notify = [this](const Notice& notice) {
    if (!killed_) world_.ledger().notified(number_, notice);
  };
  world.faults().options(options_);
  world.script(life_->machine, *this);
}

Surroundings SimulatedScheduler::surroundings() {
  Surroundings outside{.clock = world_.clock(),
                       .output = output_,
                       .stops = {.often = [this] { return signals_; },
                                 .who = [] { return std::string("signal 15 (Terminated)"); },
                                 .first_is_mild = [this] { return first_is_mild_; }},
                       .room = world_.room(),
                       .process = number_,
                       .locks = [this](const std::filesystem::path& history) { return world_.locks_of(history, number_); }};
  world_.faults().outside(outside);
  return outside;
}

void SimulatedScheduler::is_asked_to_stop(bool mildly) {
  if (signals_++ > 0) return;
  first_is_mild_ = mildly;
  last_starts_ = steps_;  // a scheduler in the middle of a step may be about to start trials
}

void SimulatedScheduler::starts(std::uint64_t seed) {
  if (signals_ > 0 && steps_ > last_starts_)
    world_.ledger().breaks(invariant::kStop, fmt::format("scheduler {} starts the trial of seed {}", number_, seed));
  world_.ledger().starts(number_, seed);
  if (world_.ledger().limits_failures(number_)) world_.ledger().starts(number_, seed, life_->grid->summary());
}

void SimulatedScheduler::advance() {
  if (!life_->grid) {
    life_->store = world_.open_store(number_);
    life_->executors = std::make_unique<Executors>(life_->machine.executors());
    life_->grid = std::make_unique<WholeGrid>(world_.planned(), *life_->executors, *life_->store, options_, surroundings());
    return;
  }
  if (life_->grid->step()) return;
  const auto summary = life_->grid->summary();
  world_.ended(number_, summary);
  end("ends: " + text_of(summary));
}

void SimulatedScheduler::step() {
  on_stack_ = true;
  ++steps_;
  try {
    advance();
  } catch (const Killed&) {
    life_.reset();
  } catch (const Error& error) {
    end(std::string("ends by an error: ") + error.what());
    world_.ledger().ended_by(number_, error);
  } catch (const std::exception& error) {
    end(std::string("ends by an exception: ") + error.what());
    world_.ledger().breaks(invariant::kError, fmt::format("scheduler {} ended by an exception: {}", number_, error.what()));
  }
  on_stack_ = false;
}

void SimulatedScheduler::end(const std::string& how) {
  life_.reset();
  world_.trace().add(fmt::format("scheduler {} {}", number_, how));
}

void SimulatedScheduler::kill() {
  killed_ = true;
  output_.is_killed();
  world_.frees_locks_of(number_);
  if (!on_stack_) life_.reset();
}

}  // namespace ablate::simulation
