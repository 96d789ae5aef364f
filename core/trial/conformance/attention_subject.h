// An attention under test: instances of it, inputs for it, and one pass through it.
#pragma once

#include <string>
#include <vector>

#include "core/trial/model/instances.h"

namespace ablate {

/// One pass: what to feed, and how. Undefined context: self-attention. Each pass has a fresh generator of the seed.
struct Pass {
  torch::Tensor queries;
  torch::Tensor context;
  torch::Tensor mask;
  bool measure = false;
  std::uint64_t seed = 17;
};

class AttentionSubject {
 public:
  static constexpr std::int64_t kChannels = 16;
  static constexpr std::int64_t kMaxLength = 80;

  AttentionSubject(Chosen plugin, Chosen compression) : plugin_(std::move(plugin)), compression_(std::move(compression)) {}

  const Capabilities& promises() const { return plugin_.descriptor->capabilities; }
  const Chosen& plugin() const { return plugin_; }
  /// "adamra x segment-mean"
  std::string name() const;
  /// The same attention with one parameter changed.
  AttentionSubject with(const std::string& parameter, const nlohmann::json& value) const;
  /// The smallest length that is allowed and at least this long.
  std::int64_t length(std::int64_t at_least) const;

  /// An instance in evaluation mode. @param longest the most tokens it has to take
  std::shared_ptr<Attention> make(std::uint64_t seed, bool causal = false, torch::Dtype type = torch::kFloat64,
                                  std::int64_t longest = kMaxLength) const;

 private:
  Chosen plugin_, compression_;
};

/// Standard normal, by seed. @return [batch, n, AttentionSubject::kChannels]
torch::Tensor random_tokens(std::int64_t batch, std::int64_t n, std::uint64_t seed, torch::Dtype type = torch::kFloat64);

/// [lengths, n] bool, true for an item's first tokens.
torch::Tensor padding_mask(const std::vector<std::int64_t>& lengths, std::int64_t n);

torch::Tensor run(Attention& attention, const Pass& pass);

/// The gradients of sum(output * weights) in every parameter and then in the queries and the context; zeros where none arrives.
/// Outputs where the weight is 0 take no part, whatever they are. @param where [batch, n] bool, or undefined: all outputs
std::vector<torch::Tensor> gradients(Attention& attention, Pass pass, const torch::Tensor& where = {});

/// The largest absolute difference; infinity where shapes differ or one side has a NaN.
double difference(const torch::Tensor& a, const torch::Tensor& b);
double difference(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b);
bool finite(const std::vector<torch::Tensor>& tensors);

}  // namespace ablate
