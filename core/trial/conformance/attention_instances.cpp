#include "core/trial/conformance/attention_instances.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "core/trial/conformance/registered.h"

namespace ablate::conformance {
namespace {

/// Steps at which methods redraw, reset or revive what they keep.
constexpr std::int64_t kSteps[] = {1, 2, 100, 1000};

void train_once(Instance& instance, const Pass& pass) {
  instance.train();
  auto moving = pass;
  moving.moves = true;
  run(instance, moving);
  for (const auto at : kSteps) instance.on_step(at);
  instance.eval();
}

/// Three items without a mask, or with one of the given lengths.
Pass pass_of(const AttentionSubject& subject, std::uint64_t seed, std::int64_t second, at::ScalarType type = kDouble) {
  const auto n = subject.length(13);
  Pass pass{.queries = random_tokens(3, n, seed, type)};
  if (subject.promises().key_padding) pass.mask = padding_mask({n, subject.length(second), 0}, n);
  return pass;
}

}  // namespace

void instances(const AttentionSubject& subject, Finding& finding) {
  const auto changed = subject.make(1), other = subject.make(2);
  const Pass pass{random_tokens(2, subject.length(13), 2)};
  const auto before = run(*other, pass).detach().clone();
  const NoGradGuard none;
  const auto all = contents(*changed);
  const auto originals = copies(all);
  for (const auto& tensor : all)
    if (tensor.is_floating_point()) tensor.add_(1);
  finding.near(run(*other, pass), before, "after another instance was changed");
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].copy_(originals[i]);  // whatever is shared, the next checks start as usual
}

void seed(const AttentionSubject& subject, Finding& finding) {
  auto global = at::globalContext().defaultGenerator(c10::kCPU);
  for (const auto& stand : subject.stands()) {
    global.set_current_seed(1);
    const auto a = subject.make(5, stand);
    global.set_current_seed(2);
    const auto b = subject.make(5, stand);
    finding.near(contents(*b), contents(*a), stand.text() + ", weights of the same seed");
    Pass pass{random_tokens(2, subject.length(13), 2)};
    pass.moves = true;
    for (auto* instance : {a.get(), b.get()}) instance->train();
    global.set_current_seed(3);
    const auto first = gradients(*a, pass);
    global.set_current_seed(4);
    const auto second = gradients(*b, pass);
    compare(finding, second, first, stand.text() + ", in training", kExact);
    for (const auto at : kSteps) {
      global.set_current_seed(5);
      a->on_step(at);
      global.set_current_seed(6);
      b->on_step(at);
      finding.near(contents(*b), contents(*a), fmt::format("{}, contents after step {}", stand.text(), at));
    }
    for (auto* instance : {a.get(), b.get()}) instance->eval();
    finding.near(run(*b, pass), run(*a, pass), stand.text() + ", in evaluation");
  }
}

void evaluation(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    const auto before = copies(contents(*instance));
    const auto pass = pass_of(subject, 2, 5);
    const auto input = input_of(*instance, pass);
    auto global = at::globalContext().defaultGenerator(c10::kCPU);
    const auto drawn = input.generator.get_state(), drawn_globally = global.get_state();
    const auto once = instance->attention().forward(input).output;
    if (!input.generator.get_state().equal(drawn)) throw std::runtime_error("evaluation draws from the generator handed in");
    if (!global.get_state().equal(drawn_globally)) throw std::runtime_error("evaluation draws from torch's global generator");
    auto other = pass;
    other.seed += 1;
    global.set_current_seed(77);
    finding.near(run(*instance, other), once, stand.text() + ", a second time, with other generators");
    finding.near(contents(*instance), before, stand.text() + ", parameters and buffers");
  }
}

void inputs(const AttentionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings()) {
    const auto instance = subject.make(1, setting);
    auto input = input_of(*instance, pass_of(subject, 2, 8, setting.type));
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
    finding.near(given, before, setting.text() + ", input");
  }
}

void calls(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands())
    for (const bool training : {false, true}) {
      const Setting setting{stand, kDouble, training};
      const auto first = pass_of(subject, 2, 8), second = pass_of(subject, 4, 5);
      for (const bool turned : {false, true}) {
        const auto& before = turned ? second : first;
        const auto& after = turned ? first : second;
        const auto used = subject.make(1, setting), fresh = subject.make(1, setting);
        auto given = before;
        given.queries = before.queries.to(used->device()).clone();
        run(*used, given);
        {
          const NoGradGuard none;
          given.queries.fill_(std::nan(""));
        }
        finding.near(real(run(*used, after), after.mask), real(run(*fresh, after), after.mask),
                     setting.text() + ", after a call of the same shape");
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
    compare(finding, gradients(*to, pass), gradients(*from, pass), stand.text() + ", loaded, in training", kExact);
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
  if (const auto list = list_kept(*instance); !list.empty()) finding.say(list);
  const auto made = kept_types(*instance);
  if (subject.promises().half_precision) check_whole_numbers(*instance);
  for (const auto type : {kDouble, kFloat}) {
    finding.saw();
    move_to(*instance, instance->device(), type);
    check_types(*instance, type, made);
    train_once(*instance, {random_tokens(2, subject.length(13), 2, type)});
    check_types(*instance, type, made);
  }
}

}  // namespace ablate::conformance
