// Observers measure every training while it runs. A new observer needs a line here and the file named in that line:
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

/// Each line: a file and its function, in the order of calls. step_times is first, so its times include no other observer.
// clang-format off
#define ABLATE_OBSERVERS(observer) \
  observer(step_times)             \
  observer(loss_window)            \
  observer(peak_memory)            \
  observer(state_bytes)
// clang-format on

/// Data that an observer may read. All of it outlives the observer.
struct Observed {
  const TrainSpec& train;
  c10::Device device;
  const ModelState& state;  ///< states of the lanes, after the latest step; empty if no state is carried
};

/// Measures a training and changes nothing in it. Its values are saved and loaded with the training. Used by one thread.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Called before the first step in this process, also if the training resumes.
  virtual void begin() {}
  virtual void step_begins() {}
  virtual void has_loss() {}       ///< called for each batch of a step
  virtual void has_gradients() {}  ///< called for each batch of a step
  /// Called with the step, from 1, and the loss without auxiliary losses; nullopt if no batch had a target.
  virtual void step_ends(std::int64_t, std::optional<double>, Curve&) {}
  virtual void evaluation_begins() {}  ///< on the dev split
  virtual void evaluation_ends() {}
  /// Adds the observer's metrics. Called after the last step, if there was any step.
  virtual void end(std::vector<Scored>&) const {}

  virtual nlohmann::json save() const { return nullptr; }
  virtual void load(const nlohmann::json&) {}
};

struct NamedObserver {
  const char* name;  ///< name of its file
  std::unique_ptr<Observer> observer;
};

/// Makes every observer of the list.
std::vector<NamedObserver> make_observers(const Observed& observed);

/// Each observer's factory, in its own file.
namespace observers {
#define ABLATE_OBSERVER(file) std::unique_ptr<Observer> file(const Observed& observed);
ABLATE_OBSERVERS(ABLATE_OBSERVER)
#undef ABLATE_OBSERVER
}  // namespace observers

inline constexpr double kMiB = 1024.0 * 1024.0;

/// Returns the metric of training_metrics() with that name. Throws std::logic_error if there is none.
Scored training_score(const std::string& name, double value);

/// Returns the interquartile range of the times (at least one), divided by the median, in %. Drops the first of more than two
/// times, because the first step allocates memory that later steps reuse.
double spread(std::vector<double> times);

}  // namespace ablate
