#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

// This file is compiled without the thread sanitizer (tests/cuda/CMakeLists.txt), but linked with it.
#ifdef ABLATE_SHIM_TSAN
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* at);
void __tsan_release(void* at);
}
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace ablate::shim {
namespace {

constexpr std::size_t kStack = 256 << 10, kGuard = 4096;
[[maybe_unused]] constexpr unsigned kOrdersNothing = 1;  // flag of __tsan_switch_to_fiber

}  // namespace

void begin(Fiber* fiber) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(nullptr, &fiber->scheduler_stack_, &fiber->scheduler_stack_size_);
#endif
  fiber->body_(fiber->of_);
  __builtin_trap();
}

#if defined(__x86_64__)
extern "C" void ablate_shim_switch(void** from, void* to);
extern "C" void ablate_shim_begin();
extern "C" void ablate_shim_enter(Fiber* fiber) { begin(fiber); }
// Pushes the registers that a call must preserve onto the old stack, then restores them from the new stack.
asm(R"(
.text
.globl ablate_shim_switch
.type ablate_shim_switch, @function
ablate_shim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.globl ablate_shim_begin
.type ablate_shim_begin, @function
ablate_shim_begin:
  movq %rbx, %rdi
  xorl %ebp, %ebp
  call ablate_shim_enter@PLT
  ud2
)");

namespace {
void* prepared(char* stack, Fiber* fiber) {
  // Stack as if ablate_shim_begin had been interrupted: six registers, with the fiber in rbx, and the return address.
  auto** top = reinterpret_cast<void**>(stack + kStack);
  *--top = nullptr;
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(&ablate_shim_begin);
  void* const registers[] = {nullptr, fiber, nullptr, nullptr, nullptr, nullptr};  // rbp, rbx, r12 to r15
  for (void* one : registers) *--top = one;
  return top;
}
void change(void** from, void* to) { ablate_shim_switch(from, to); }
void discard(void*) {}
}  // namespace
#else
namespace {
void enter(unsigned high, unsigned low) { begin(reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low)); }
void* prepared(char* stack, Fiber* fiber) {
  auto* context = new ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = kStack;
  context->uc_link = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(fiber);
  makecontext(context, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
  return context;
}
void change(void** from, void* to) {
  if (*from == nullptr) *from = new ucontext_t;  // context of the scheduler, one for each fiber
  swapcontext(static_cast<ucontext_t*>(*from), static_cast<ucontext_t*>(to));
}
void discard(void* context) { delete static_cast<ucontext_t*>(context); }
}  // namespace
#endif

Fiber::Fiber(void (*body)(void*), void* of) : body_(body), of_(of) {
  void* const memory =
      mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mprotect(memory, kGuard, PROT_NONE);  // a stack overflow ends there
  stack_ = static_cast<char*>(memory) + kGuard;
  own_ = prepared(stack_, this);
#ifdef ABLATE_SHIM_TSAN
  thread_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#ifdef ABLATE_SHIM_TSAN
  __tsan_destroy_fiber(thread_);
#endif
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(stack_, kStack);
#endif
  discard(own_), discard(scheduler_);
  munmap(stack_ - kGuard, kGuard + kStack);
}

void Fiber::resume() {
#ifdef ABLATE_SHIM_TSAN
  scheduler_thread_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(thread_, kOrdersNothing);
#endif
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&scheduler_fake_, stack_, kStack);
#endif
  change(&scheduler_, own_);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(scheduler_fake_, nullptr, nullptr);
#endif
}

void Fiber::leave([[maybe_unused]] bool forever) {
#ifdef ABLATE_SHIM_TSAN
  __tsan_switch_to_fiber(scheduler_thread_, kOrdersNothing);
#endif
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(forever ? nullptr : &own_fake_, scheduler_stack_, scheduler_stack_size_);
#endif
  change(&own_, scheduler_);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(own_fake_, &scheduler_stack_, &scheduler_stack_size_);
#endif
}

void release([[maybe_unused]] void* at) {
#ifdef ABLATE_SHIM_TSAN
  __tsan_release(at);
#endif
}

void acquire([[maybe_unused]] void* at) {
#ifdef ABLATE_SHIM_TSAN
  __tsan_acquire(at);
#endif
}

}  // namespace ablate::shim
