// Wraps an attention so that all its modules have unknown names: verdicts must not depend on names.
#pragma once

#include <map>

#include "tests/conformance/suite_of.h"

namespace ablate::tests {

struct Holder final : Module {
  using Module::register_buffer;
  using Module::register_parameter;
};

class Renamed final : public Attention {
 public:
  static inline const Descriptor* of = nullptr;

  explicit Renamed(const AttentionContext& context) : inner_(of->make_attention(context)) {
    for (const auto& entry : inner_->parameters()) {
      const auto [holder, name] = place_of(entry.name);
      holder->register_parameter(name, entry.tensor, entry.kept);
    }
    for (const auto& entry : inner_->buffers()) {
      const auto [holder, name] = place_of(entry.name);
      holder->register_buffer(name, entry.tensor, entry.kept);
    }
  }

 private:
  std::pair<Holder*, std::string> place_of(const std::string& path) {
    const auto dot = path.rfind('.');
    const auto prefix = dot == std::string::npos ? "" : path.substr(0, dot);
    auto& holder = holders_[prefix];
    if (!holder) holder = register_module("to_" + std::to_string(holders_.size()), std::make_shared<Holder>());
    return {holder.get(), path.substr(dot == std::string::npos ? 0 : dot + 1)};
  }

  AttentionOutput do_forward(const AttentionInput& input) override { return inner_->forward(input); }
  AttentionState do_initial_state(std::int64_t batch) const override { return inner_->initial_state(batch); }
  void do_step(std::int64_t step, const Generator& generator) override { inner_->on_step(step, generator); }
  void do_train(bool on) override { inner_->train(on); }
  std::vector<std::shared_ptr<Linear>> do_output_projections() const override { return inner_->output_projections(); }
  Tensor do_weights(const AttentionInput& input) override { return inner_->weights(input); }

  std::shared_ptr<Attention> inner_;  // not registered: its tensors are registered under other names
  std::map<std::string, std::shared_ptr<Holder>> holders_;
};

inline Descriptor renamed(const Descriptor& plugin) {
  Renamed::of = &plugin;
  auto made = plugin;
  made.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
    return std::make_shared<Renamed>(context);
  };
  return made;
}

}  // namespace ablate::tests
