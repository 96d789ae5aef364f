// What the checks of compressions share: inputs, instances, and one pass through write and read with its gradients.
#pragma once

#include <string>
#include <vector>

#include "core/trial/model/instances.h"

namespace ablate {

inline constexpr Similarity kSimilarities[] = {Similarity::kSoftmax, Similarity::kElu, Similarity::kRelu};

struct CompressionInputs {
  torch::Tensor queries;  ///< [batch, heads, 5, d]
  torch::Tensor keys;     ///< [batch, heads, length, d]
  torch::Tensor values;   ///< [batch, heads, length, d]
  torch::Tensor mask;     ///< [batch, length] bool, or undefined

  /// Every tensor's item `i`, keys and values cut to `length`, without a mask.
  CompressionInputs item(std::int64_t i, std::int64_t length) const;
  CompressionInputs to(torch::ScalarType type) const;
};

/// Everything that a pass gives, in one fixed order: outputs for each similarity, then gradients of queries, keys, values and
/// of the module's parameters for a fixed random weighting of those outputs.
struct CompressionPass {
  std::vector<torch::Tensor> outputs;
  std::vector<torch::Tensor> gradients;
};

/// The shapes that checks run on: 2 heads of 6 channels, up to 64 tokens.
class CompressionProbe {
 public:
  static constexpr std::int64_t kHeads = 2, kChannels = 6, kMaxLength = 64, kQueries = 5;

  explicit CompressionProbe(Chosen plugin) : plugin_(std::move(plugin)) {}
  const Chosen& plugin() const { return plugin_; }
  const Capabilities& promises() const { return plugin_.descriptor->capabilities; }

  /// An instance in evaluation mode.
  std::shared_ptr<Compression> make(Rate rate, std::uint64_t seed = 1, torch::ScalarType type = torch::kDouble) const;
  /// Standard normal inputs, the same for one seed. @param lengths of the items; none: `batch` items without a mask.
  static CompressionInputs inputs(std::int64_t length, const std::vector<std::int64_t>& lengths, std::uint64_t seed = 7,
                                  std::int64_t batch = 3);
  static CompressionPass pass(Compression& compression, const CompressionInputs& inputs);

 private:
  Chosen plugin_;
};

/// The largest absolute difference; infinity where shapes differ or a number is not finite.
double largest_difference(const torch::Tensor& a, const torch::Tensor& b);
double largest_difference(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b);
/// 0 where every number is finite, else infinity.
double unless_finite(const std::vector<torch::Tensor>& tensors);

}  // namespace ablate
