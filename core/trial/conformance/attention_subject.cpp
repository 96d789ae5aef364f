#include "core/trial/conformance/attention_subject.h"

#include <ATen/Context.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <limits>

namespace ablate {

std::string AttentionSubject::name() const {
  std::string result = plugin_.descriptor->id;
  if (promises().takes_compression) result += std::string(" x ") + compression_.descriptor->id;
  return result;
}

AttentionSubject AttentionSubject::with(const std::string& parameter, const nlohmann::json& value) const {
  auto parameters = plugin_.parameters;
  parameters.erase("plugin");
  parameters[parameter] = value;
  return {with_defaults(*plugin_.descriptor, parameters), compression_};
}

std::int64_t AttentionSubject::length(std::int64_t at_least) const {
  const auto multiple = std::max<std::int64_t>(promises().length_multiple, 1);
  return (at_least + multiple - 1) / multiple * multiple;
}

std::shared_ptr<Attention> AttentionSubject::make(std::uint64_t seed, bool causal, torch::Dtype type,
                                                  std::int64_t longest) const {
  auto attention = make_attention(plugin_, compression_, {kChannels, length(longest), causal}, make_generator(seed));
  move_to(*attention, torch::kCPU, type);
  attention->eval();
  return attention;
}

torch::Tensor random_tokens(std::int64_t batch, std::int64_t n, std::uint64_t seed, torch::Dtype type) {
  return torch::randn({batch, n, AttentionSubject::kChannels}, make_generator(seed), torch::kFloat64).to(type);
}

torch::Tensor padding_mask(const std::vector<std::int64_t>& lengths, std::int64_t n) {
  return torch::arange(n).unsqueeze(0) < torch::tensor(torch::ArrayRef<std::int64_t>(lengths), torch::kInt64).unsqueeze(1);
}

torch::Tensor run(Attention& attention, const Pass& pass) {
  AttentionInput input;
  input.queries = pass.queries;
  input.context = pass.context.defined() ? pass.context : pass.queries;
  input.mask = pass.mask;
  if (pass.queries.is_cpu()) {
    input.generator = make_generator(pass.seed);
  } else {
    input.generator = at::globalContext().defaultGenerator(pass.queries.device());
    input.generator.set_current_seed(pass.seed);
  }
  input.measure = pass.measure;
  return attention.forward(input).output;
}

std::vector<torch::Tensor> gradients(Attention& attention, Pass pass, const torch::Tensor& where) {
  pass.queries = pass.queries.detach().requires_grad_();
  if (pass.context.defined()) pass.context = pass.context.detach().requires_grad_();
  std::vector<torch::Tensor> inputs = attention.parameters();
  inputs.push_back(pass.queries);
  if (pass.context.defined()) inputs.push_back(pass.context);
  const auto output = run(attention, pass);
  auto weights = random_tokens(output.size(0), output.size(1), 23, output.scalar_type()).to(output.device());
  if (where.defined()) weights = weights.masked_fill(where.logical_not().unsqueeze(-1), 0);
  auto result = torch::autograd::grad({output}, inputs, {weights}, false, false, true);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!result[i].defined()) result[i] = torch::zeros_like(inputs[i]);
  return result;
}

double difference(const torch::Tensor& a, const torch::Tensor& b) {
  if (a.sizes() != b.sizes()) return std::numeric_limits<double>::infinity();
  if (a.numel() == 0) return 0;
  const auto largest = (a.detach().to(torch::kFloat64) - b.detach().to(torch::kFloat64)).abs().max().item<double>();
  return largest == largest ? largest : std::numeric_limits<double>::infinity();
}

double difference(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  double largest = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, difference(a[i], b[i]));
  return largest;
}

bool finite(const std::vector<torch::Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const torch::Tensor& tensor) { return torch::isfinite(tensor).all().item<bool>(); });
}

}  // namespace ablate
