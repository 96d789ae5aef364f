// What is measured of every training while it runs. A new observer is a line here and the file that it names:
// core/trial/training/observers/FILE.cpp.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/shared/trial_spec.h"
#include "core/trial/model/model.h"
#include "core/trial/objectives/scores.h"
#include "core/trial/training/curve.h"

namespace ablate {

/// File and function. They see everything in this order: step times first, so that nobody else's work counts into them.
// clang-format off
#define ABLATE_OBSERVERS(observer) \
  observer(step_times)             \
  observer(loss_window)            \
  observer(peak_memory)            \
  observer(state_bytes)
// clang-format on

/// What an observer may look at; all of it outlives the observer.
struct Observed {
  const TrainSpec& train;
  c10::Device device;
  const ModelState& state;  ///< of the lanes, after the latest step; empty where none is carried
};

/// Watches, and changes nothing of a training. Its values are saved and loaded with the training. One thread.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Before the first step in this process: of the training, or of what is left of it.
  virtual void begin() {}
  virtual void step_begins() {}
  virtual void has_loss() {}       ///< of one of a step's batches
  virtual void has_gradients() {}  ///< of one of a step's batches
  /// @param step from 1 @param loss without auxiliary losses; nothing where no batch had a target
  virtual void step_ends(std::int64_t, std::optional<double>, Curve&) {}
  virtual void evaluation_begins() {}  ///< on the dev split
  virtual void evaluation_ends() {}
  /// After the last step, of which there is one at least: adds its metrics.
  virtual void end(std::vector<Scored>&) const {}

  virtual nlohmann::json save() const { return nullptr; }
  virtual void load(const nlohmann::json&) {}
};

struct NamedObserver {
  const char* name;  ///< of its file
  std::unique_ptr<Observer> observer;
};

/// Every one of the list.
std::vector<NamedObserver> make_observers(const Observed& observed);

/// Each observer's, in its own file.
namespace observers {
#define ABLATE_OBSERVER(file) std::unique_ptr<Observer> file(const Observed& observed);
ABLATE_OBSERVERS(ABLATE_OBSERVER)
#undef ABLATE_OBSERVER
}  // namespace observers

inline constexpr double kMiB = 1024.0 * 1024.0;

/// One of training_metrics(), by its name. Throws std::logic_error for another.
Scored training_score(const std::string& name, double value);

/// The middle half of the times over their median, in %: how far apart they lie. The first is left out where there are more
/// than two, since it pays for memory that the others find. @param times at least one
double spread(std::vector<double> times);

}  // namespace ablate
