// A thread of a block: a stack of its own, which runs until it hands back to the scheduler. Switching is a few instructions, so
// that a block may have hundreds and a barrier cost nothing. Sanitizers are told; to that of threads each fiber is a thread,
// and a switch orders nothing: what orders is release() and acquire().
#pragma once

#include <cstddef>

namespace ablate::shim {

class Fiber {
 public:
  /// @param body called with `of` at the first resume(); it may not return, but ends with leave(true)
  Fiber(void (*body)(void*), void* of);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Called by the scheduler: runs until leave().
  void resume();
  /// Called by the fiber itself. @param forever it is never resumed
  void leave(bool forever);

 private:
  friend void begin(Fiber*);
  void (*body_)(void*);
  void* of_;
  char* stack_;
  void *own_ = nullptr, *scheduler_ = nullptr;  ///< where each goes on
  void *own_fake_ = nullptr, *scheduler_fake_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_stack_size_ = 0;
  void *thread_ = nullptr, *scheduler_thread_ = nullptr;
};

/// What a thread did before release(at) is seen by whoever has called acquire(at) since: for the thread sanitizer alone.
void release(void* at);
void acquire(void* at);

}  // namespace ablate::shim
