#include "core/trial/conformance/attention_subject.h"

#include <ATen/Context.h>

#include <algorithm>

namespace ablate {

std::string Stand::text() const {
  return std::string(causal ? "causal" : "bidirectional") + (carries ? ", carrying" : "") +
         (positions == Positions::kRotary ? ", rotary" : "");
}

Instance::Instance(std::shared_ptr<Attention> attention, const SharedTensors& shared)
    : attention_(register_module("attention", std::move(attention))) {
  for (const auto& [path, tensor] : shared) {
    auto name = "shared_" + path;
    std::replace(name.begin(), name.end(), '.', '_');
    register_parameter(name, tensor);
  }
}

std::vector<Stand> AttentionSubject::stands() const {
  std::vector<Stand> all;
  if (promises().bidirectional) all.push_back({});
  if (promises().causal) all.push_back({.causal = true});
  for (const auto& stand : carrying()) all.push_back(stand);
  return all;
}

std::vector<Stand> AttentionSubject::carrying() const {
  std::vector<Stand> all;
  if (promises().stateful && promises().bidirectional) all.push_back({.carries = true});
  if (promises().stateful && promises().causal) all.push_back({.causal = true, .carries = true});
  return all;
}

std::shared_ptr<Instance> AttentionSubject::make(std::uint64_t seed, const Stand& stand, at::ScalarType type,
                                                 std::int64_t longest) const {
  SharedTensors shared;
  auto attention = make_attention(candidate_.section,
                                  {.d_model = kChannels,
                                   .max_length = length(longest),
                                   .causal = stand.causal,
                                   .carries = stand.carries,
                                   .positions = stand.positions},
                                  candidate_.find, make_generator(seed), shared);
  auto instance = std::make_shared<Instance>(std::move(attention), shared);
  move_to(*instance, c10::kCPU, type);
  instance->eval();
  return instance;
}

AttentionInput input_of(const Instance& instance, const Pass& pass) {
  AttentionInput input;
  input.queries = pass.queries;
  input.context = pass.context.defined() ? pass.context : pass.queries;
  input.mask = pass.mask;
  input.query_mask = pass.context.defined() ? pass.query_mask : pass.mask;
  input.position = pass.position;
  input.state = pass.state.empty() ? instance.attention().initial_state(pass.queries.size(0)) : pass.state;
  input.measure = pass.measure;
  if (pass.queries.is_cpu()) {
    input.generator = make_generator(pass.seed);
  } else {
    input.generator = at::globalContext().defaultGenerator(pass.queries.device());
    input.generator.set_current_seed(pass.seed);
  }
  return input;
}

AttentionOutput forward(const Instance& instance, const Pass& pass) {
  return instance.attention().forward(input_of(instance, pass));
}

Tensor run(const Instance& instance, const Pass& pass) { return forward(instance, pass).output; }

Tensor random_tokens(std::int64_t batch, std::int64_t n, std::uint64_t seed, at::ScalarType type) {
  return normal({batch, n, AttentionSubject::kChannels}, seed, type);
}

Tensor item(const Tensor& batch, std::int64_t index, std::int64_t length) {
  return batch.narrow(0, index, 1).narrow(1, 0, length);
}

AttentionState item(const AttentionState& state, std::int64_t index) {
  AttentionState own;
  for (const auto& tensor : state) own.push_back(tensor.narrow(0, index, 1));
  return own;
}

AttentionState detached(const AttentionState& state) {
  AttentionState cut;
  for (const auto& tensor : state) cut.push_back(tensor.detach());
  return cut;
}

Tensor weighted_sum(const Tensor& output, const Tensor& where) {
  auto weights = random_tokens(output.size(0), output.size(1), 23, output.scalar_type()).to(output.device());
  auto seen = output;
  if (where.defined()) {
    const auto unseen = where.logical_not().unsqueeze(-1);
    weights = weights.masked_fill(unseen, 0);
    seen = output.masked_fill(unseen, 0);
  }
  return (seen * weights).sum();
}

std::vector<Tensor> gradients(const Instance& instance, Pass pass, const Tensor& where) {
  auto inputs = parameters_of(instance);
  for (auto* tensor : {&pass.queries, &pass.context})
    if (tensor->defined()) inputs.push_back(*tensor = tensor->detach().requires_grad_());
  return gradients_of(weighted_sum(run(instance, pass), where), inputs);
}

}  // namespace ablate
