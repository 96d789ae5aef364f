// What the checks of tasks look at: a loaded task, a second one of the same parameters, a third one of another data_seed, and
// the examples that were read for all of them.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <set>

#include "core/trial/conformance/candidate.h"
#include "core/trial/conformance/task_examples.h"

namespace ablate {

/// The parameter that makes other data, where a task has it.
inline constexpr const char* kDataSeed = "data_seed";

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

class TaskSubject {
 public:
  /// @param candidate outlives it @param scratch an empty folder, for what tasks make
  TaskSubject(const Candidate& candidate, std::filesystem::path scratch, bool quick);

  /// Made, not loaded. @param cache its folder @param changes parameters that are others
  std::unique_ptr<Task> make(int threads, const std::filesystem::path& cache,
                             const nlohmann::json& changes = nlohmann::json::object()) const;
  /// Changes after which no number of examples is above `most`, where its range allows it.
  nlohmann::json with_few_examples(std::int64_t most) const;
  /// An empty folder. @param name says what for
  std::filesystem::path folder(const std::string& name) const;

  /// Makes and loads all of them, the third one where `seed` is not kNone; before, the first one in a child, to see what it
  /// opens: what that leaves in the cache folder the first one here finds, and the second one has to make anew. A quick look
  /// makes data once, of few examples where the task takes them: the second one finds them, and there is no third one.
  void load();
  /// Reads the samples of the splits; all that follows `load` and looks at examples needs them.
  void draw();

  const Sample& sample(Split split) const { return samples_[static_cast<std::size_t>(split)]; }
  /// Of what stands in the first 100,000 examples of a split, or in 2000.
  const std::vector<Content>& contents(Split split) const;
  /// Hands over each example of a small split, and keeps its contents on the way.
  void read_to_the_end(Split split, const std::function<void(std::int64_t index, const Example& example)>& take) const;
  /// Of the first 10,000 of the third task's.
  const std::vector<Content>& other_contents(Split split) const;
  /// Positions that may be present in a split's examples.
  std::int64_t longest(Split split) const {
    return split == Split::kTrain && info.train_length > 0 ? info.train_length : info.length;
  }
  /// Whether a split is so small that each of its examples can be read, not a sample alone.
  bool is_small(Split split) const;
  bool is_stream() const { return info.sampling == Sampling::kStream; }
  /// Whether the third task draws examples that stand in none of this one's: the data are generated, and not what they are.
  bool is_generated() const;

  const Candidate& candidate;
  const bool quick;
  SeedPromise seed;
  std::unique_ptr<Task> task, again, other;
  TaskInfo info;
  std::vector<std::filesystem::path> files;
  std::set<std::filesystem::path> opened;  ///< what a load really reads, where `untraced` is empty
  bool keeps_data = false;                 ///< in its cache folder
  std::string untraced;                    ///< why it cannot be seen here

 private:
  std::filesystem::path scratch_;
  mutable int folders_ = 0;
  std::array<Sample, 3> samples_;
  mutable std::array<std::vector<Content>, 3> contents_, other_contents_;
  mutable std::optional<bool> generated_;
};

}  // namespace ablate
