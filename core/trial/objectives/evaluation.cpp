#include "core/trial/objectives/evaluation.h"

#include <ATen/ATen.h>

namespace ablate {

void EvaluationSum::add(const EncoderOutput& output, const torch::Tensor& labels) {
  const auto count = static_cast<double>(labels.size(0));
  loss_ += at::cross_entropy_loss(output.logits, labels, {}, at::Reduction::Sum).item<double>();
  right_ += output.logits.argmax(-1).eq(labels).sum().item<double>();
  examples_ += count;
  for (const auto& metric : output.metrics) {
    auto& sum = metrics_.try_emplace(metric.name, Sum{.unit = metric.unit}).first->second;
    sum.value += count * metric.value;
    sum.examples += count;
  }
}

Evaluation EvaluationSum::mean() const {
  Evaluation result{.accuracy = 100.0 * right_ / examples_, .loss = loss_ / examples_};
  for (const auto& [name, sum] : metrics_) result.metrics.push_back({name, sum.value / sum.examples, sum.unit});
  return result;
}

}  // namespace ablate
