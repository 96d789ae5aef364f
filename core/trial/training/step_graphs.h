// Training steps that are recorded on a device and replayed, where that gives the same bits as asking for each operation.
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

/// What a forward pass of a batch with targets has given.
struct LossPass {
  Tensor value;        ///< the loss without auxiliary losses
  Tensor graph;        ///< with them
  ModelOutput output;  ///< lives as long, so that peak memory is what it always was
};
/// Of each batch of a step; nothing of one without targets.
using LossPasses = std::vector<std::optional<LossPass>>;

/// How a part of a step is done, by its number: `act` is called at once, recorded, or replayed instead.
using Perform = std::function<void(std::size_t part, const std::function<void()>& act)>;

/// A step, with what it learns from.
struct StepWork {
  /// Does its parts by `perform`. @param passes kept by the caller; nullptr: each ends with its backward pass @return as
  /// Training::step
  std::function<std::optional<double>(const std::vector<Batch>&, const Perform& perform, LossPasses* passes)> run;
  std::function<std::vector<Tensor>()> tensors;  ///< all that a step changes, in place
  std::vector<Generator> generators;             ///< all that it draws from
};

/// A batch whose tensors stay where they are, as what is recorded asks for.
class StaticBatch {
 public:
  explicit StaticBatch(const Batch& first);

  /// What recorded work depends on besides the numbers: sizes and types. Two batches of one text may share it.
  static std::string shape_of(const Batch& batch);

  /// @param next of the same shape
  void fill(const Batch& next);
  const Batch& batch() const { return batch_; }

 private:
  Batch batch_;
};

/// The first steps of a shape are plain; then one is recorded, part by part, and replayed from then on. Where something cannot
/// be recorded, all steps are plain, and why() says why. **A replayed step is compared** with the plain one, from the same
/// weights and draws, bit by bit: the first two of a shape (whose plain results stand), others at gaps that are drawn, which
/// grow with the number of replays up to kMostGap. So what comes back every so many steps is met, too. Before a training ends
/// or goes on plainly, each shape's last batch is taken once more, from the weights of then, both ways; what stood before a
/// tensor of the model was replaced, or a process ended, can be no more: uncompared(). One thread.
class StepGraphs {
 public:
  StepGraphs(std::unique_ptr<WorkRecorder> recorder, StepWork work) : recorder_(std::move(recorder)), work_(std::move(work)) {}
  StepGraphs(const StepGraphs&) = delete;
  StepGraphs& operator=(const StepGraphs&) = delete;

  static constexpr int kPlainFirst = 3;    ///< of each shape: memory and libraries' choices settle, and it is one that recurs
  static constexpr std::size_t kMost = 4;  ///< shapes that are recorded; of others all steps are plain
  static constexpr std::size_t kMostSeen = 64;   ///< shapes of which it is counted how often they have come
  static constexpr std::int64_t kMostGap = 128;  ///< replays from a comparison to the next
  static constexpr int kMostMoved = 4;           ///< times that a step is recorded anew, because tensors are others

  /// Throws what a step throws, and Error where steps that stand may have been wrong: a later comparison found other bits.
  std::optional<double> step(const std::vector<Batch>& batches, bool is_last = false);

  std::int64_t replayed() const { return replayed_; }  ///< steps, in this process
  /// Of these, those that no comparison has followed; at most kMostGap - 1 of each shape, and as many again each time that a
  /// tensor is replaced.
  std::int64_t uncompared() const;
  const std::string& why() const { return why_; }  ///< all steps are plain; "" as long as they need not be

 private:
  struct Shape {
    std::vector<StaticBatch> inputs;
    std::vector<const void*> addresses;  ///< of the tensors that it was recorded with
    std::vector<std::unique_ptr<Recorded>> parts;
    LossPasses passes;
    std::int64_t replays = 0, compared = 0, next = 1;  ///< numbers of the last replay, and of the last and next compared
  };
  /// All that a step changes, at one time.
  struct Kept {
    std::vector<Tensor> tensors, generators;
  };

  std::optional<double> one_step(const std::vector<Batch>& batches);
  std::optional<double> plain(const std::vector<Batch>& batches);
  /// @param before what stands, from which both ways begin @return of the plain step, whose results stand
  std::optional<double> compared(Shape& shape, const std::vector<Batch>& batches, const Kept& before);
  std::optional<double> replay(Shape& shape, const std::vector<Batch>& batches);
  std::optional<double> record(Shape& shape, const std::vector<Batch>& batches);
  std::vector<const void*> addresses() const;
  /// Each shape whose last replay was not compared takes it once more, and plainly; nothing changes. Throws as step().
  void compare_last();
  Kept keep() const;
  void restore(const Kept& kept);
  /// Whether a shape has come often enough to be recorded; counts.
  bool recurs(const std::string& shape);
  void give_up(const std::string& why);

  std::unique_ptr<WorkRecorder> recorder_;
  StepWork work_;
  std::map<std::string, Shape> shapes_;
  std::map<std::string, int> seen_;
  std::int64_t replayed_ = 0, uncompared_ = 0;
  int moved_ = 0;
  bool stands_ = false;  ///< the result of a replay that was not compared
  std::string why_;
};

}  // namespace ablate
