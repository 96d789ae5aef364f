// A trial as a type: all its settings as fields. Its JSON document is the text that keys are computed from, that a worker
// receives, and that the history stores. Only the source beside this header reads and writes the document. Torch-free.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/registry/values.h"

namespace ablate {

/// [model]: members have the names of its parameters. core/shared/sections.cpp explains each.
struct ModelSpec {
  std::int64_t layers = 0, d_model = 0, hidden = 0;
  double dropout = 0, inner_dropout = 0;
  std::int64_t attention_width = 0;
  double attention_dropout = 0;
  std::string pooling, classifier;
  std::int64_t classifier_hidden = 0;
  std::string positions;
  bool causal = false;
  std::string norm, norm_type, feed_forward, activation;
  std::int64_t segment = 0;
  std::string cut;
  bool tied_output = false;
  nlohmann::json own = nlohmann::json::object();  ///< values of the parameters of choices (core/shared/choices.h), by name

  /// Channels of all heads of an attention together.
  std::int64_t width() const { return attention_width > 0 ? attention_width : d_model; }
  bool operator==(const ModelSpec&) const = default;
};

/// [train]: members have the names of its parameters.
struct TrainSpec {
  std::int64_t steps = 0, batch = 0;
  double learning_rate = 0;
  std::string optimizer, schedule;
  std::int64_t accumulate = 0, warmup = 0;
  double weight_decay = 0;
  std::string decayed = "all";
  double clip = 0;
  std::int64_t loss_piece = 0, evaluate_every = 0, evaluate_batches = 0, test_batches = 0, stride = 0;
  bool test_last = false, shuffle_labels = false, graphs = false;
  std::string kernels = "fused", dtype = "float32", device = "cpu";
  std::int64_t threads = 0;
  nlohmann::json own = nlohmann::json::object();  ///< the same as in ModelSpec, for example SGD's "momentum"

  bool fused() const { return kernels == "fused"; }
  bool on_cuda() const { return device.starts_with("cuda"); }
  bool operator==(const TrainSpec&) const = default;
};

struct TrialSpec {
  PluginSpec task = {};
  ModelSpec model = {};
  PluginGroup attention = {};  ///< layer i has the plugin with index i modulo the number of plugins
  TrainSpec train = {};
  std::uint64_t seed = 0;
  bool operator==(const TrialSpec&) const = default;
};

/// {"task": {"plugin": "image", ...}, "model": {...}, "attention": {"plugin": ..., ...}, "train": {...}, "seed": 1}
nlohmann::json to_json(const TrialSpec& trial);

/// The next three functions throw nlohmann::json::exception for a missing value, Error for a bad value of [model] or [train].
ModelSpec model_from_json(const nlohmann::json& section);
TrainSpec train_from_json(const nlohmann::json& section);
/// A document without a task gives a trial without a task: the worker's tests and the suite have their own tasks.
TrialSpec trial_from_json(const nlohmann::json& document);

/// A section that no plugin declares.
struct HostSection {
  std::string name;  ///< "model"
  nlohmann::json values;
  std::span<const ParameterInfo> parameters;
};
std::vector<HostSection> host_sections(const TrialSpec& trial);

}  // namespace ablate
