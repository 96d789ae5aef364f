// A class at each position that has a target: the next token, an answer, a label a token.
#pragma once

#include "core/trial/objectives/objective.h"

namespace ablate {

/// Logits only where there is a target. Of a unit: bits per unit ("word": a perplexity); without one: accuracy, and the share
/// of sequences whose targets are all met.
class PositionObjective final : public Question {
 public:
  explicit PositionObjective(std::string unit) : unit_(std::move(unit)) {}
  std::shared_ptr<Head> make_head(const ModelOptions& options, const Tensor& table, const Generator& generator) const override;
  void score(const Tensor& logits, const Batch& batch, const std::vector<std::string>& names, Scores& scores) const override;
  std::vector<Scored> metrics(const Score& score) const override;

 private:
  std::string unit_;
};

}  // namespace ablate
