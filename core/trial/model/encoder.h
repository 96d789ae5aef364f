// The model around an attention: a pre-norm transformer encoder with a classifier.
#pragma once

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <functional>
#include <memory>
#include <vector>

#include "ablate/attention.h"

namespace ablate {

struct EncoderShape {
  std::int64_t vocabulary, length, classes;  ///< of the task
  std::int64_t layers, d_model, hidden;
  double dropout;
  bool class_token;  ///< pooling: a learned token put first, instead of the mean over real tokens
};

struct EncoderOutput {
  torch::Tensor logits;              ///< [batch, classes]
  torch::Tensor auxiliary_loss;      ///< scalar, or undefined
  std::vector<Measurement> metrics;  ///< averaged over the layers that report them
};

/// x = embedding + learned position; per layer x += attention(norm(x)), x += W2 gelu(W1 norm(x)); norm; pooling; linear
/// classifier.
class Encoder : public torch::nn::Module {
 public:
  /// @param make an attention for sequences of up to max_length tokens; called once a layer
  Encoder(const EncoderShape& shape, const std::function<std::shared_ptr<Attention>(std::int64_t max_length)>& make,
          torch::Generator generator);

  /// @param ids [batch, length] int64, 0 = padding @param mask [batch, length] bool, or undefined: no padding
  EncoderOutput forward(const torch::Tensor& ids, const torch::Tensor& mask, const torch::Generator& generator, bool measure);

  void on_step(std::int64_t step);

 private:
  struct Layer {
    std::shared_ptr<Attention> attention;
    torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
    torch::nn::Linear expand{nullptr}, contract{nullptr};
  };

  torch::Tensor drop(const torch::Tensor& x) const;

  EncoderShape shape_;
  torch::nn::Embedding tokens_{nullptr};
  torch::Tensor positions_, class_token_;
  std::vector<Layer> layers_;
  torch::nn::LayerNorm norm_{nullptr};
  torch::nn::Linear classifier_{nullptr};
};

}  // namespace ablate
