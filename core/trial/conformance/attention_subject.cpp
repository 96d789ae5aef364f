#include "core/trial/conformance/attention_subject.h"

#include <ATen/Context.h>

#include <algorithm>

namespace ablate {

std::string Stand::text() const {
  return std::string(causal ? "causal" : "bidirectional") + (carries ? ", carrying" : "") +
         (positions == Positions::kRotary ? ", rotary" : "") + (dropout > 0 ? ", dropping weights" : "");
}

std::string Setting::text() const {
  return stand.text() + (type == kDouble ? "" : std::string(", ") + name_of(type)) + (training ? ", in training" : "");
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
                                   .dropout = stand.dropout,
                                   .positions = stand.positions},
                                  candidate_.find, make_generator(seed), shared);
  auto instance = std::make_shared<Instance>(std::move(attention), shared);
  move_to(*instance, c10::kCPU, type);
  instance->eval();
  return instance;
}

std::shared_ptr<Instance> AttentionSubject::make(std::uint64_t seed, const Setting& setting, std::int64_t longest) const {
  auto instance = make(seed, setting.stand, setting.type, longest);
  instance->train(setting.training);
  return instance;
}

std::vector<Setting> AttentionSubject::settings() const {
  std::vector<at::ScalarType> types = {kDouble};
  if (full()) types.push_back(kFloat);
  if (full() && promises().half_precision) types.insert(types.end(), {at::kHalf, at::kBFloat16});
  std::vector<Setting> all;
  for (const auto& stand : stands())
    for (const auto type : types)
      for (const bool training : {false, true}) all.push_back({stand, type, training});
  return all;
}

std::vector<std::int64_t> AttentionSubject::long_lengths() const {
  return full() ? std::vector{length(150), length(300), length(1100)} : std::vector{length(150)};
}

bool AttentionSubject::draws(const Stand& stand) const {
  const auto instance = make(1, Setting{.stand = stand, .training = true});
  const auto input = input_of(*instance, {random_tokens(2, length(13), 2)});
  const auto before = input.generator.get_state();
  instance->attention().forward(input);
  return !input.generator.get_state().equal(before);
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
  input.surrogate = pass.surrogate;
  if (pass.queries.is_cpu()) {
    input.generator = make_generator(pass.seed);
  } else {
    input.generator = at::globalContext().defaultGenerator(pass.queries.device());
    input.generator.set_current_seed(pass.seed);
  }
  return input;
}

AttentionOutput forward(const Instance& instance, const Pass& pass) {
  if (!instance.is_training() || pass.moves) return instance.attention().forward(input_of(instance, pass));
  std::vector<Tensor> buffers;
  for (const auto& entry : instance.buffers()) buffers.push_back(entry.tensor);
  const auto before = copies(buffers);
  auto result = instance.attention().forward(input_of(instance, pass));
  const NoGradGuard none;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i].equal(before[i])) buffers[i].copy_(before[i]);
  return result;
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

Tensor real(const Tensor& output, const Tensor& mask) {
  return mask.defined() ? output.masked_fill(mask.logical_not().unsqueeze(-1), 0) : output;
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

Tensor loss_of(const AttentionOutput& result, const Tensor& where) {
  const auto loss = weighted_sum(result.output, where);
  return result.auxiliary_loss.defined() ? loss + result.auxiliary_loss : loss;
}

const Tensor& Gradients::of(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::logic_error("no gradient of " + name);
  return tensors[static_cast<std::size_t>(found - names.begin())];
}

Gradients gradients(const Instance& instance, Pass pass, const Tensor& where) {
  Gradients result;
  std::vector<Tensor> inputs;
  for (const auto& entry : instance.parameters()) {
    result.names.push_back(entry.name.substr(entry.name.starts_with("attention.") ? 10 : 0));
    inputs.push_back(entry.tensor);
  }
  for (const auto& [tensor, name] : {std::pair{&pass.queries, "queries"}, {&pass.context, "context"}}) {
    if (!tensor->defined()) continue;
    inputs.push_back(*tensor = tensor->detach().requires_grad_());
    result.names.emplace_back(name);
  }
  result.tensors = gradients_of(loss_of(forward(instance, pass), where), inputs);
  return result;
}

void compare(Finding& finding, const Gradients& found, const Gradients& expected, const std::string& where,
             const Allowed& allowed) {
  for (std::size_t i = 0; i < expected.tensors.size(); ++i)
    finding.near(found.of(expected.names[i]), expected.tensors[i], where + ", gradient of " + expected.names[i], allowed);
}

}  // namespace ablate
