// A loaded task with samples of its examples, and a task of another data_seed: the subject of the suite and of an audit.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "core/trial/conformance/engine/candidate.h"
#include "core/trial/conformance/task/examples.h"

namespace ablate {

/// Name of the parameter that decides which data are generated, if a task has it.
inline constexpr const char* kDataSeed = "data_seed";

/// Error of a broken contract: above every tolerance.
inline constexpr double kFault = std::numeric_limits<double>::infinity();

/// Number of standard errors that a share exceeds by chance once in 30,000 cases.
inline constexpr double kStandardErrors = 4;

/// Subject of a check: one split, several, or none for the whole task.
using Splits = std::span<const NamedSplit>;

/// Effect of data_seed: none (the task lacks it), other examples, or perhaps none, because a parameter may name fixed data.
enum class SeedPromise { kNone, kOther, kMaybeOther };

/// Examples spread over a split, with the first and the last one.
struct Sample {
  std::int64_t size = 0;  ///< size of the whole split
  std::vector<std::int64_t> indices;
  std::vector<Example> examples;
  std::string text(const char* split) const;  ///< "dev, 2000 of 96000 examples"
};

class SampledTask {
 public:
  /// @param candidate must outlive this object
  /// @param scratch an empty folder for files of tasks
  SampledTask(const Candidate& candidate, std::filesystem::path scratch, bool quick);

  /// Makes a task without loading it.
  /// @param cache the task's cache folder
  /// @param changes changed parameters
  std::unique_ptr<Task> make(int threads, const std::filesystem::path& cache,
                             const nlohmann::json& changes = nlohmann::json::object()) const;
  /// Returns changed parameters that lower each number of examples to `most`, if the parameter's range allows that.
  nlohmann::json with_few_examples(std::int64_t most) const;
  /// Returns a new empty folder.
  /// @param name purpose of the folder
  std::filesystem::path folder(const std::string& name) const;

  /// Makes and loads `other`, if `seed` is not kNone.
  void load_other();
  /// Reads the samples of the splits, which all later functions on examples need.
  void draw();

  const Sample& sample(Split split) const { return samples_[static_cast<std::size_t>(split)]; }
  /// Returns the hashes of the first 100,000 examples of a split, or of the first 2000 in a quick check.
  const std::vector<Content>& contents(Split split) const;
  /// Calls `take` for each example of a small split, and stores its contents for contents().
  void read_to_the_end(Split split, const std::function<void(std::int64_t index, const Example& example)>& take) const;
  /// Returns the hashes of the first 10,000 examples of a split of `other`.
  const std::vector<Content>& other_contents(Split split) const;
  /// Returns the number of positions that may be present in a split's examples.
  std::int64_t longest(Split split) const {
    return split == Split::kTrain && info.train_length > 0 ? info.train_length : info.length;
  }
  /// True if a split is so small that all of its examples can be read.
  bool is_small(Split split) const;
  bool is_stream() const { return info.sampling == Sampling::kStream; }
  /// True if most examples of `other` are in no split of this task: the data are generated and not fixed.
  bool is_generated() const;

  const Candidate& candidate;
  const bool quick;
  SeedPromise seed;
  std::unique_ptr<Task> task;   ///< loaded by the owner of this object
  std::unique_ptr<Task> other;  ///< the same task with data_seed + 1
  TaskInfo info;                ///< info of `task`

 private:
  std::filesystem::path scratch_;
  mutable int folders_ = 0;
  std::array<Sample, 3> samples_;
  mutable std::array<std::vector<Content>, 3> contents_, other_contents_;
  mutable std::optional<bool> generated_;
};

}  // namespace ablate
