// Record of straight-through calls, for the suite only. Plugins do not use it.
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <memory>
#include <vector>

#include "ablate/tensor.h"

namespace ablate {

/// Straight-through calls of one pass. While a surrogate is set in a thread, it records the calls of a pass, and later passes
/// replay them. A replay is a smooth function with the gradient that the estimators declare. The surrogate is set in torch's
/// thread-local slot for tests, which all libraries share.
struct Surrogate : c10::DebugInfoBase {
  static constexpr auto kSlot = c10::DebugInfoKind::TEST_INFO;
  struct Call {
    Tensor hard, soft;
  };
  std::vector<Call> calls;
  std::size_t next = 0;
  bool replays = false;

  /// Returns this thread's surrogate, or null if none is set. Outside the suite none is ever set.
  static Surrogate* current() { return static_cast<Surrogate*>(c10::ThreadLocalDebugInfo::get(kSlot)); }
};

/// Sets a surrogate in this thread for the lifetime of this object.
/// @param surrogate null: sets none
class WithSurrogate {
 public:
  explicit WithSurrogate(const std::shared_ptr<Surrogate>& surrogate) : guard_(Surrogate::kSlot, surrogate) {}

 private:
  c10::DebugInfoGuard guard_;
};

}  // namespace ablate
