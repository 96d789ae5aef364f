// Modules: named parameters, buffers and submodules, which the host saves, restores, moves and trains.
//
// A class of our own, with the names people know from torch, because torch/nn/module.h costs every plugin 10 s of compiling.
// Who wants a torch::nn module inside registers it through torch_module.h.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ablate/tensor.h"

namespace ablate {

/// How a registered tensor is treated.
struct Kept {
  bool type = false;  ///< never cast to another floating type: indices kept as reals, centroids, sums
  bool decay = true;  ///< of a parameter: takes weight decay
};

/// Owned by whoever registered it, by the host at last. One thread at a time.
class Module {
 public:
  struct Entry {
    std::string name;  ///< "layer1.attention.query.weight"
    Tensor tensor;
    Kept kept;
  };

  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;

  /// This module's in the order of registration, then those of its submodules in theirs. A tensor registered twice (a tied
  /// weight) is listed once, by its first name. Copies of the handles: the tensors are the module's.
  std::vector<Entry> parameters() const { return entries(&Module::parameters_); }
  std::vector<Entry> buffers() const { return entries(&Module::buffers_); }

  /// Training (the state after construction) or evaluation, of this module and all below it.
  void train(bool on = true) {
    training_ = on;
    do_train(on);
    for (const auto& [name, module] : modules_) module->train(on);
  }
  void eval() { train(false); }
  bool is_training() const { return training_; }

 protected:
  /// A tensor that is trained; floating-point, a leaf. @return the same tensor: keep it as a member. It is changed in place
  /// when it is moved or cast, so the member stays the registered one. Names are letters, digits and underscores, each once;
  /// throws std::logic_error for another, for an undefined tensor, and for one that cannot be trained.
  Tensor register_parameter(std::string name, Tensor tensor, Kept kept = {}) {
    check_entry(name, tensor);
    if (!tensor.is_floating_point())
      throw std::logic_error("a module registers the parameter \"" + name + "\" of " + c10::toString(tensor.scalar_type()) +
                             ", expected a floating-point type: what is not trained is a buffer");
    if (!tensor.is_leaf())
      throw std::logic_error("a module registers the parameter \"" + name +
                             "\", which is computed from others that ask for a " +
                             "gradient, so that no step would move it, expected a leaf: make it under a NoGradGuard, or " +
                             "register its detach()");
    tensor.set_requires_grad(true);
    parameters_.push_back({std::move(name), tensor, kept});
    return tensor;
  }
  /// A tensor that is saved and moved, not trained. Change it in place (copy_), so that it stays the registered one. Throws as
  /// above, and for one that asks for a gradient.
  Tensor register_buffer(std::string name, Tensor tensor, Kept kept = {}) {
    check_entry(name, tensor);
    if (tensor.requires_grad())
      throw std::logic_error("a module registers the buffer \"" + name + "\", which asks for a gradient, expected none: " +
                             "register its detach(), or register_parameter() what is trained");
    buffers_.push_back({std::move(name), tensor, kept});
    return tensor;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module) {
    if (!module) throw std::logic_error("register_module: \"" + name + "\" is null");
    check_name(name);
    modules_.emplace_back(std::move(name), module);
    return module;
  }

 private:
  /// What a wrapped module of another kind has to be told.
  virtual void do_train(bool on) { static_cast<void>(on); }

  using Entries = std::vector<Entry>;

  void check_name(const std::string& name) const {
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    if (name.empty() || !std::all_of(name.begin(), name.end(), in_name))
      throw std::logic_error("a module registers the name \"" + name + "\", expected letters, digits and underscores");
    const auto taken = [&](const Entries& entries) {
      return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == name; });
    };
    if (taken(parameters_) || taken(buffers_) ||
        std::any_of(modules_.begin(), modules_.end(), [&](const auto& module) { return module.first == name; }))
      throw std::logic_error("a module registers the name \"" + name + "\" twice");
  }
  void check_entry(const std::string& name, const Tensor& tensor) const {
    check_name(name);
    if (!tensor.defined()) throw std::logic_error("a module registers \"" + name + "\", which is undefined");
  }
  Entries entries(Entries Module::*which) const {
    Entries all;
    gather(which, "", all);
    return all;
  }
  void gather(Entries Module::*which, const std::string& prefix, Entries& all) const {
    for (const auto& entry : this->*which)
      if (std::none_of(all.begin(), all.end(), [&](const Entry& other) { return other.tensor.is_same(entry.tensor); }))
        all.push_back({prefix + entry.name, entry.tensor, entry.kept});
    for (const auto& [name, module] : modules_) module->gather(which, prefix + name + ".", all);
  }

  Entries parameters_, buffers_;
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> modules_;
  bool training_ = true;
};

}  // namespace ablate
