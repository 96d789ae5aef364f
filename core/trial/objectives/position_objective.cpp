#include "core/trial/objectives/position_objective.h"

#include <cmath>

namespace ablate {
namespace {

class PositionHead final : public Head {
 public:
  /// @param table [classes, d_model]: the tied weights; undefined: weights of its own
  PositionHead(const ModelOptions& options, Tensor table, const Generator& generator) : table_(std::move(table)) {
    if (table_.defined())
      bias_ = register_parameter("bias", zeros({options.task.classes}));
    else
      outer_ = register_module("outer", make_linear(options.d_model, options.task.classes, true, generator));
  }

  Tensor forward(const Tensor& hidden, const Tensor&, const Batch& batch) const override {
    const auto places = hidden.flatten(0, 1);
    // Where all are asked nothing is copied.
    const auto rows = batch.asked.size(0) == places.size(0) ? places : places.index_select(0, batch.asked);
    return outer_ ? outer_->forward(rows) : linear(rows, table_, bias_);
  }

 private:
  Tensor table_, bias_;
  std::shared_ptr<Linear> outer_;
};

}  // namespace

std::shared_ptr<Head> PositionObjective::make_head(const ModelOptions& options, const Tensor& table,
                                                   const Generator& generator) const {
  return std::make_shared<PositionHead>(options, table, generator);
}

void PositionObjective::score(const Tensor& logits, const Batch& batch, const std::vector<std::string>& names,
                              Scores& scores) const {
  const auto length = batch.fields.front().size(1);
  add_targets(logits, batch, batch.asked.floor_divide(length), names, scores);
}

std::vector<Scored> PositionObjective::metrics(const Score& score) const {
  const double nats = score.loss / score.targets;
  if (unit_ == "word") return {{objective_metric("perplexity"), std::exp(nats)}, mean_loss(score), accuracy(score)};
  if (!unit_.empty()) return {{objective_metric("bits_per_" + unit_), nats / std::log(2.0)}, mean_loss(score), accuracy(score)};
  return {
      accuracy(score), {objective_metric("sequence_accuracy"), 100.0 * score.all_right / score.sequences}, mean_loss(score)};
}

}  // namespace ablate
