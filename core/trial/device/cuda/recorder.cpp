// CUDA graphs behind WorkRecorder. Only this source needs CUDA's headers and libtorch_cuda.so. The source is built as a
// separate library, which a trial loads after opening its device.
#include "core/trial/device/recorder.h"

#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>

namespace ablate {
namespace {

class CudaRecorded final : public Recorded {
 public:
  explicit CudaRecorded(std::shared_ptr<at::cuda::CUDAGraph> graph) : graph_(std::move(graph)) {}
  void replay() override { graph_->replay(); }

 private:
  std::shared_ptr<at::cuda::CUDAGraph> graph_;
};

class CudaRecorder final : public WorkRecorder {
 public:
  explicit CudaRecorder(c10::DeviceIndex device)
      : device_(device), stream_(c10::cuda::getStreamFromPool(false, device)), pool_(at::cuda::graph_pool_handle()) {
    // The default stream cannot be recorded. All steps run on `stream_`, so no step waits for another stream.
    c10::cuda::setCurrentCUDAStream(stream_);
  }

  std::unique_ptr<Recorded> record(const std::function<void()>& act) override {
    auto graph = std::make_shared<at::cuda::CUDAGraph>();
    graph->capture_begin(pool_);
    try {
      act();
    } catch (...) {
      give_up(*graph);
      throw;
    }
    try {
      graph->capture_end();  // also throws if act() spoilt the capture
    } catch (...) {
      clear();
      throw;
    }
    return std::make_unique<CudaRecorded>(graph);
  }

 private:
  void give_up(at::cuda::CUDAGraph& graph) {
    try {
      graph.capture_end();
    } catch (const std::exception&) {
      clear();  // the caller rethrows the first exception
    }
  }

  /// Cleans up after a capture that torch ended only in part. Otherwise torch's allocator and generator stay in capture mode.
  void clear() {
    try {
      c10::cuda::CUDACachingAllocator::endAllocateToPool(device_, pool_);
    } catch (const std::exception&) {  // ended already
    }
    // Random draws continue from the same point, in a new generator state that no capture uses.
    auto generator = at::cuda::detail::getDefaultCUDAGenerator(device_);
    const auto drawn = generator.get_state();
    auto fresh = at::cuda::detail::createCUDAGenerator(device_);
    fresh.set_state(drawn);
    generator.graphsafe_set_state(fresh);
  }

  c10::DeviceIndex device_;
  c10::cuda::CUDAStream stream_;
  c10::MempoolId_t pool_;
};

}  // namespace
}  // namespace ablate

extern "C" __attribute__((visibility("default"))) ablate::WorkRecorder* ablate_make_recorder(c10::DeviceIndex device) {
  return new ablate::CudaRecorder(device);
}
