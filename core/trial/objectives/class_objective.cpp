#include "core/trial/objectives/class_objective.h"

namespace ablate {
namespace {

class ClassHead final : public Head {
 public:
  ClassHead(const ModelOptions& options, const Generator& generator)
      : pooling_(options.pooling), sequences_(options.task.sequences) {
    const auto width = options.d_model * (sequences_ == 2 ? 4 : 1);
    if (options.classifier == Classifier::kMlp) {
      inner_ = register_module("inner", make_linear(width, options.d_model, true, generator));
      outer_ = register_module("outer", make_linear(options.d_model, options.task.classes, true, generator));
    } else {
      outer_ = register_module("outer", make_linear(width, options.task.classes, true, generator));
    }
  }

  Tensor forward(const Tensor& hidden, const Tensor& mask, const Batch&) const override {
    auto pooled = pool(hidden, mask);
    if (sequences_ == 2) {
      const auto half = pooled.size(0) / 2;
      const auto a = pooled.narrow(0, 0, half), b = pooled.narrow(0, half, half);
      pooled = cat({a, b, a * b, a - b}, 1);
    }
    return outer_->forward(inner_ ? inner_->forward(pooled).relu() : pooled);
  }

 private:
  Tensor pool(const Tensor& x, const Tensor& mask) const {
    if (pooling_ == Pooling::kClass) return x.select(1, 0);
    if (pooling_ == Pooling::kLast) {
      if (!mask.defined()) return x.select(1, -1);
      // The last that is there, holes or not.
      const auto place = arange(mask.size(1), mask.options().dtype(kLong)).masked_fill(mask.logical_not(), 0).amax(1);
      return x.gather(1, place.view({-1, 1, 1}).expand({-1, 1, x.size(2)})).squeeze(1);
    }
    if (!mask.defined()) return x.mean(1);
    const auto sum = x.masked_fill(mask.logical_not().unsqueeze(-1), 0).sum(1);
    if (pooling_ == Pooling::kMeanAll) return sum / static_cast<double>(x.size(1));
    return sum / mask.sum(1, true).clamp_min(1);  // by the true length: padding leaves numerator and denominator
  }

  Pooling pooling_;
  std::int64_t sequences_;
  std::shared_ptr<Linear> inner_, outer_;
};

}  // namespace

std::shared_ptr<Head> ClassObjective::make_head(const ModelOptions& options, const Tensor&, const Generator& generator) const {
  return std::make_shared<ClassHead>(options, generator);
}

void ClassObjective::score(const Tensor& logits, const Batch& batch, const std::vector<std::string>& names,
                           Scores& scores) const {
  add_targets(logits, batch, arange(batch.size, batch.targets.options()), names, scores);
}

std::vector<Scored> ClassObjective::metrics(const Score& score) const { return {accuracy(score), mean_loss(score)}; }

}  // namespace ablate
