// Instances of an attention: their draws, buffers, saved numbers and threads.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "core/trial/conformance/attention/contract.h"
#include "core/trial/conformance/engine/registered.h"

namespace ablate::conformance {
namespace {

/// Steps at which methods redraw, reset or revive their buffers.
constexpr std::int64_t kSteps[] = {1, 2, 100, 1000};

void train_once(Instance& instance, const Pass& pass) {
  instance.train();
  auto moving = pass;
  moving.moves = true;
  run(instance, moving);
  for (const auto at : kSteps) instance.on_step(at);
  instance.eval();
}

/// Returns a pass of three items. If padding is promised, a mask keeps all tokens of item 0, some of item 1, none of item 2.
Pass pass_of(const AttentionSubject& subject, std::int64_t n, std::uint64_t seed, std::int64_t second,
             at::ScalarType type = kDouble) {
  Pass pass{.queries = random_tokens(3, n, seed, type)};
  if (subject.promises().key_padding) pass.mask = padding_mask({n, subject.length(second), 0}, n);
  return pass;
}

/// Checks on_step() for every step of one training: torch's global generator must not change the numbers that a step redraws.
void every_step(const AttentionSubject& subject, Finding& finding) {
  const auto a = subject.make(5), b = subject.make(5);
  for (auto* instance : {a.get(), b.get()}) instance->train();
  const auto first = contents(*a), second = contents(*b);
  for (std::int64_t step = 1; step <= kSteps[std::size(kSteps) - 1]; ++step) {
    set_global(7);
    a->on_step(step);
    set_global(8);
    b->on_step(step);
    if (!std::equal(first.begin(), first.end(), second.begin(), [](const Tensor& x, const Tensor& y) { return x.equal(y); }))
      return finding.near(second, first,
                          fmt::format("{}, every step in turn, contents after step {}", subject.home().text(), step));
  }
}

/// Returns the results and the gradients of a pass in the instance's mode.
std::vector<Named> given(const Instance& instance, const Pass& pass) {
  auto result = forward(instance, pass);
  std::vector<Named> all = {{"the output", real(result.output, pass.mask).detach()}};
  for (std::size_t i = 0; i < result.state.size(); ++i)
    all.push_back({fmt::format("state {}", i), result.state[i].detach().to(c10::kCPU)});
  return joined(all, gradients(instance, pass, pass.mask));
}

}  // namespace

void instances(const AttentionSubject& subject, Finding& finding) {
  const auto changed = subject.make(1), other = subject.make(2);
  const Pass pass{random_tokens(2, subject.length(13), 2)};
  const auto before = run(*other, pass).detach().clone();
  const NoGradGuard none;
  const auto all = contents(*changed);
  const PutBack usual(all);  // even if instances share tensors, the next checks begin with the usual numbers
  for (const auto& tensor : all)
    if (tensor.is_floating_point()) tensor.add_(1);
  finding.near(run(*other, pass), before, "after another instance was changed");
}

void seed(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands()) {
    set_global(1);
    const auto longest = subject.short_and_long().back();
    const auto a = subject.make(5, stand, kDouble, longest);
    set_global(2);
    const auto b = subject.make(5, stand, kDouble, longest);
    finding.near(contents(*b), contents(*a), stand.text() + ", weights of the same seed");
    Pass pass;
    pass.moves = true;
    for (auto* instance : {a.get(), b.get()}) instance->train();
    for (const auto n : subject.short_and_long()) {
      pass.queries = random_tokens(2, n, 2);
      set_global(3);
      const auto first = gradients(*a, pass);
      set_global(4);
      const auto second = gradients(*b, pass);
      finding.near(second, first, fmt::format("{}, in training, {} tokens", stand.text(), n), kExact);
    }
    for (const auto at : kSteps) {
      set_global(5);
      a->on_step(at);
      set_global(6);
      b->on_step(at);
      finding.near(contents(*b), contents(*a), fmt::format("{}, contents after step {}", stand.text(), at));
    }
    for (auto* instance : {a.get(), b.get()}) instance->eval();
    finding.near(run(*b, pass), run(*a, pass), stand.text() + ", in evaluation");
  }
  if (subject.full()) every_step(subject, finding);
}

