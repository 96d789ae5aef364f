// A class at each position that has a target, all decoded from one pooled vector (the compression task of Poli et al. 2024).
// The classifier reads the sum of the sequence's vector and the position's sinusoids.
#include "core/trial/objectives/objective.h"
#include "core/trial/objectives/pooling.h"

namespace ablate {
namespace {

class DecodedHead final : public Head {
 public:
  DecodedHead(const ModelOptions& options, const Tensor& table, const Generator& generator)
      : Head(options, options.d_model, table, generator),
        pool_(pool_of(options.pooling)),
        own_(options.own),
        places_(register_buffer("places", sinusoids(options.task.length, options.d_model, TensorOptions()))) {}

 private:
  Tensor gather(const Tensor& hidden, const Tensor& mask, const Batch& batch) const override {
    const auto length = batch.fields.front().size(1);
    return pool_(hidden, mask, own_).index_select(0, example_of_targets(batch)) +
           places_.index_select(0, batch.asked.remainder(length));
  }

  Pool pool_;
  nlohmann::json own_;  ///< values of the choices' own parameters
  Tensor places_;       ///< [length, d_model]
};

}  // namespace

std::unique_ptr<TrialObjective> decoded_objective(const TaskInfo& info) {
  return std::make_unique<ObjectiveOf<DecodedHead>>(info.unit);
}

}  // namespace ablate
