#include "core/trial/model/head.h"

#include <ATen/ops/cross_entropy_loss.h>

#include <algorithm>

#include "ablate/masked_softmax.h"
#include "ablate/operation.h"

namespace ablate {
namespace {

Answers answers_of(const Tensor& logits, const Tensor& targets, bool each) {
  Answers all{.predicted = logits.argmax(-1),
              .losses = {},
              .loss = at::cross_entropy_loss(logits, targets, {}, at::Reduction::Sum).item<double>()};
  if (each) all.losses = at::cross_entropy_loss(logits, targets, {}, at::Reduction::None);
  return all;
}

/// Calls act(rows, targets, first) for each piece.
template <class Act>
void by_pieces(const Tensor& rows, const Tensor& targets, std::int64_t piece, const Act& act) {
  for (std::int64_t at = 0; at < rows.size(0); at += piece) {
    const auto count = std::min(piece, rows.size(0) - at);
    act(rows.narrow(0, at, count), targets.narrow(0, at, count), at);
  }
}

/// Computes the loss together with its gradients, so that no piece of the logits is made twice. Later steps only add the loss
/// to other losses or scale it, so its gradients are known except for one factor.
Tensor loss_by_pieces(const Tensor& rows, const Tensor& weight, const Tensor& bias, const Tensor& targets, std::int64_t piece) {
  const auto forward = [&](Saved& saved) {
    const auto count = static_cast<double>(rows.size(0));
    const auto wide = rows.options().dtype(rows.scalar_type() == kDouble ? kDouble : kFloat).requires_grad(false);
    auto loss = zeros({}, wide), of_weight = zeros(weight.sizes(), wide), of_bias = zeros(bias.sizes(), wide);
    auto of_rows = empty(rows.sizes(), rows.options().requires_grad(false));
    by_pieces(rows, targets, piece, [&](const Tensor& some, const Tensor& asked, std::int64_t first) {
      auto logarithm = widened(linear(some, weight, bias)).log_softmax(-1);
      const auto own = asked.unsqueeze(1);
      loss -= logarithm.gather(1, own).sum();
      auto gradient = logarithm.exp_().scatter_add_(1, own, full(own.sizes(), -1, wide)).div_(count);
      of_bias += gradient.sum(0);
      gradient = gradient.to(rows.scalar_type());
      of_rows.narrow(0, first, some.size(0)).copy_(gradient.matmul(weight));
      of_weight += gradient.t().matmul(some);
    });
    saved = {of_rows, of_weight.to(weight.scalar_type()), of_bias.to(bias.scalar_type())};
    return loss / count;
  };
  return with_gradient({rows, weight, bias}, forward, [](const Tensor& gradient, const Saved& saved) {
    std::vector<Tensor> all;
    for (const auto& one : saved) all.push_back(one * gradient.to(one.scalar_type()));
    return all;
  });
}

}  // namespace

Tensor Logits::mean_loss(const Tensor& targets) const {
  return whole_.defined() ? at::cross_entropy_loss(widened(whole_), targets)
                          : loss_by_pieces(rows_, weight_, bias_, targets, piece_);
}

Answers Logits::answers(const Tensor& targets, bool each) const {
  if (whole_.defined()) return answers_of(widened(whole_), targets, each);
  Answers all;
  std::vector<Tensor> predicted, losses;
  by_pieces(rows_, targets, piece_, [&](const Tensor& some, const Tensor& asked, std::int64_t) {
    auto piece = answers_of(widened(linear(some, weight_, bias_)), asked, each);
    predicted.push_back(piece.predicted);
    if (each) losses.push_back(piece.losses);
    all.loss += piece.loss;
  });
  all.predicted = cat(predicted);
  if (each) all.losses = cat(losses);
  return all;
}

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
