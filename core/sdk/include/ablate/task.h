// Tasks: where sequences and labels come from. Torch-free, so that a task compiles in a second.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

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

/// Classification of token sequences. Ids lie in [1, vocabulary); 0 is padding, and nothing else is.
struct TaskInfo {
  std::int64_t vocabulary = 0;  ///< ids are below it; at least 2
  std::int64_t length = 0;      ///< tokens of the longest sequence, to which all are padded
  std::int64_t classes = 0;     ///< labels lie in [0, classes)
};

/// A batch's memory: the host's, valid only during the call; row-major, to be filled whole, by the thread that calls.
struct BatchView {
  std::span<std::int64_t> ids;     ///< [batch, length]; 0 where there is no token
  std::span<std::int64_t> labels;  ///< [batch]
};

/// Owned by the host, which calls info() first, then load() once, then the rest, from one thread; after load() the reading
/// calls may come from several. Every call may throw std::exception with a message that names the file, what was found and what
/// was expected. The same parameters and files give the same examples in the same order, whatever the number of threads.
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
  /// Number of examples. After load().
  virtual std::int64_t size(Split split) const = 0;
  /// Fills a batch with examples, by index in [0, size(split)); throws std::out_of_range for another. After load().
  virtual void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const = 0;
  /// An example as a person reads it. After load().
  virtual std::string describe(Split split, std::int64_t index) const = 0;
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
