// One class of a sequence, or of a pair of them.
#pragma once

#include "core/trial/objectives/objective.h"

namespace ablate {

/// Pooling, of a pair [a, b, a * b, a - b] (Long Range Arena's dual encoder), a classifier; accuracy and loss.
class ClassObjective final : public Question {
 public:
  std::shared_ptr<Head> make_head(const ModelOptions& options, const Tensor& table, const Generator& generator) const override;
  void score(const Tensor& logits, const Batch& batch, const std::vector<std::string>& names, Scores& scores) const override;
  std::vector<Scored> metrics(const Score& score) const override;
};

}  // namespace ablate
