// Recorded device work, which one call repeats. At the sizes of ablations, launching a step takes longer than computing it.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <memory>

namespace ablate {

/// Recorded work. A replay uses the recording's memory, and the numbers that the host passed then. Random draws continue.
class Recorded {
 public:
  virtual ~Recorded() = default;

  /// Launches all recorded work again.
  virtual void replay() = 0;
};

/// Recorder of device work. Used by one thread.
class WorkRecorder {
 public:
  virtual ~WorkRecorder() = default;

  /// Calls `act` and records its work without computing it. Tensors that `act` makes have no values before a replay. Recordings
  /// share memory with earlier ones, so they must be replayed in the order of recording. Throws std::exception if `act` does
  /// something that cannot be recorded: waiting for the device, or copying from the host. The device then continues as if `act`
  /// had not been called.
  virtual std::unique_ptr<Recorded> record(const std::function<void()>& act) = 0;
};

/// Opens CUDA graphs on an opened device and moves this thread's work to a separate stream from now on. Throws Error on a CPU,
/// and in a build without CUDA's headers.
std::unique_ptr<WorkRecorder> open_recorder(c10::Device device);

/// Type of the function that the library cuda-graphs.so exports (cuda/recorder.cpp).
using MakeRecorder = WorkRecorder*(c10::DeviceIndex device);

}  // namespace ablate
