// Norms: before each part of a layer or after the part's residual, and before the head.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "ablate/module.h"
#include "core/shared/norms.h"

namespace ablate {

/// Weights of a layer norm, [channels] each.
struct NormWeights {
  Tensor weight, bias;
};

class Norm : public Module {
 public:
  /// Returns the norm of x [..., channels], with the same shape and type.
  virtual Tensor forward(const Tensor& x) const = 0;
  /// Returns the weights of a layer norm with epsilon 1e-5, which core/kernels can include, or nullopt for another norm.
  virtual std::optional<NormWeights> layer_norm() const { return {}; }
};

/// @param own values of the norm's own parameters, by name
using MakeNorm = std::shared_ptr<Norm> (*)(std::int64_t channels, const nlohmann::json& own);

/// Each norm's factory, in its own file.
namespace norms {
#define ABLATE_NORM(file, ...) std::shared_ptr<Norm> file(std::int64_t channels, const nlohmann::json& own);
ABLATE_NORMS(ABLATE_NORM)
#undef ABLATE_NORM
inline constexpr MakeNorm kFiles[] = {ABLATE_NORMS(ABLATE_FILE_OF)};
}  // namespace norms

/// Returns the factory with that name. Throws std::invalid_argument if kNorms has no such name.
inline MakeNorm norm_of(const std::string& name) { return file_of_choice(kNorms, norms::kFiles, name); }

}  // namespace ablate
