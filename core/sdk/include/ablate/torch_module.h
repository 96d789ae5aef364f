// A torch::nn module inside a module of ours. Costs 10 s of compiling: include it only in files that use it.
#pragma once

#include <torch/nn/module.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "ablate/module.h"

namespace ablate {

/// Wrapper by which the host saves, moves and trains a torch::nn module: register_module("convolution",
/// std::make_shared<TorchModule>(convolution.ptr())). The inner module's initial weights come from torch's global generator,
/// which the host seeds. These weights depend on everything drawn before, for example by another part of a mixture of
/// attentions. If a seed must give the same weights in every mixture, draw the weights again. Dots in names become underscores.
class TorchModule final : public Module {
 public:
  explicit TorchModule(std::shared_ptr<torch::nn::Module> inner) : inner_(std::move(inner)) {
    const auto plain = [](std::string name) {
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    };
    for (const auto& parameter : inner_->named_parameters()) register_parameter(plain(parameter.key()), parameter.value());
    for (const auto& buffer : inner_->named_buffers()) register_buffer(plain(buffer.key()), buffer.value());
  }

 private:
  void do_train(bool on) override { inner_->train(on); }

  std::shared_ptr<torch::nn::Module> inner_;
};

}  // namespace ablate
