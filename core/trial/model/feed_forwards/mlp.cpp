#include "core/kernels/dropout_noise.h"
#include "core/trial/model/feed_forward.h"
#include "core/trial/model/layers.h"
#include "core/trial/model/model_options.h"

namespace ablate {
namespace {

/// W2 act(W1 x), both with a bias.
class Mlp final : public FeedForward {
 public:
  Mlp(const ModelOptions& options, const Generator& generator)
      : dropout_(options.inner_dropout),
        fused_(options.kernels == kernels::Choice::kFused),
        activation_(options.activation),
        own_(options.own),
        expand_(register_module("expand", make_linear(options.d_model, options.hidden, true, generator))),
        contract_(register_module("contract", make_linear(options.hidden, options.d_model, true, generator))) {}

  Tensor forward(const Tensor& x) const override {
    const auto inner = expand_->forward(x, fused_);
    return contract_->forward(kernels::dropout(activation_(inner, own_), is_training() ? dropout_ : 0), fused_);
  }

  std::optional<kernels::FeedForward> kernel() const override {
    if (activation_ != activations::gelu && activation_ != activations::relu) return {};
    return {{.w1 = expand_->weight,
             .b1 = expand_->bias,
             .w2 = contract_->weight,
             .b2 = contract_->bias,
             .activation = activation_ == activations::gelu ? kernels::Activation::kGelu : kernels::Activation::kRelu,
             .inner_dropout = is_training() ? dropout_ : 0}};
  }

 private:
  double dropout_;
  bool fused_;  ///< argument of affine()
  Activation activation_;
  nlohmann::json own_;  ///< values of the choices' own parameters
  std::shared_ptr<Linear> expand_, contract_;
};

}  // namespace

std::shared_ptr<FeedForward> feed_forwards::mlp(const ModelOptions& options, const Generator& generator) {
  return std::make_shared<Mlp>(options, generator);
}

}  // namespace ablate
