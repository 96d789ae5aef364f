#include "ablate/operation.h"

#include <torch/csrc/autograd/custom_function.h>

namespace ablate {
namespace {

using Backward = std::function<std::vector<Tensor>(const Tensor&, const Saved&)>;

/// How the graph holds what is to be called.
struct Held : torch::CustomClassHolder {
  Backward backward;
};

class Operation : public torch::autograd::Function<Operation> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const std::vector<Tensor>& inputs,
                        const std::function<Tensor(Saved&)>& compute, Backward backward) {
    Saved saved;
    auto result = compute(saved);
    context->save_for_backward(std::move(saved));
    auto held = c10::make_intrusive<Held>();
    held->backward = std::move(backward);
    context->saved_data["backward"] = c10::IValue::make_capsule(std::move(held));
    context->saved_data["inputs"] = static_cast<std::int64_t>(inputs.size());
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto held = context->saved_data["backward"].toCapsule();
    auto result = static_cast<Held&>(*held).backward(gradients[0], context->get_saved_variables());
    const auto inputs = static_cast<std::size_t>(context->saved_data["inputs"].toInt());
    if (result.size() != inputs)
      throw std::logic_error("an operation with " + std::to_string(inputs) + " inputs gives " + std::to_string(result.size()) +
                             " gradients");
    result.resize(inputs + 2);  // the two functions have none
    return result;
  }
};

}  // namespace

Tensor with_gradient(const std::vector<Tensor>& inputs, const std::function<Tensor(Saved&)>& forward, Backward backward) {
  return Operation::apply(inputs, forward, std::move(backward));
}

}  // namespace ablate
