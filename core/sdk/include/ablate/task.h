// Tasks: sequences and the targets that a model predicts for them. Torch-free, so that a task compiles in a second.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ablate/geometry.h"
#include "ablate/plugin.h"
#include "ablate/values.h"

namespace ablate {

/// Arguments of a task's factory. Owned by the host, valid only during the call: copy the values that are needed later.
struct TaskContext {
  const Values& parameters;
  std::filesystem::path cache;  ///< existing folder for this task's data; write a temporary file, then rename it
  int threads;                  ///< largest number of threads that load() may use
};

enum class Split : int { kTrain, kDev, kTest };

enum class Objective {
  kClass,      ///< one class for a sequence, or for a pair of sequences
  kPositions,  ///< a class at each position that has a target, for example the next token
  kDecoded,    ///< like kPositions, but all targets are predicted from one vector of the sequence: tests the vector's capacity
};

enum class Sampling {
  kExamples,  ///< examples by index
  kStream,    ///< one contiguous text for each split, read in segments; an index is a token's position
};

/// Data at each position: an id of a vocabulary, or some real numbers.
struct Field {
  std::string name;             ///< snake_case
  std::int64_t vocabulary = 0;  ///< ids lie in [0, vocabulary) and are embedded; at least 2; 0: reals
  std::int64_t reals = 0;       ///< real numbers of a position, which are projected
};

/// Metric that a task itself computes from the answers to an example (Task::judge). Its mean over examples is reported beside
/// the objective's metrics as dev/NAME, test/NAME.
struct OwnMetric {
  std::string name;         ///< snake_case
  std::string unit = {};    ///< "%", "tokens"; "": a plain number
  std::string direction;    ///< "max", "min", or "" if neither direction is better
  std::string description;  ///< one line
};

/// Description of a task's sequences and targets.
struct TaskInfo {
  std::vector<Field> fields;      ///< at least one, for the same positions; their embeddings are added up
  std::int64_t sequences = 1;     ///< 1, or 2: a pair of sequences with the same length and fields
  std::int64_t length = 0;        ///< positions of the longest sequence (others are padded to it), or of a stream's segment
  std::int64_t train_length = 0;  ///< positions of the longest sequence in the training split; 0: length
  std::int64_t classes = 0;       ///< targets lie in [0, classes)
  Objective objective = Objective::kClass;
  Sampling sampling = Sampling::kExamples;
  bool causal = false;  ///< the model must not see later positions: they show a target, or the task is read left to right
  bool holes = false;   ///< positions may be absent anywhere, not only at the end
  Geometry geometry = {};
  /// Unit of a target, in the singular. Scores are reported in bits per byte for "byte", in bits per dimension for "dimension",
  /// as a perplexity for "word", and as a share of hits for "".
  std::string unit = {};
  /// Names of numbers that group examples ("pairs"), snake_case. Every metric is also reported by group: test/accuracy@pairs=8.
  std::vector<std::string> slices = {};
  std::vector<OwnMetric> metrics = {};  ///< only for tasks with examples
};

/// Memory of a batch: owned by the host, valid only during the call, row-major, filled by the calling thread. Before the call
/// all numbers are 0, all positions are present, all targets are -1 (no target), and no row starts a text.
struct BatchView {
  std::int64_t length;  ///< positions of a row: info().length; for a stream the requested number, at most info().length
  /// By sequence, then field: ids [batch, length] or reals [batch, length, Field::reals]. A span of the other kind is empty.
  std::vector<std::span<std::int64_t>> ids;
  std::vector<std::span<float>> reals;
  std::vector<std::span<std::uint8_t>> present;  ///< by sequence: [batch, length], 0 at absent positions
  std::span<std::uint8_t> starts;                ///< for a stream: [batch], 1 if a new text begins with the row
  std::span<std::int64_t> targets;               ///< [batch] for kClass, otherwise [batch, length]; -1: no target
  std::span<std::int64_t> slices;                ///< [batch, info().slices]
};

/// Task, owned by the host. The host calls info() first and load() once, from one thread. After load() it calls the const
/// functions, possibly from several threads. Every call may throw std::exception with a message that contains the file, the
/// value found and the value expected. Equal parameters and files must give equal examples in the same order, for any number of
/// threads. The host checks every index before a call, and ids, targets and shapes after it.
class Task {
 public:
  virtual ~Task() = default;

  /// Returns the description. Cheap (milliseconds): reads parameters and file headers only. The same before and after load().
  virtual TaskInfo info() = 0;
  /// Returns the data files, so that the host can detect changes. Empty if all data are generated. After info().
  virtual std::vector<std::filesystem::path> files() { return {}; }
  /// Reads, generates or converts the data. Generated data are stored in the cache folder.
  virtual void load() = 0;
  /// Returns a hash in hex of the content of all splits: part of a trial's identity. After load().
  virtual std::string digest() const = 0;
  /// Returns the number of examples, or for a stream the number of positions with a target. After load().
  virtual std::int64_t size(Split split) const = 0;
  /// Fills a batch with examples, by index in [0, size(split)). Throws std::out_of_range for another index. For a stream, row i
  /// contains the positions from indices[i] on, and positions after the end of the split are absent. After load().
  virtual void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const = 0;
  /// Returns an example as text for a person. After load().
  virtual std::string describe(Split split, std::int64_t index) const = 0;
  /// Computes info().metrics of an example, in their order. Called only if info() has metrics. After load().
  /// @param answers for each target the likeliest class of the model, -1 without a target
  virtual void judge(Split split, std::int64_t index, std::span<const std::int64_t> answers, std::span<double> values) const {
    static_cast<void>(split), static_cast<void>(index), static_cast<void>(answers), static_cast<void>(values);
  }
};

}  // namespace ablate

/// Exports a task class with a constructor from const TaskContext&. Second argument: an About in braces.
#define ABLATE_TASK(Class, ...)                                                                          \
  namespace {                                                                                            \
  constexpr ::ablate::Descriptor ablate_descriptor = [] {                                                \
    auto descriptor = ::ablate::detail::describe(::ablate::Kind::kTask, ::ablate::About __VA_ARGS__);    \
    descriptor.make_task = [](const ::ablate::TaskContext& context) -> std::unique_ptr<::ablate::Task> { \
      return std::make_unique<Class>(context);                                                           \
    };                                                                                                   \
    return descriptor;                                                                                   \
  }();                                                                                                   \
  }                                                                                                      \
  ABLATE_EXPORT_PLUGIN(ablate_descriptor)
