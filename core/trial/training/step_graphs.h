// Training steps that are recorded on a device and replayed, if replays give the same bits as plain steps.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/trial/device/recorder.h"
#include "core/trial/model/model.h"

namespace ablate {

/// Results of the forward pass of a batch with targets.
struct LossPass {
  Tensor value;        ///< the loss without auxiliary losses
  Tensor graph;        ///< the loss with auxiliary losses
  ModelOutput output;  ///< lives as long as the pass, so that peak memory does not change
};
/// Passes of a step's batches; nullopt for a batch without targets.
using LossPasses = std::vector<std::optional<LossPass>>;

/// Function that performs part number `part` of a step: calls `act`, records a call of `act`, or replays an earlier recording.
using Perform = std::function<void(std::size_t part, const std::function<void()>& act)>;

/// A step, with the tensors and generators that it changes.
struct StepWork {
  /// Runs the step's parts by `perform`. Returns the same as Training::step.
  /// @param passes owned by the caller; nullptr: each is freed after its backward pass
  std::function<std::optional<double>(const std::vector<Batch>&, const Perform& perform, LossPasses* passes)> run;
  std::function<std::vector<Tensor>()> tensors;  ///< all tensors that a step changes, in place
  std::vector<Generator> generators;             ///< all generators that a step draws from
};

/// Batch whose tensors stay at the same addresses, because recorded work reads from there.
class StaticBatch {
 public:
  explicit StaticBatch(const Batch& first);

  /// Returns the sizes and types that recorded work depends on. Batches with equal results may share a recording.
  static std::string shape_of(const Batch& batch);

  /// @param next of the same shape
  void fill(const Batch& next);
  const Batch& batch() const { return batch_; }

 private:
  Batch batch_;
};

/// The first steps of a shape are plain: not recorded. Then a step is recorded, part by part, and replayed from then on. If a
/// step cannot be recorded, all steps are plain, and why() has the reason. **Replays are compared** bit by bit with plain steps
/// from the same weights and draws. The plain step's result then counts. The first two replays of a shape are compared, then
/// replays at random gaps, which grow up to kMostGap. Random gaps also find faults that recur every few steps. Before a
/// training ends, or goes on with plain steps only, each shape's last batch is compared once more. If a tensor of the model was
/// replaced or a process ended, earlier replays cannot be compared: see uncompared(). Used by one thread.
class StepGraphs {
 public:
  StepGraphs(std::unique_ptr<WorkRecorder> recorder, StepWork work) : recorder_(std::move(recorder)), work_(std::move(work)) {}
  StepGraphs(const StepGraphs&) = delete;
  StepGraphs& operator=(const StepGraphs&) = delete;

  static constexpr int kPlainFirst = 3;          ///< plain first steps of a shape: memory and libraries' choices settle
  static constexpr std::size_t kMost = 4;        ///< shapes that are recorded; steps of other shapes are plain
  static constexpr std::size_t kMostSeen = 64;   ///< shapes whose steps are counted
  static constexpr std::int64_t kMostGap = 128;  ///< largest number of replays from one comparison to the next
  static constexpr int kMostMoved = 4;           ///< number of replacements of tensors after which all steps are plain

  /// Throws the exceptions of a step, and Error if a comparison finds other bits after replayed results were used.
  std::optional<double> step(const std::vector<Batch>& batches, bool is_last = false);

  std::int64_t replayed() const { return replayed_; }  ///< number of replayed steps, in this process
  /// Number of replayed steps without a later comparison: at most kMostGap - 1 for each shape and each replacement of a tensor.
  std::int64_t uncompared() const;
  const std::string& why() const { return why_; }  ///< reason that all steps are plain; "" if there is none

 private:
  struct Shape {
    std::vector<StaticBatch> inputs;
    std::vector<const void*> addresses;  ///< addresses of the tensors in the recording
    std::vector<std::unique_ptr<Recorded>> parts;
    LossPasses passes;
    std::int64_t replays = 0, compared = 0, next = 1;  ///< numbers of replays: the last, the last compared, the next to compare
  };
  /// Copies of all tensors and generators that a step changes.
  struct Copies {
    std::vector<Tensor> tensors, generators;
  };

  std::optional<double> one_step(const std::vector<Batch>& batches);
  std::optional<double> plain(const std::vector<Batch>& batches);
  /// Compares a replay with a plain step, both from the state `before`. Returns the loss of the plain step, whose results stay.
  std::optional<double> compared(Shape& shape, const std::vector<Batch>& batches, const Copies& before);
  std::optional<double> replay(Shape& shape, const std::vector<Batch>& batches);
  std::optional<double> record(Shape& shape, const std::vector<Batch>& batches);
  std::vector<const void*> addresses() const;
  /// Compares the last batch of each shape whose last replay was not compared, then restores the state. Throws as step().
  void compare_last();
  Copies copy() const;
  void restore(const Copies& copies);
  /// True if a shape has come often enough to be recorded. Counts this step.
  bool recurs(const std::string& shape);
  void give_up(const std::string& why);

  std::unique_ptr<WorkRecorder> recorder_;
  StepWork work_;
  std::map<std::string, Shape> shapes_;
  std::map<std::string, int> occurrences_;
  std::int64_t replayed_ = 0, uncompared_ = 0;
  int moved_ = 0;
  bool uses_uncompared_ = false;  ///< true if the result of an uncompared replay is in use
  std::string why_;
};

}  // namespace ablate
