// What straight-through calls leave for the suite; plugins have no use for it.
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <memory>
#include <vector>

#include "ablate/tensor.h"

namespace ablate {

/// The smooth function whose gradient straight-through estimators declare, held at one point. While it is set in a thread, the
/// calls of a pass are recorded there; later passes replay them. It is set through torch's own thread-local slot for tests,
/// which is one for all libraries of a process.
struct Surrogate : c10::DebugInfoBase {
  static constexpr auto kSlot = c10::DebugInfoKind::TEST_INFO;
  struct Call {
    Tensor hard, soft;
  };
  std::vector<Call> calls;
  std::size_t next = 0;
  bool replays = false;

  /// This thread's, or null: as a rule, and always outside of the suite.
  static Surrogate* current() { return static_cast<Surrogate*>(c10::ThreadLocalDebugInfo::get(kSlot)); }
};

/// Sets it in this thread as long as this lives. @param surrogate null: nothing is set
class WithSurrogate {
 public:
  explicit WithSurrogate(const std::shared_ptr<Surrogate>& surrogate) : guard_(Surrogate::kSlot, surrogate) {}

 private:
  c10::DebugInfoGuard guard_;
};

}  // namespace ablate
