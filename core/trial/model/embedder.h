// From what stands at each position to the first layer's input.
#pragma once

#include <vector>

#include "core/trial/model/batch.h"
#include "core/trial/model/layers.h"
#include "core/trial/model/model_options.h"

namespace ablate {

/// The sum of the fields' embeddings (ids) and projections (reals), a class token in front where the model has one, plus added
/// positions.
class Embedder {
 public:
  /// Registers its parameters with the model. Draws of every field in turn, then of positions and class token.
  Embedder(const ModelOptions& options, const Generator& generator);

  /// @return [rows, positions, d_model]
  Tensor forward(const Batch& batch) const;

  std::vector<std::pair<std::string, std::shared_ptr<Module>>> modules() const { return modules_; }
  const Tensor& positions() const { return positions_; }      ///< learned: [positions, d_model]; else undefined
  const Tensor& class_token() const { return class_token_; }  ///< [d_model], or undefined
  /// Of the first field of ids: [vocabulary, d_model].
  const Tensor& table() const { return tables_.front()->weight; }
  /// What is looked up, not multiplied: tables of ids, learned positions, the class token.
  std::vector<Tensor> embeddings() const;

 private:
  ModelOptions options_;
  std::vector<std::shared_ptr<Table>> tables_;    ///< by field; null for reals
  std::vector<std::shared_ptr<Linear>> linears_;  ///< by field; null for ids
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> modules_;
  Tensor positions_, class_token_;
};

/// [length, channels]: sines and cosines of wavelengths from 2 pi to 20000 pi (Vaswani et al. 2017, section 3.5).
Tensor sinusoids(std::int64_t length, std::int64_t channels, const TensorOptions& options);

}  // namespace ablate
