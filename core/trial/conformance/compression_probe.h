// What the checks of compressions share: inputs, instances, and one pass through write and read with its gradients.
#pragma once

#include <string>
#include <vector>

#include "core/trial/conformance/candidate.h"
#include "core/trial/conformance/numbers.h"

namespace ablate {

inline constexpr Similarity kSimilarities[] = {Similarity::kSoftmax, Similarity::kElu, Similarity::kRelu};

struct CompressionInputs {
  Tensor queries;  ///< [batch, heads, 5, d]
  Tensor keys;     ///< [batch, heads, length, d]
  Tensor values;   ///< [batch, heads, length, d]
  Tensor mask;     ///< [batch, length] bool, or undefined

  /// Every tensor's item `i`, keys and values cut to `length`, without a mask.
  CompressionInputs item(std::int64_t i, std::int64_t length) const;
  /// Tokens [first, first + length), without a mask.
  CompressionInputs tokens(std::int64_t first, std::int64_t length) const;
  CompressionInputs to(at::ScalarType type) const;
};

/// Everything that a pass gives, in one fixed order: outputs for each similarity, where promised causal ones too, then
/// gradients of queries, keys, values and of the module's parameters for a fixed random weighting of those outputs.
struct CompressionPass {
  std::vector<Tensor> outputs;
  std::vector<Tensor> gradients;
};

/// The shapes that checks run on: 2 heads of 6 channels, up to 64 tokens.
class CompressionProbe {
 public:
  static constexpr std::int64_t kHeads = 2, kChannels = 6, kMaxLength = 64, kQueries = 5;

  explicit CompressionProbe(Candidate candidate) : candidate_(std::move(candidate)) {}
  const Candidate& candidate() const { return candidate_; }
  const Capabilities& promises() const { return candidate_.promises; }

  /// An instance in evaluation mode.
  std::shared_ptr<Compression> make(Slots slots, std::uint64_t seed = 1, at::ScalarType type = kDouble) const;
  /// Standard normal inputs, the same for one seed. @param lengths of the items; none: `batch` items without a mask.
  static CompressionInputs inputs(std::int64_t length, const std::vector<std::int64_t>& lengths, std::uint64_t seed = 7,
                                  std::int64_t batch = 3);
  /// @param held written before, or null
  static Memory write(Compression& compression, const CompressionInputs& inputs, const Memory* held = nullptr);
  static Tensor read(Compression& compression, const Tensor& queries, const Memory& memory, Similarity similarity);
  /// Query i stands at position offset + i.
  static Tensor causal_read(Compression& compression, const Tensor& queries, const Memory& memory, Similarity similarity,
                            std::int64_t offset);
  static CompressionPass pass(Compression& compression, const CompressionInputs& inputs);

 private:
  Candidate candidate_;
};

/// 0 where every number is finite, else infinity.
double unless_finite(const std::vector<Tensor>& tensors);

}  // namespace ablate
