#include "ablate/attention.h"

#include "found.h"

namespace ablate {
namespace {

/// Throws for results that torch would broadcast or promote silently, or refuse without the attention's name.
void check(const AttentionOutput& attended, const Tensor& input, const AttentionState& before) {
  const auto& output = attended.output;
  if (!output.defined())
    throw std::runtime_error(
        c10::str("the attention returned no output, expected ", shape_text(input), " (batch, length, d_model)"));
  if (output.sizes() != input.sizes() || output.scalar_type() != input.scalar_type() || output.device() != input.device())
    throw std::runtime_error(c10::str("the attention returned an output of ", shape_text(output), ", expected ",
                                      shape_text(input), " (batch, length, d_model)"));
  if (attended.auxiliary_loss.defined() && attended.auxiliary_loss.dim() != 0)
    throw std::runtime_error(
        c10::str("the attention returned an auxiliary loss of ", shape_text(attended.auxiliary_loss), ", expected a scalar"));
  expect_state("the attention", attended.state, before);
}

}  // namespace

AttentionOutput Attention::forward(const AttentionInput& input) {
  auto output = do_forward(input);
  check(output, input.queries, input.state);
  return output;
}

AttentionState Attention::initial_state(std::int64_t batch) const {
  auto state = do_initial_state(batch);
  for (const auto& tensor : state)
    if (!tensor.defined() || tensor.dim() == 0 || tensor.size(0) != batch)
      throw std::runtime_error(c10::str("the attention's initial state has a tensor ",
                                        tensor.defined() ? shape_text(tensor) : "that is undefined",
                                        ", expected dimension 0 to be the batch, ", batch));
  return state;
}

Tensor Attention::weights(const AttentionInput& input) {
  if (is_training()) throw std::logic_error("weights() of an attention in training, expected evaluation: call eval() before");
  const NoGradGuard none;
  auto own = input;
  own.state.clear();
  own.measure = false;
  const auto weights = do_weights(own);
  if (weights.defined() && weights.dim() != 4)
    throw std::runtime_error(c10::str("weights() returned ", shape_text(weights), ", expected four dimensions"));
  return weights;
}

}  // namespace ablate
