// CUDA graphs behind WorkRecorder: the one source that needs CUDA's headers and libtorch_cuda.so, a library of its own, which a
// trial loads once its device is open.
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
    // The default stream cannot be recorded. All steps go to this one, so that none waits for another.
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
      graph->capture_end();  // throws, too, where something has spoilt the capture
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
      clear();  // the first exception is the one to tell
    }
  }

  /// After a capture that torch has not ended as a whole: its allocator and its generator would wait for the end.
  void clear() {
    try {
      c10::cuda::CUDACachingAllocator::endAllocateToPool(device_, pool_);
    } catch (const std::exception&) {  // ended already
    }
    // The same draws go on, in a state that no capture knows.
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
