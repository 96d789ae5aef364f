#include "core/trial/model/head.h"

namespace ablate {

Head::Head(const ModelOptions& options, std::int64_t width, Tensor table, const Generator& generator)
    : piece_(options.piece), fused_(options.kernels == kernels::Choice::kFused), weight_(std::move(table)) {
  const bool tied = weight_.defined();
  const auto hidden = options.classifier_hidden > 0 ? options.classifier_hidden : options.d_model;
  if (options.classifier == Classifier::kMlp) inner_ = register_module("inner", make_linear(width, hidden, true, generator));
  if (tied) {
    bias_ = register_parameter("bias", zeros({options.task.classes}));
  } else {
    const auto outer = register_module("outer", make_linear(inner_ ? hidden : width, options.task.classes, true, generator));
    weight_ = outer->weight, bias_ = outer->bias;
  }
}

Logits Head::forward(const Tensor& hidden, const Tensor& mask, const Batch& batch) const {
  auto rows = gather(hidden, mask, batch);
  if (inner_) rows = inner_->forward(rows, fused_).relu();
  if (piece_ > 0) return {rows, weight_, bias_, piece_};
  return affine(rows, weight_, bias_, fused_);
}

}  // namespace ablate
