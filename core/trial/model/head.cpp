#include "core/trial/model/head.h"

namespace ablate {

Head::Head(const ModelOptions& options, std::int64_t width, Tensor table, const Generator& generator)
    : weight_(std::move(table)) {
  const bool tied = weight_.defined();
  if (options.classifier == Classifier::kMlp)
    inner_ = register_module("inner", make_linear(width, options.d_model, true, generator));
  if (tied) {
    bias_ = register_parameter("bias", zeros({options.task.classes}));
  } else {
    const auto outer =
        register_module("outer", make_linear(inner_ ? options.d_model : width, options.task.classes, true, generator));
    weight_ = outer->weight, bias_ = outer->bias;
  }
}

Tensor Head::forward(const Tensor& hidden, const Tensor& mask, const Batch& batch) const {
  const auto rows = gather(hidden, mask, batch);
  return linear(inner_ ? inner_->forward(rows).relu() : rows, weight_, bias_);
}

}  // namespace ablate
