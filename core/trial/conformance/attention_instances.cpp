#include "core/trial/conformance/attention_instances.h"

#include <ATen/Context.h>
#include <c10/util/StringUtil.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <map>
#include <set>
#include <stdexcept>

#include "core/trial/conformance/registered.h"

namespace ablate::conformance {
namespace {

/// Throws where a gradient runs into a tensor that is none of the parameters.
void refuse_unregistered(const Tensor& loss, const std::vector<Tensor>& parameters) {
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
          fmt::format("a tensor of {} asks for a gradient and is not registered, so that it is neither trained nor saved nor "
                      "moved: register_parameter() it",
                      c10::str(leaf->variable.sizes())));
    for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
  }
}

/// The loss of two segments, the second one with the first one's state, as gradients see it.
Tensor loss_of(const Instance& instance, const Stand& stand, std::int64_t n, std::uint64_t seed) {
  const auto first = forward(instance, {random_tokens(4, n, seed)});
  auto loss = weighted_sum(first.output);
  if (first.auxiliary_loss.defined()) loss = loss + first.auxiliary_loss;
  if (!stand.carries || first.state.empty()) return loss;
  const auto second = forward(instance, {.queries = random_tokens(4, n, seed + 100), .state = first.state});
  loss = loss + weighted_sum(second.output);
  return second.auxiliary_loss.defined() ? loss + second.auxiliary_loss : loss;
}

void train_once(Instance& instance, const Pass& pass) {
  instance.train();
  run(instance, pass);
  instance.attention().on_step(1, make_generator(29));
  instance.eval();
}

}  // namespace

double trained(const AttentionSubject& subject) {
  std::map<std::string, bool> reached;
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    instance->train();
    const auto entries = instance->parameters();
    const auto parameters = parameters_of(*instance);
    // Several passes: where a query chooses among heads, none may choose some head in one.
    for (const std::uint64_t seed : {2, 3, 4, 5}) {
      const auto loss = loss_of(*instance, stand, subject.length(40), seed);
      if (loss.requires_grad()) refuse_unregistered(loss, parameters);
      if (parameters.empty()) continue;
      const auto found = gradients_of(loss, parameters);
      for (std::size_t i = 0; i < entries.size(); ++i) reached[entries[i].name] |= found[i].ne(0).any().item().toBool();
    }
  }
  std::string missing;
  for (const auto& [name, is_reached] : reached)
    if (!is_reached) missing += (missing.empty() ? "" : ", ") + name.substr(name.starts_with("attention.") ? 10 : 0);
  if (!missing.empty()) throw std::runtime_error("no gradient reaches " + missing);
  return 0;
}

double instances(const AttentionSubject& subject) {
  const auto changed = subject.make(1), other = subject.make(2);
  const Pass pass{random_tokens(2, subject.length(13), 2)};
  const auto before = run(*other, pass).detach().clone();
  const NoGradGuard none;
  const auto all = contents(*changed);
  const auto originals = copies(all);
  for (const auto& tensor : all)
    if (tensor.is_floating_point()) tensor.add_(1);
  const double error = difference(run(*other, pass), before);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].copy_(originals[i]);  // whatever is shared, the next checks start as usual
  return error;
}

double seed(const AttentionSubject& subject) {
  auto global = at::globalContext().defaultGenerator(c10::kCPU);
  double worst = 0;
  for (const auto& stand : subject.stands()) {
    global.set_current_seed(1);
    const auto a = subject.make(5, stand);
    global.set_current_seed(2);
    const auto b = subject.make(5, stand);
    worst = std::max(worst, difference(contents(*a), contents(*b)));
    const Pass pass{random_tokens(2, subject.length(13), 2)};
    for (auto* instance : {a.get(), b.get()}) instance->train();
    global.set_current_seed(3);
    const auto first = gradients(*a, pass);
    global.set_current_seed(4);
    const auto second = gradients(*b, pass);
    a->attention().on_step(1, make_generator(29));
    global.set_current_seed(5);
    b->attention().on_step(1, make_generator(29));
    worst = std::max({worst, difference(first, second), difference(contents(*a), contents(*b))});
    for (auto* instance : {a.get(), b.get()}) instance->eval();
    worst = std::max(worst, difference(run(*a, pass), run(*b, pass)));
  }
  return worst;
}

double evaluation(const AttentionSubject& subject) {
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    const auto before = copies(contents(*instance));
    const Pass pass{random_tokens(2, subject.length(13), 2)};
    const auto input = input_of(*instance, pass);
    const auto global = at::globalContext().defaultGenerator(c10::kCPU);
    const auto drawn = input.generator.get_state(), drawn_globally = global.get_state();
    const auto once = instance->attention().forward(input).output;
    if (!input.generator.get_state().equal(drawn)) throw std::runtime_error("evaluation draws from the generator handed in");
    if (!global.get_state().equal(drawn_globally)) throw std::runtime_error("evaluation draws from torch's global generator");
    auto other = pass;
    other.seed += 1;
    if (const auto off = std::max(difference(once, run(*instance, other)), difference(before, contents(*instance))); off > 0)
      return off;
  }
  return 0;
}

double inputs(const AttentionSubject& subject) {
  double worst = 0;
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    for (const bool training : {false, true}) {
      instance->train(training);
      const auto n = subject.length(13);
      Pass pass{.queries = random_tokens(3, n, 2)};
      if (subject.promises().key_padding) pass.mask = padding_mask({n, subject.length(8), 0}, n);
      auto input = input_of(*instance, pass);
      std::vector<Tensor> given = input.state;
      given.push_back(input.queries);
      if (input.mask.defined()) given.push_back(input.mask);
      const auto before = copies(given);
      instance->attention().forward(input);
      worst = std::max(worst, difference(before, given));
    }
  }
  return worst;
}

double save(const AttentionSubject& subject) {
  double worst = 0;
  for (const auto& stand : subject.stands()) {
    const auto from = subject.make(1, stand), to = subject.make(2, stand);
    const Pass pass{random_tokens(2, subject.length(13), 2)};
    train_once(*from, pass);
    copy_registered(*from, *to);
    worst = std::max(worst, difference(run(*from, pass), run(*to, pass)));
  }
  return worst;
}

double step(const AttentionSubject& subject) {
  const auto instance = subject.make(1);
  const auto before = copies(parameters_of(*instance));
  train_once(*instance, {random_tokens(2, subject.length(13), 2)});
  return difference(before, parameters_of(*instance));
}

double kept(const AttentionSubject& subject, std::string& where) {
  const auto instance = subject.make(1, subject.home(), kFloat);
  where = list_kept(*instance);
  const auto made = kept_types(*instance);
  if (subject.promises().half_precision) check_whole_numbers(*instance);
  for (const auto type : {kDouble, kFloat}) {
    move_to(*instance, c10::kCPU, type);
    check_types(*instance, type, made);
    train_once(*instance, {random_tokens(2, subject.length(13), 2, type)});
    check_types(*instance, type, made);
  }
  return 0;
}

}  // namespace ablate::conformance
