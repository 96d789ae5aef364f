// Thread of a block: a fiber with its own stack, which runs until it returns control to the scheduler. A switch takes a few
// instructions, so a block may have hundreds of fibers, and barriers are cheap. Sanitizers are informed of switches. For the
// thread sanitizer each fiber is a thread, and only release() and acquire() order accesses, not switches.
#pragma once

#include <cstddef>

namespace ablate::shim {

class Fiber {
 public:
  /// @param body called with `of` at the first resume(); it must not return; it calls leave() instead
  Fiber(void (*body)(void*), void* of);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Called by the scheduler. Runs the fiber until leave().
  void resume();
  /// Called by the fiber itself: returns control to the scheduler. `forever` is true if the fiber is never resumed.
  void leave(bool forever);

 private:
  friend void begin(Fiber*);
  void (*body_)(void*);
  void* of_;
  char* stack_;
  void *own_ = nullptr, *scheduler_ = nullptr;  ///< points where the fiber and the scheduler continue
  void *own_fake_ = nullptr, *scheduler_fake_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_stack_size_ = 0;
  void *thread_ = nullptr, *scheduler_thread_ = nullptr;
};

/// Everything before release(at) happens before everything after a later acquire(at), for the thread sanitizer only.
void release(void* at);
void acquire(void* at);

}  // namespace ablate::shim
