// Peak memory of all tensors in training steps, without evaluations.
#include <algorithm>

#include "core/trial/device/device.h"
#include "core/trial/training/observer.h"

namespace ablate {
namespace {

class PeakMemory final : public Observer {
 public:
  explicit PeakMemory(const Observed& observed) : device_(observed.device) {}

  void begin() override { watch(); }
  void evaluation_begins() override { bytes_ = so_far(), watches_ = false; }
  void evaluation_ends() override { watch(); }
  void end(std::vector<Scored>& scores) const override {
    scores.push_back(training_score("memory/peak_tensor", static_cast<double>(so_far()) / kMiB));
  }

  nlohmann::json save() const override { return so_far(); }
  void load(const nlohmann::json& saved) override { bytes_ = saved, watches_ = false; }

 private:
  void watch() {
    reset_peak_memory(device_);
    watches_ = true;
  }
  std::int64_t so_far() const { return watches_ ? std::max(bytes_, peak_memory(device_)) : bytes_; }

  c10::Device device_;
  std::int64_t bytes_ = 0;
  bool watches_ = false;  ///< true if the device's peak belongs to training steps
};

}  // namespace

std::unique_ptr<Observer> observers::peak_memory(const Observed& observed) { return std::make_unique<PeakMemory>(observed); }

}  // namespace ablate
