// Tasks: where sequences come from, and what is asked of them. Torch-free, so that a task compiles in a second.
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

/// What a task is made with: the host's, valid only during the factory's call. Copy what is needed later.
struct TaskContext {
  const Values& parameters;
  std::filesystem::path cache;  ///< a folder for this task's data, which exists; write a temporary file, then rename it
  int threads;                  ///< how many threads load() may use
};

enum class Split : int { kTrain, kDev, kTest };

enum class Objective {
  kClass,      ///< one class of a sequence, or of a pair of them
  kPositions,  ///< a class at each position that has a target; the next token is one
  kDecoded,    ///< the same, all of them told from one vector of the sequence: what fits into it is what is asked
};

enum class Sampling {
  kExamples,  ///< examples by index
  kStream,    ///< one contiguous text a split, read in segments; an index is a token's position
};

/// What stands at each position: an id of a vocabulary, or some real numbers.
struct Field {
  std::string name;             ///< snake_case
  std::int64_t vocabulary = 0;  ///< ids lie in [0, vocabulary) and are embedded; at least 2; 0: reals
  std::int64_t reals = 0;       ///< numbers a position, which are projected
};

/// A number by which a task itself judges the answers to an example (Task::judge), told beside the objective's as the mean over
/// examples: dev/NAME, test/NAME.
struct OwnMetric {
  std::string name;         ///< snake_case
  std::string unit = {};    ///< "%", "tokens"; "": a plain number
  std::string direction;    ///< "max", "min", or "" where neither end is the better one
  std::string description;  ///< one line
};

/// What is asked.
struct TaskInfo {
  std::vector<Field> fields;      ///< at least one, the same positions; their embeddings are added up
  std::int64_t sequences = 1;     ///< 1, or 2: a pair, each of the same length and fields
  std::int64_t length = 0;        ///< positions of the longest sequence, to which all are padded; of a stream: of a segment
  std::int64_t train_length = 0;  ///< of the longest in the training split; 0: the same
  std::int64_t classes = 0;       ///< targets lie in [0, classes)
  Objective objective = Objective::kClass;
  Sampling sampling = Sampling::kExamples;
  bool causal = false;  ///< the model must not see later positions: they tell a target, or the task is read from left to right
  bool holes = false;   ///< positions may be absent anywhere, not only at the end
  Geometry geometry = {};
  /// What a target is one of, in the singular: "byte" and "dimension" are told in bits per one, "word" as a perplexity; "": the
  /// share of targets met.
  std::string unit = {};
  /// Names of numbers that group examples ("pairs"): every metric is also told by them, as test/accuracy@pairs=8. snake_case.
  std::vector<std::string> slices = {};
  std::vector<OwnMetric> metrics = {};  ///< of examples only
};

/// A batch's memory: the host's, valid only during the call; row-major, filled by the thread that calls. Before the call all
/// numbers are 0, all positions present, no target asked for (-1), nothing reset.
struct BatchView {
  std::int64_t length;  ///< positions of a row: info().length; of a stream what is asked for, at most that
  /// By sequence, then field: ids [batch, length], or reals [batch, length, Field::reals]; the other one of the two is empty.
  std::vector<std::span<std::int64_t>> ids;
  std::vector<std::span<float>> reals;
  std::vector<std::span<std::uint8_t>> present;  ///< by sequence: [batch, length], 0 where there is nothing
  std::span<std::uint8_t> starts;                ///< of a stream: [batch], 1 where a new text begins with the row
  std::span<std::int64_t> targets;               ///< [batch] of kClass, else [batch, length], -1: not asked
  std::span<std::int64_t> slices;                ///< [batch, info().slices]
};

/// Owned by the host, which calls info() first, then load() once, then the rest, from one thread; after load() the reading
/// calls may come from several. Every call may throw std::exception with a message that names the file, what was found and what
/// was expected. The same parameters and files give the same examples in the same order, whatever the number of threads. The
/// host has checked every index, and checks ids, targets and shapes of what it gets.
class Task {
 public:
  virtual ~Task() = default;

  /// Cheap (milliseconds): parameters and file headers only. The same before and after load().
  virtual TaskInfo info() = 0;
  /// The files that the data are read from, which say whether they have changed; none where all is generated. After info().
  virtual std::vector<std::filesystem::path> files() { return {}; }
  /// Reads, generates or converts the data. A generated data set goes into the cache folder.
  virtual void load() = 0;
  /// Identifies the content of all splits (a hash in hex): part of a trial's identity. After load().
  virtual std::string digest() const = 0;
  /// Number of examples; of a stream: of positions that have a target. After load().
  virtual std::int64_t size(Split split) const = 0;
  /// Fills a batch with examples, by index in [0, size(split)); throws std::out_of_range for another. Of a stream: row i holds
  /// the positions from indices[i] on; past the end of the split nothing is present. After load().
  virtual void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const = 0;
  /// An example as a person reads it. After load().
  virtual std::string describe(Split split, std::int64_t index) const = 0;
  /// Fills info().metrics of an example, in their order. Only called where there are any. After load().
  /// @param answers of each of its targets the class that a model holds for the likeliest, -1 where none is asked
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
