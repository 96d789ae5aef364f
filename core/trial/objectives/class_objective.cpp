// One class for a sequence, or for a pair of sequences: pooling, [a, b, a * b, a - b] for a pair (Long Range Arena's dual
// encoder), and a classifier. Scores are accuracy and loss.
#include "core/trial/objectives/objective.h"
#include "core/trial/objectives/pooling.h"

namespace ablate {
namespace {

class ClassHead final : public Head {
 public:
  ClassHead(const ModelOptions& options, const Generator& generator)
      : Head(options, options.d_model * (options.task.sequences == 2 ? 4 : 1), {}, generator),
        pool_(pool_of(options.pooling)),
        own_(options.own),
        sequences_(options.task.sequences) {}

 private:
  Tensor gather(const Tensor& hidden, const Tensor& mask, const Batch&) const override {
    const auto pooled = pool_(hidden, mask, own_);
    if (sequences_ == 1) return pooled;
    const auto half = pooled.size(0) / 2;
    const auto a = pooled.narrow(0, 0, half), b = pooled.narrow(0, half, half);
    return cat({a, b, a * b, a - b}, 1);
  }

  Pool pool_;
  nlohmann::json own_;  ///< values of the choices' own parameters
  std::int64_t sequences_;
};

class ClassObjective final : public TrialObjective {
 public:
  std::shared_ptr<Head> make_head(const ModelOptions& options, const Tensor&, const Generator& generator) const override {
    return std::make_shared<ClassHead>(options, generator);
  }
  void score(const Answers& answers, const Batch& batch, const std::vector<std::string>& names, Scores& scores) const override {
    add_targets(answers, batch, arange(batch.size, batch.targets.options()), names, scores);
  }
  std::vector<Scored> metrics(const Score& score) const override { return {accuracy(score), mean_loss(score)}; }
};

}  // namespace

std::unique_ptr<TrialObjective> class_objective(const TaskInfo&) { return std::make_unique<ClassObjective>(); }

}  // namespace ablate