void evaluation(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands())
    for (const auto n : subject.short_and_long()) {
      const auto instance = subject.make(1, stand, kDouble, n);
      const auto before = copies(contents(*instance));
      const auto pass = pass_of(subject, n, 2, 5);
      const auto input = input_of(*instance, pass);
      const auto global = set_global(76);
      const auto drawn = input.generator.get_state(), drawn_globally = global.get_state();
      const auto once = instance->attention().forward(input).output;
      if (!input.generator.get_state().equal(drawn)) throw std::runtime_error("evaluation draws from the generator handed in");
      if (!global.get_state().equal(drawn_globally)) throw std::runtime_error("evaluation draws from torch's global generator");
      auto other = pass;
      other.seed += 1;
      set_global(77);
      finding.near(run(*instance, other), once, stand.text() + ", a second time, with other generators");
      finding.near(contents(*instance), before, stand.text() + ", parameters and buffers");
    }
}

void inputs(const AttentionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings())
    for (const bool masked : {false, true}) {
      if (masked && !subject.promises().key_padding) continue;
      const auto instance = subject.make(1, setting);
      auto pass = pass_of(subject, subject.length(13), 2, 8, setting.type);
      if (!masked) pass.mask = Tensor();
      auto input = input_of(*instance, pass);
      std::vector<Tensor> given = {input.queries};
      if (input.mask.defined()) given.push_back(input.mask);
      if (subject.crosses(setting.stand)) {
        input.context = random_tokens(3, subject.length(13), 3, setting.type).to(instance->device());
        input.query_mask = Tensor();
        given.push_back(input.context);
      }
      given.insert(given.end(), input.state.begin(), input.state.end());
      const auto before = copies(given);
      instance->attention().forward(input);
      finding.near(given, before, setting.text() + (masked ? ", padded" : "") + ", input");
    }
}

void calls(const AttentionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings())
    for (const auto n : subject.short_and_long()) {
      const auto first = pass_of(subject, n, 2, n * 8 / 13, setting.type),
                 second = pass_of(subject, n, 4, n * 5 / 13, setting.type);
      for (const bool turned : {false, true}) {
        const auto& before = turned ? second : first;
        const auto& after = turned ? first : second;
        const auto used = subject.make(1, setting, n), fresh = subject.make(1, setting, n);
        auto given = before;
        given.queries = before.queries.to(used->device()).clone();
        run(*used, given);
        {
          const NoGradGuard none;
          given.queries.fill_(std::nan(""));
        }
        finding.near(real(run(*used, after), after.mask), real(run(*fresh, after), after.mask),
                     fmt::format("{}, {} tokens, after a call of the same shape", setting.text(), n), same_shape(setting.type));
      }
    }
}

void save(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands()) {
    const auto from = subject.make(1, stand), to = subject.make(2, stand);
    const Pass pass{random_tokens(2, subject.length(13), 2)};
    train_once(*from, pass);
    copy_registered(*from, *to);
    finding.near(run(*to, pass), run(*from, pass), stand.text() + ", loaded into another instance");
    for (auto* instance : {from.get(), to.get()}) instance->train();
    finding.near(gradients(*to, pass), gradients(*from, pass), stand.text() + ", loaded, in training", kExact);
  }
}

void step(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    const auto before = copies(parameters_of(*instance));
    train_once(*instance, {random_tokens(2, subject.length(13), 2)});
    finding.near(parameters_of(*instance), before, stand.text() + ", parameters after on_step");
  }
}

void kept(const AttentionSubject& subject, Finding& finding) {
  const auto instance = subject.make(1, subject.home(), kFloat);
  const auto train = [&](at::ScalarType type) { train_once(*instance, {random_tokens(2, subject.length(13), 2, type)}); };
  check_kept(*instance, instance->device(), subject.promises().half_precision, train, finding);
}

void threads(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(13);
  for (const auto& setting : subject.settings(subject.promised_stands(), kDouble)) {
    if (!subject.full() && !(setting.stand == subject.home())) continue;
    Pass pass{random_tokens(2, n, 2)};
    if (subject.promises().key_padding) pass.mask = padding_mask({n, subject.length(5)}, n);
    const auto make = [&]() -> Run { return [made = subject.make(1, setting), pass] { return given(*made, pass); }; };
    same_in_threads(make, setting.text(), finding);
  }
}

}  // namespace ablate::conformance
