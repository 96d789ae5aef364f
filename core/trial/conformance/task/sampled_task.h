// A loaded task with the examples that were read of it, and one of another data_seed: what the suite and an audit look at.
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

/// The parameter that makes other data, where a task has it.
inline constexpr const char* kDataSeed = "data_seed";

/// How far off what breaks the contract is: wrong, whatever its size.
inline constexpr double kFault = std::numeric_limits<double>::infinity();

/// What chance alone may do to a share that is met: once in 30,000.
inline constexpr double kStandardErrors = 4;

/// What is looked at: one split, several, or none: the task.
using Splits = std::span<const NamedSplit>;

/// What a task's data_seed is to do: there is none; it makes other examples; or it may make none, as where a parameter names
/// data that are what they are.
enum class SeedPromise { kNone, kOther, kMaybeOther };

/// Examples of a split, drawn all over it, the first and the last among them.
struct Sample {
  std::int64_t size = 0;  ///< of the split
  std::vector<std::int64_t> indices;
  std::vector<Example> examples;
  std::string text(const char* split) const;  ///< "dev, 2000 of 96000 examples"
};

class SampledTask {
 public:
  /// @param candidate outlives it @param scratch an empty folder, for what tasks make
  SampledTask(const Candidate& candidate, std::filesystem::path scratch, bool quick);

  /// Made, not loaded. @param cache its folder @param changes parameters that are others
  std::unique_ptr<Task> make(int threads, const std::filesystem::path& cache,
                             const nlohmann::json& changes = nlohmann::json::object()) const;
  /// Changes after which no number of examples is above `most`, where its range allows it.
  nlohmann::json with_few_examples(std::int64_t most) const;
  /// An empty folder. @param name says what for
  std::filesystem::path folder(const std::string& name) const;

  /// Makes and loads `other`, where `seed` is not kNone.
  void load_other();
  /// Reads the samples of the splits; all that follows and looks at examples needs them.
  void draw();

  const Sample& sample(Split split) const { return samples_[static_cast<std::size_t>(split)]; }
  /// Of what stands in the first 100,000 examples of a split, or in 2000.
  const std::vector<Content>& contents(Split split) const;
  /// Hands over each example of a small split, and keeps its contents on the way.
  void read_to_the_end(Split split, const std::function<void(std::int64_t index, const Example& example)>& take) const;
  /// Of the first 10,000 of the other task's.
  const std::vector<Content>& other_contents(Split split) const;
  /// Positions that may be present in a split's examples.
  std::int64_t longest(Split split) const {
    return split == Split::kTrain && info.train_length > 0 ? info.train_length : info.length;
  }
  /// Whether a split is so small that each of its examples can be read, not a sample alone.
  bool is_small(Split split) const;
  bool is_stream() const { return info.sampling == Sampling::kStream; }
  /// Whether the other task draws examples that stand in none of this one's: the data are generated, and not what they are.
  bool is_generated() const;

  const Candidate& candidate;
  const bool quick;
  SeedPromise seed;
  std::unique_ptr<Task> task;   ///< loaded, once somebody has given it
  std::unique_ptr<Task> other;  ///< of the next data_seed
  TaskInfo info;                ///< of `task`

 private:
  std::filesystem::path scratch_;
  mutable int folders_ = 0;
  std::array<Sample, 3> samples_;
  mutable std::array<std::vector<Content>, 3> contents_, other_contents_;
  mutable std::optional<bool> generated_;
};

}  // namespace ablate
