#include "core/kernels/dropout_noise.h"
#include "core/trial/model/feed_forward.h"
#include "core/trial/model/layers.h"
#include "core/trial/model/model_options.h"

namespace ablate {
namespace {

/// W2 (act(W x) * V x), all without a bias (Shazeer 2020, Eq. 6): 3 * d_model * hidden weights, while an mlp has 2 * d_model *
/// hidden. With two thirds of an mlp's hidden width, both have the same size. core/kernels has no kernel for the whole part.
class Gated final : public FeedForward {
 public:
  Gated(const ModelOptions& options, const Generator& generator)
      : dropout_(options.inner_dropout),
        fused_(options.kernels == kernels::Choice::kFused),
        activation_(options.activation),
        own_(options.own),
        gate_(register_module("gate", make_linear(options.d_model, options.hidden, false, generator))),
        expand_(register_module("expand", make_linear(options.d_model, options.hidden, false, generator))),
        contract_(register_module("contract", make_linear(options.hidden, options.d_model, false, generator))) {}

  Tensor forward(const Tensor& x) const override {
    const auto inner = activation_(gate_->forward(x, fused_), own_) * expand_->forward(x, fused_);
    return contract_->forward(kernels::dropout(inner, is_training() ? dropout_ : 0), fused_);
  }

 private:
  double dropout_;
  bool fused_;  ///< argument of affine()
  Activation activation_;
  nlohmann::json own_;  ///< values of the choices' own parameters
  std::shared_ptr<Linear> gate_, expand_, contract_;
};

}  // namespace

std::shared_ptr<FeedForward> feed_forwards::gated(const ModelOptions& options, const Generator& generator) {
  return std::make_shared<Gated>(options, generator);
}

}  // namespace ablate
