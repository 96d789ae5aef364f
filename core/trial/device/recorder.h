// What a device was asked for once, and is asked for again in one call: at the sizes of ablations it takes longer to ask for
// the operations of a step than to do them.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <memory>

namespace ablate {

/// It reads and writes the memory that it was recorded with, draws go on, and numbers of the host are those of then.
class Recorded {
 public:
  virtual ~Recorded() = default;

  /// Asks for all of it again.
  virtual void replay() = 0;
};

/// One thread.
class WorkRecorder {
 public:
  virtual ~WorkRecorder() = default;

  /// Calls `act`, whose work on the device is not done: what it makes holds nothing before a replay. What is recorded shares
  /// memory with what was recorded before it, so they are replayed in this order. Throws std::exception where something in
  /// `act` cannot be recorded (it waits for the device, or copies from the host); the device goes on as if nothing had been
  /// asked of it.
  virtual std::unique_ptr<Recorded> record(const std::function<void()>& act) = 0;
};

/// CUDA graphs of an opened device. This thread's work goes to a stream of its own from now on. Throws Error where there are
/// none: on a CPU, or in a build without CUDA's headers.
std::unique_ptr<WorkRecorder> open_recorder(c10::Device device);

/// What the library beside the programs exports (cuda/recorder.cpp).
using MakeRecorder = WorkRecorder*(c10::DeviceIndex device);

}  // namespace ablate
