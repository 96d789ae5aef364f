#include "ablate/operation.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ablate {
namespace {

using Backward = std::function<std::vector<Tensor>(const std::vector<Tensor>&, const Saved&)>;

/// Graph node of our own: torch's Function finds tensors among its arguments, but not in a list of tensors.
class Operation final : public torch::autograd::Node {
 public:
  explicit Operation(Backward backward) : backward_(std::move(backward)) {}

  void save(const Saved& saved, const std::vector<Tensor>& results) {
    for (const auto& tensor : saved)
      saved_.emplace_back(
          tensor, std::any_of(results.begin(), results.end(), [&](const Tensor& result) { return tensor.is_same(result); }));
  }

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    if (released_) throw std::runtime_error("a second backward pass went through an operation with its own gradient");
    if (std::none_of(gradients.begin(), gradients.end(), [](const Tensor& gradient) { return gradient.defined(); }))
      return torch::autograd::variable_list(num_outputs());
    // backward_ may use pointers or work in place, which leaves no graph: a second derivative would be wrong silently.
    if (torch::autograd::GradMode::is_enabled())
      throw std::runtime_error("an operation with its own gradient is differentiable once: leave out create_graph");
    Saved saved;
    for (const auto& tensor : saved_) saved.push_back(tensor.unpack(shared_from_this()));
    auto result = backward_(gradients, saved);
    if (result.size() != num_outputs())
      throw std::logic_error("an operation with " + std::to_string(num_outputs()) + " inputs returned " +
                             std::to_string(result.size()) + " gradients, expected one for each input");
    return result;
  }
  void release_variables() override {
    saved_.clear();
    released_ = true;
  }
  std::string name() const override { return "ablate::with_gradient"; }

 private:
  Backward backward_;
  std::vector<torch::autograd::SavedVariable> saved_;
  bool released_ = false;
};

}  // namespace

std::vector<Tensor> with_gradients(const std::vector<Tensor>& inputs, const std::function<std::vector<Tensor>(Saved&)>& forward,
                                   Backward backward) {
  Saved saved;
  auto results = [&] {
    NoGradGuard no_grad;
    return forward(saved);
  }();
  if (!torch::autograd::GradMode::is_enabled() || !torch::autograd::any_variable_requires_grad(inputs)) return results;
  const std::shared_ptr<Operation> node(new Operation(std::move(backward)), torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(inputs));
  torch::autograd::set_history(results, node);
  node->save(saved, results);
  return results;
}

Tensor with_gradient(const std::vector<Tensor>& inputs, const std::function<Tensor(Saved&)>& forward,
                     std::function<std::vector<Tensor>(const Tensor&, const Saved&)> backward) {
  return with_gradients(
             inputs, [&](Saved& saved) { return std::vector{forward(saved)}; },
             [backward = std::move(backward)](const std::vector<Tensor>& gradients, const Saved& saved) {
               return backward(gradients.front(), saved);
             })
      .front();
}

}  // namespace ablate
