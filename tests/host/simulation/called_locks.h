// A wrapper of Locks that calls a function before take(), is_held() and keep_slot(), so that other schedulers may continue.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "core/util/byte_locks.h"

namespace ablate::simulation {

class CalledLocks final : public Locks {
 public:
  /// @param point the function; it may throw
  CalledLocks(std::unique_ptr<Locks> locks, std::function<void()> point) : locks_(std::move(locks)), point_(std::move(point)) {}

  bool take(std::int64_t slot) override { return point_(), locks_->take(slot); }
  bool is_held(std::int64_t slot) override { return point_(), locks_->is_held(slot); }
  void keep_slot() override { point_(), locks_->keep_slot(); }
  std::string doubt() override { return locks_->doubt(); }
  void remove() override { locks_->remove(); }

 private:
  std::unique_ptr<Locks> locks_;
  std::function<void()> point_;
};

}  // namespace ablate::simulation
