#include "core/trial/model/norm.h"

namespace ablate {
namespace {

/// (x - mean) / deviation over the channels, times a weight, plus a bias (Ba et al. 2016).
class LayerNorm final : public Norm {
 public:
  explicit LayerNorm(std::int64_t channels)
      : weight_(register_parameter("weight", ones({channels}))), bias_(register_parameter("bias", zeros({channels}))) {}
  Tensor forward(const Tensor& x) const override { return ablate::layer_norm(x, weight_, bias_); }
  std::optional<NormWeights> layer_norm() const override { return {{weight_, bias_}}; }

 private:
  Tensor weight_, bias_;
};

}  // namespace

std::shared_ptr<Norm> norms::layer_norm(std::int64_t channels, const nlohmann::json&) {
  return std::make_shared<LayerNorm>(channels);
}

}  // namespace ablate
