// Modules: named parameters, buffers and submodules, which the host saves, restores, moves and trains.
//
// This is a class of ours with torch's names, because torch/nn/module.h costs every plugin 10 s of compiling. To use a
// torch::nn module inside, register it through torch_module.h.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ablate/tensor.h"

namespace ablate {

/// Treatment of a registered tensor.
struct Kept {
  bool type = false;  ///< never cast to another floating type; for indices stored as reals, centroids, sums
  bool decay = true;  ///< for a parameter: weight decay applies
};

/// A submodule is owned by the module that registered it, and the top module by the host. Used by one thread at a time.
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

  /// Entries of this module in the order of registration, then the entries of its submodules. A tensor registered twice (a tied
  /// weight) is listed once, under its first name. The handles are copies, and the tensors belong to the module.
  std::vector<Entry> parameters() const { return entries(&Module::parameters_); }
  std::vector<Entry> buffers() const { return entries(&Module::buffers_); }

  /// Switches this module and all submodules to training (the state after construction) or evaluation.
  void train(bool on = true) {
    training_ = on;
    do_train(on);
    for (const auto& [name, module] : modules_) module->train(on);
  }
  void eval() { train(false); }
  bool is_training() const { return training_; }

 protected:
  /// Registers a tensor that is trained: floating-point, a leaf. Moves and casts change it in place, so the member stays the
  /// registered tensor. Names are unique, of letters, digits and underscores. Throws std::logic_error for another name, for an
  /// undefined tensor, and for a tensor that cannot be trained.
  /// @return the same tensor: store it as a member
  Tensor register_parameter(std::string name, Tensor tensor, Kept kept = {}) {
    check_entry(name, tensor);
    if (!tensor.is_floating_point())
      throw std::logic_error("a module registers the parameter \"" + name + "\" of " + c10::toString(tensor.scalar_type()) +
                             ", expected a floating-point type: register_buffer() if it is not trained");
    if (!tensor.is_leaf())
      throw std::logic_error("a module registers the parameter \"" + name + "\", which is computed from tensors that need a " +
                             "gradient: no step would change it, expected a leaf: make it under a NoGradGuard, or " +
                             "register its detach()");
    tensor.set_requires_grad(true);
    parameters_.push_back({std::move(name), tensor, kept});
    return tensor;
  }
  /// Registers a tensor that is saved and moved, but not trained. Change it in place (copy_), so that it stays the registered
  /// tensor. Throws like register_parameter, and if the tensor requires a gradient.
  Tensor register_buffer(std::string name, Tensor tensor, Kept kept = {}) {
    check_entry(name, tensor);
    if (tensor.requires_grad())
      throw std::logic_error("a module registers the buffer \"" + name + "\", which asks for a gradient, expected none: " +
                             "register its detach(), or register_parameter() if it is trained");
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
  /// Passes the mode on to a wrapped module of another kind.
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
