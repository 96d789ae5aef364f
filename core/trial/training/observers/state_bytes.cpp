// Size of the state that all layers together carry from segment to segment.
#include "core/trial/training/observer.h"
#include "core/trial/training/trial_model.h"

namespace ablate {
namespace {

/// Reads the state only at the end, so it has nothing to save.
class StateBytes final : public Observer {
 public:
  explicit StateBytes(const Observed& observed) : state_(observed.state) {}

  void end(std::vector<Scored>& scores) const override {
    if (state_.empty()) return;
    scores.push_back(training_score("memory/state", static_cast<double>(state_bytes_of(state_)) / kMiB));
  }

 private:
  const ModelState& state_;
};

}  // namespace

std::unique_ptr<Observer> observers::state_bytes(const Observed& observed) { return std::make_unique<StateBytes>(observed); }

}  // namespace ablate
