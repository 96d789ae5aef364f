#include "core/trial/conformance/engine/registered.h"

#include <c10/util/StringUtil.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "core/trial/model/instances.h"

namespace ablate {
namespace {

std::vector<Module::Entry> entries(const Module& module) {
  auto all = module.parameters();
  for (auto& entry : module.buffers()) all.push_back(entry);
  return all;
}

/// "never cast: centroids; no weight decay: gain", or "".
std::string list_kept(const Module& module) {
  std::string uncast, undecayed;
  for (const auto& [name, tensor, kept] : entries(module)) {
    if (kept.type) uncast += (uncast.empty() ? "never cast: " : ", ") + name;
    if (!kept.decay) undecayed += (undecayed.empty() ? "no weight decay: " : ", ") + name;
  }
  return uncast + (uncast.empty() || undecayed.empty() ? "" : "; ") + undecayed;
}

/// The types of the tensors that are never cast, by name.
using KeptTypes = std::map<std::string, at::ScalarType>;
KeptTypes kept_types(const Module& module) {
  KeptTypes types;
  for (const auto& [name, tensor, kept] : entries(module))
    if (kept.type) types.emplace(name, tensor.scalar_type());
  return types;
}

/// Throws std::runtime_error with the name of a tensor whose type differs from the type that move_to(module, type) sets. A
/// tensor that is never cast must have its type in `made`. Also throws for a parameter that is no trainable leaf.
void check_types(const Module& module, at::ScalarType type, const KeptTypes& made) {
  for (const auto& [name, tensor, kept] : module.parameters())
    if (!tensor.is_floating_point() || !tensor.requires_grad() || !tensor.is_leaf())
      throw std::runtime_error(name + " is a parameter that cannot be trained: expected a leaf of a floating-point type");
  for (const auto& [name, tensor, kept] : entries(module)) {
    const auto expected = kept.type ? made.at(name) : tensor.is_floating_point() ? type : tensor.scalar_type();
    if (tensor.scalar_type() != expected)
      throw std::runtime_error(
          fmt::format("{} has become {}, expected {}", name, c10::str(tensor.scalar_type()), c10::str(expected)));
  }
}

/// Throws std::runtime_error with the name of a tensor of whole numbers (indices, counts) that bfloat16 cannot represent and
/// that is not registered as never cast. The module must be in float32.
void check_whole_numbers(const Module& module) {
  for (const auto& [name, tensor, kept] : module.buffers()) {
    if (kept.type || !tensor.is_floating_point() || !tensor.eq(tensor.round()).all().item().toBool()) continue;
    if (!tensor.to(at::kBFloat16).to(tensor.scalar_type()).equal(tensor))
      throw std::runtime_error(fmt::format(
          "{} has whole numbers that half precision cannot represent: register it with Kept{{.type = true}}, or as integers",
          name));
  }
}

}  // namespace

void copy_registered(const Module& from, const Module& to) {
  const NoGradGuard none;
  const auto source = entries(from), target = entries(to);
  if (source.size() != target.size())
    throw std::runtime_error(fmt::format("one instance registers {} tensors, another one {}", source.size(), target.size()));
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i].name != target[i].name || source[i].tensor.sizes() != target[i].tensor.sizes())
      throw std::runtime_error(fmt::format("one instance registers {} {}, another one {} {}", source[i].name,
                                           c10::str(source[i].tensor.sizes()), target[i].name,
                                           c10::str(target[i].tensor.sizes())));
    target[i].tensor.copy_(source[i].tensor);
  }
}

void copy_common(const Module& from, const Module& to) {
  const NoGradGuard none;
  const auto target = entries(to);
  for (const auto& [name, tensor, kept] : entries(from)) {
    const auto found = std::find_if(target.begin(), target.end(), [&](const auto& entry) { return entry.name == name; });
    if (found == target.end() || found->tensor.sizes() != tensor.sizes())
      throw std::runtime_error(fmt::format("{} {} has no counterpart of that name and shape", name, c10::str(tensor.sizes())));
    found->tensor.copy_(tensor);
  }
}

std::string unreached(const Tensor& reached, const std::string& name) {
  if (!reached.any().item().toBool()) return name;
  for (std::int64_t d = 0; d < reached.dim(); ++d) {
    const auto dead = reached.movedim(d, 0).reshape({reached.size(d), -1}).any(1).logical_not().nonzero().flatten();
    if (dead.numel() > 0)
      return fmt::format("{} of {} places along dimension {}, from {} on of {}", dead.numel(), reached.size(d), d,
                         dead[0].item().toLong(), name);
  }
  return "";
}

void refuse_unregistered(const Tensor& loss, const std::vector<Tensor>& parameters) {
  if (!loss.requires_grad()) return;
  std::set<const torch::autograd::Node*> seen;
  std::vector<torch::autograd::Node*> open = {loss.grad_fn().get()};
  while (!open.empty()) {
    auto* const node = open.back();
    open.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    if (const auto* leaf = dynamic_cast<const torch::autograd::AccumulateGrad*>(node);
        leaf != nullptr &&
        std::none_of(parameters.begin(), parameters.end(), [&](const auto& one) { return one.is_same(leaf->variable); }))
      throw std::runtime_error(
          fmt::format("a tensor of {} requires a gradient but is not registered, so it is not trained, saved or moved: "
                      "call register_parameter()",
                      c10::str(leaf->variable.sizes())));
    for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
  }
}

void check_kept(Module& module, c10::Device device, bool half_precision, const std::function<void(at::ScalarType)>& train,
                Finding& finding) {
  if (const auto list = list_kept(module); !list.empty()) finding.say(list);
  const auto made = kept_types(module);
  if (half_precision) check_whole_numbers(module);
  for (const auto type : {kDouble, kFloat}) {
    finding.saw();
    move_to(module, device, type);
    check_types(module, type, made);
    train(type);
    check_types(module, type, made);
  }
}

}  // namespace ablate
