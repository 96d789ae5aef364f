#include "tests/host/simulation/troubles.h"

namespace ablate::simulation {

double Troubles::until_s(double least, double most) { return world_.clock_.now_s() + world_.dice_.of_any_size(least, most); }

void Troubles::one() {
  const auto trouble = world_.scenario_.draw(world_.dice_);
  const auto before = world_.trace_.digest();
  happen(trouble);
  if (world_.trace_.digest() != before) ++world_.report_.troubles[static_cast<std::size_t>(trouble)];
}

void Troubles::happen(Trouble trouble) {
  auto& dice = world_.dice_;
  switch (trouble) {
    case Trouble::kNewScheduler:
      return world_.start_scheduler();
    case Trouble::kFullDisk:
      world_.full_until_s_ = until_s(0.1, 1000);
      if (dice.chance(0.3)) world_.temporary_full_until_s_ = until_s(0.1, 1000);
      return world_.trace_.add(fmt::format("the disk is full until {:.3f} s", world_.full_until_s_));
    case Trouble::kLowDisk:
      world_.low_disk_until_s_ = until_s(0.1, 1000);
      return world_.trace_.add(fmt::format("little of the disk is free until {:.3f} s", world_.low_disk_until_s_));
    case Trouble::kLowMemory:
      world_.low_memory_until_s_ = until_s(0.1, 1000);
      return world_.trace_.add(fmt::format("little memory is free until {:.3f} s", world_.low_memory_until_s_));
    case Trouble::kLockedDatabase:
      world_.locked_until_s_ = until_s(0.05, 60);
      return world_.trace_.add(fmt::format("the database is locked until {:.3f} s", world_.locked_until_s_));
    case Trouble::kTakenDatabase:
      world_.is_taken_ = true;
      for (auto* one : world_.living()) one->loses_database();
      return world_.trace_.add("the database is taken away");
    case Trouble::kDamagedDatabase:
      world_.is_damaged_ = true;
      return world_.trace_.add("the database is damaged");
    case Trouble::kLostLocks:
      world_.has_lost_locks_ = true;
      for (auto* one : world_.living()) world_.holders_.dies(one->number());
      return world_.trace_.add("all locks are lost");
    case Trouble::kSetClock: {
      const double by_s = (dice.chance(0.5) ? 1 : -1) * dice.of_any_size(1, 1e6);
      world_.clock_.set_forward(by_s);
      return world_.trace_.add(fmt::format("the clock is set by {:.0f} s", by_s));
    }
    case Trouble::kDelay:
      world_.clock_.pass_until(until_s(1, 1e4));
      return world_.trace_.add("the machine slept");
    case Trouble::kKilledScheduler:
    case Trouble::kStoppedScheduler:
    case Trouble::kInterrupt:
    case Trouble::kMildStop:
    case Trouble::kKilledWorker:
    case Trouble::kStoppedWorker:
    case Trouble::kKilledTrial:
      if (const auto all = world_.living(); !all.empty()) befall(trouble, *dice.one_of(all));
  }
}

void Troubles::befall(Trouble trouble, SimulatedScheduler& one) {
  auto& trace = world_.trace_;
  auto* worker = one.worker();
  const auto running = one.running();
  if (trouble == Trouble::kKilledScheduler) {
    trace.add(fmt::format("scheduler {} is killed", one.number()));
    one.kill();
  } else if (trouble == Trouble::kStoppedScheduler) {
    one.stop_until(until_s(0.1, 300));
    trace.add(fmt::format("scheduler {} is stopped until {:.3f} s", one.number(), one.stopped_until_s()));
  } else if (trouble == Trouble::kInterrupt) {
    const int times = world_.dice_.chance(0.3) ? 2 : 1;
    for (int i = 0; i < times; ++i) one.is_asked_to_stop(false);
    trace.add(fmt::format("scheduler {} is asked to stop{}", one.number(), times > 1 ? ", twice" : ""));
  } else if (trouble == Trouble::kMildStop) {
    one.is_asked_to_stop(true);
    trace.add(fmt::format("scheduler {} is asked to start nothing more", one.number()));
  } else if (trouble == Trouble::kKilledWorker && worker != nullptr) {
    trace.add(fmt::format("the worker of scheduler {} is killed", one.number()));
    worker->is_killed("signal 9 (Killed)");
  } else if (trouble == Trouble::kStoppedWorker && worker != nullptr) {
    const double moment_s = until_s(0.1, 60);
    trace.add(fmt::format("the worker of scheduler {} is stopped until {:.3f} s", one.number(), moment_s));
    worker->is_stopped_until(moment_s);
  } else if (trouble == Trouble::kKilledTrial && !running.empty()) {
    const auto seed = world_.dice_.one_of(std::vector<std::uint64_t>(running.begin(), running.end()));
    trace.add(fmt::format("the trial of seed {} of scheduler {} is killed", seed, one.number()));
    worker->is_killed(seed);
  }
}

}  // namespace ablate::simulation
