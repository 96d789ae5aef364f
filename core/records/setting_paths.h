// Paths of a trial's settings, for code that has only the path of a setting: locations in a study, keys and the history. Code
// that has the trial itself reads the trial's members (core/shared/trial_spec.h).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace ablate {

/// Names of a trial's sections, and of the entry that names a section's plugin. A study, a trial's document
/// (core/shared/trial_spec.cpp) and the history use the same names.
namespace section {

inline constexpr const char *kTask = "task", *kModel = "model", *kAttention = "attention", *kTrain = "train", *kSeed = "seed";
inline constexpr const char* kPlugin = "plugin";

}  // namespace section

namespace setting {

inline constexpr const char *kTaskPlugin = "task.plugin", *kTaskLength = "task.length", *kDataSeed = "task.data_seed";
inline constexpr const char *kModelLayers = "model.layers", *kModelWidth = "model.d_model",
                            *kAttentionWidth = "model.attention_width", *kAttentionDropout = "model.attention_dropout",
                            *kPooling = "model.pooling", *kClassifier = "model.classifier",
                            *kClassifierHidden = "model.classifier_hidden", *kPositions = "model.positions",
                            *kCausal = "model.causal", *kSegment = "model.segment", *kTiedOutput = "model.tied_output";
inline constexpr const char *kAttentionPlugin = "attention.plugin", *kFirstLayersPlugin = "attention.0.plugin",
                            *kAttentionHeads = "attention.heads", *kAttentionCompression = "attention.compression";
inline constexpr const char *kSteps = "train.steps", *kBatch = "train.batch", *kLearningRate = "train.learning_rate",
                            *kOptimizer = "train.optimizer", *kSchedule = "train.schedule", *kAccumulate = "train.accumulate",
                            *kWarmup = "train.warmup", *kEvaluateEvery = "train.evaluate_every",
                            *kEvaluateBatches = "train.evaluate_batches", *kTestBatches = "train.test_batches",
                            *kStride = "train.stride", *kShuffleLabels = "train.shuffle_labels", *kGraphs = "train.graphs",
                            *kKernels = "train.kernels", *kDtype = "train.dtype", *kDevice = "train.device",
                            *kThreads = "train.threads";
/// Paths without a dot: the seed, and a section's name, which flatten() uses for the section's plugin (core/util/flatten.h).
inline constexpr const char *kTask = section::kTask, *kAttention = section::kAttention, *kSeed = section::kSeed;

/// Returns the path of a name in a section: "task.dev".
inline std::string in(const std::string& section, const std::string& name) { return section + '.' + name; }

/// Returns the path of one layer in a list: "attention.1". Paths inside the layer continue with a dot.
inline std::string layer(std::size_t number) { return in(section::kAttention, std::to_string(number)); }

/// Returns a plugin's layer: "attention.1" for "attention.1.parts.0", "" for a plugin of all layers or of the task.
inline std::string layer_of(const std::string& path) {
  const auto begin = in(section::kAttention, "");
  if (!path.starts_with(begin)) return "";
  const auto end = path.find_first_not_of("0123456789", begin.size());
  return end == begin.size() || begin.size() == path.size() ? "" : path.substr(0, end);
}

}  // namespace setting

/// True if `path` is inside `above`: "attention.heads" is inside "attention".
inline bool is_below(const std::string& path, const std::string& above) {
  return path.size() > above.size() && path[above.size()] == '.' && path.starts_with(above);
}

/// True for the task and its parameters.
inline bool is_of_task(const std::string& path) { return path == section::kTask || is_below(path, section::kTask); }

/// True if the parameter is the seed of a task's data.
inline bool is_data_seed(const std::string& path) { return path == setting::kDataSeed; }

/// Splits a path into section and key: "attention.parts.0.heads" -> {"attention.parts.0", "heads"}, "seed" -> {"seed", ""}.
inline std::pair<std::string, std::string> split_path(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? std::pair(path, std::string()) : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

/// Splits a path into its first part and the rest: "attention.heads" -> {"attention", "heads"}, "seed" -> {"seed", ""}.
inline std::pair<std::string, std::string> split_first(const std::string& path) {
  const auto dot = path.find('.');
  return dot == std::string::npos ? std::pair(path, std::string()) : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

/// True if a part of a path is an index in a list: "0", "12", but not "01".
inline bool is_index(std::string_view part) {
  const bool digits =
      !part.empty() && part.size() <= 4 && std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && (part.size() == 1 || part.front() != '0');
}

}  // namespace ablate
