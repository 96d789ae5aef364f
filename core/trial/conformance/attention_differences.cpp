// Central differences of what a training step differentiates, against its gradients.
#include <algorithm>

#include "core/trial/conformance/attention_contract.h"

namespace ablate::conformance {
namespace {

/// The loss at the parameters and inputs as they stand, with straight-through calls at what they recorded.
double value_at(const Instance& instance, Pass pass, const std::shared_ptr<Surrogate>& surrogate) {
  const NoGradGuard none;
  pass.surrogate = surrogate;
  surrogate->next = 0;
  return loss_of(forward(instance, pass), queries_of(pass)).item().toDouble();
}

std::shared_ptr<Surrogate> recorded(const Instance& instance, Pass pass) {
  const NoGradGuard none;
  pass.surrogate = std::make_shared<Surrogate>();
  forward(instance, pass);
  pass.surrogate->replays = true;
  return pass.surrogate;
}

/// What gradients() differentiates by, in its order.
std::vector<Tensor> variables_of(const Instance& instance, const Pass& pass) {
  auto all = parameters_of(instance);
  all.push_back(pass.queries);
  if (pass.context.defined()) all.push_back(pass.context);
  return all;
}

/// Along a direction in all tensors at once.
Difference along_all(const Instance& instance, const Pass& pass, const Gradients& analytic) {
  const auto surrogate = recorded(instance, pass);
  const auto tensors = variables_of(instance, pass);
  std::vector<Tensor> directions;
  double expected = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    auto direction = normal_like(tensors[i], 300 + i);
    // What stands under the mask has no gradient and must have none: poison says so.
    const auto mask = analytic.names[i] == "queries" ? queries_of(pass) : analytic.names[i] == "context" ? pass.mask : Tensor();
    if (mask.defined()) direction = direction.masked_fill(mask.logical_not().unsqueeze(-1), 0);
    expected += (analytic.tensors[i] * direction).sum().item().toDouble();
    directions.push_back(std::move(direction));
  }
  const auto originals = copies(tensors);
  const auto at = [&](double by) {
    const NoGradGuard none;
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].copy_(originals[i] + directions[i] * by);
    return value_at(instance, pass, surrogate);
  };
  const auto off = off_differences(at, expected);
  at(0);
  return off;
}

/// How far off each tensor's gradient is, along a direction of its own.
std::vector<Difference> one_by_one(const Instance& instance, const Pass& pass, const Gradients& analytic) {
  const auto surrogate = recorded(instance, pass);
  const auto value = [&] { return value_at(instance, pass, surrogate); };
  std::vector<Difference> off;
  for (const auto& tensor : variables_of(instance, pass))
    off.push_back(finite_difference(value, tensor, analytic.tensors[off.size()], 100 + off.size()));
  return off;
}

/// Whether no choice turned where it would have told anything. Then the finding has been shown how far off the gradients are.
bool judged(const Instance& instance, const Pass& pass, bool each, const std::string& where, Finding& finding) {
  const auto analytic = gradients(instance, pass, queries_of(pass));
  const auto all = along_all(instance, pass, analytic);
  const bool is_right = !all.turns && all.off <= kDifferences.error;
  if (is_right && !each) {
    finding.off_by(all.off, where, kDifferences);
    return true;
  }
  const auto off = one_by_one(instance, pass, analytic);
  const auto is_wrong = [](const Difference& one) { return !one.turns && !(one.off <= kDifferences.error); };
  const bool has_name = std::any_of(off.begin(), off.end(), is_wrong);
  const bool turns = all.turns || std::any_of(off.begin(), off.end(), [](const Difference& one) { return one.turns; });
  if (turns && !has_name) return false;
  if (is_right) finding.off_by(all.off, where, kDifferences);
  for (std::size_t i = 0; i < off.size(); ++i)
    if (!off[i].turns) finding.off_by(off[i].off, where + ", " + analytic.names[i], kDifferences);
  if (!is_right && !has_name) finding.off_by(all.off, where + ", along all of them at once", kDifferences);
  return true;
}

}  // namespace

void differences(const Instance& instance, const Pass& pass, bool each, const std::string& where, Finding& finding) {
  // As large nearly, so that a context that is the queries stays what they are.
  for (const double size : {1.0, 0.9, 1.1}) {
    auto elsewhere = pass;
    for (auto* tensor : {&elsewhere.queries, &elsewhere.context})
      if (tensor->defined()) *tensor = *tensor * size;
    if (judged(instance, elsewhere, each, where, finding)) return;
  }
  finding.leave(kTurns);
}

}  // namespace ablate::conformance
