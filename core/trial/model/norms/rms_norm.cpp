#include <ATen/core/Tensor.h>
#include <ATen/ops/rms_norm_ops.h>

#include "core/trial/model/norm.h"

namespace ablate {
namespace {

/// x / sqrt(mean(x^2) + 1e-5) over the channels, times a weight (Zhang and Sennrich 2019, Eq. 4). The layer norm has the
/// same epsilon. torch computes in float32 if x has fewer digits.
class RmsNorm final : public Norm {
 public:
  explicit RmsNorm(std::int64_t channels) : weight_(register_parameter("weight", ones({channels}))) {}
  Tensor forward(const Tensor& x) const override {
    constexpr double kEpsilon = 1e-5;
    return at::_ops::rms_norm::call(x, weight_.sym_sizes(), weight_, kEpsilon);
  }

 private:
  Tensor weight_;
};

}  // namespace

std::shared_ptr<Norm> norms::rms_norm(std::int64_t channels, const nlohmann::json&) {
  return std::make_shared<RmsNorm>(channels);
}

}  // namespace ablate
