// Instances of a compression: their draws, buffers, saved numbers and threads.
#include <fmt/format.h>

#include <stdexcept>

#include "core/trial/conformance/compression/contract.h"
#include "core/trial/conformance/engine/registered.h"

namespace ablate::conformance {
namespace {

constexpr std::int64_t kSteps[] = {1, 2, 100, 1000};

CompressionInputs some_inputs(const CompressionSubject& subject, std::uint64_t seed = 7) {
  return inputs_of(subject.length(12), subject.lengths({12, 5, 0}), seed);
}

void compare_contents(Finding& finding, const std::vector<Tensor>& found, const std::vector<Tensor>& expected,
                      const std::string& where) {
  for (std::size_t i = 0; i < expected.size(); ++i) finding.near(found[i], expected[i], fmt::format("{}, tensor {}", where, i));
}

/// Runs a thousand training steps, each after a write of tokens. Calls `look` after each step.
template <class Look>
void walk(const CompressionSubject& subject, const std::vector<CompressionInstance>& all, at::ScalarType type,
          const Look& look) {
  const auto in = inputs_of(subject.length(3), {}, 9).to(type);
  const NoGradGuard none;
  for (std::int64_t step = 1; step <= 1000; ++step) {
    for (const auto& one : all) {
      set_global(static_cast<std::uint64_t>(100 + (&one - all.data())));
      write(*one, in);
      one.on_step(step);
    }
    look(step);
  }
}

void compare_passes(Finding& finding, const CompressionPass& found, const CompressionPass& expected, const std::string& where) {
  finding.near(found.results(), expected.results(), where, kExact);
}

}  // namespace

void seed(const CompressionSubject& subject, Finding& finding) {
  const auto in = some_inputs(subject);
  for (const auto type : subject.types()) {
    const CompressionSetting setting{subject.usual(), type, true};
    set_global(1);
    const auto one = subject.make(setting, 5);
    set_global(2);
    const auto same = subject.make(setting, 5);
    compare_contents(finding, contents(*one), contents(*same), setting.text() + ", made twice from one seed");
    for (const auto step : kSteps) {
      const auto place = fmt::format("{}, step {}", setting.text(), step);
      set_global(3);
      const auto first = pass(*one, in.to(type), {.keeps_moved = true});
      one.on_step(step);
      set_global(4);
      const auto second = pass(*same, in.to(type), {.keeps_moved = true});
      same.on_step(step);
      compare_passes(finding, second, first, place + ", trained twice from one seed");
      compare_contents(finding, contents(*same), contents(*one), place + ", contents after on_step");
    }
  }
  if (!subject.full()) return;
  const CompressionSetting setting{subject.usual(), kDouble, true};
  const auto one = subject.make(setting, 5), same = subject.make(setting, 5);
  const auto left = contents(*one), right = contents(*same);
  walk(subject, {one, same}, kDouble, [&](std::int64_t step) {
    for (std::size_t i = 0; i < left.size(); ++i)
      if (!left[i].equal(right[i]))
        finding.near(right[i], left[i], fmt::format("{}, every step to {}: tensor {}", setting.text(), step, i));
  });
  compare_passes(finding, pass(*same, in), pass(*one, in), setting.text() + ", after every step to 1000");
}

void save(const CompressionSubject& subject, Finding& finding) {
  const auto in = some_inputs(subject);
  const CompressionSetting setting{subject.usual(), kDouble, true};
  const auto one = subject.make(setting, 5), other = subject.make(setting, 6);
  for (const std::int64_t step : {1, 2}) train_step(*one, in, step);
  copy_registered(*one, *other);
  const auto look = [&](const std::string& when) {
    one->eval();
    other->eval();
    finding.near(pass(*other, in).outputs, pass(*one, in).outputs, when, kExact);
    one->train();
    other->train();
  };
  look("saved and loaded");
  if (!subject.promises().deterministic) return;
  for (const std::int64_t step : {3, 1000}) {
    train_step(*one, in, step);
    train_step(*other, in, step);
    look(fmt::format("saved, loaded and trained on to step {}", step));
  }
}

void instances(const CompressionSubject& subject, Finding& finding) {
  const auto in = some_inputs(subject);
  const CompressionSetting setting{subject.usual()};
  const auto changed = subject.make(setting, 5), other = subject.make(setting, 6);
  const auto before = pass(*other, in);
  {
    const auto all = contents(*changed);
    const PutBack usual(all);
    const NoGradGuard none;
    for (const auto& tensor : all)
      if (tensor.is_floating_point()) tensor.add_(1);
    compare_passes(finding, pass(*other, in), before, "after another instance was changed");
  }
  changed->train();
  for (const std::int64_t step : {1, 2}) train_step(*changed, some_inputs(subject, 9), step);
  compare_passes(finding, pass(*other, in), before, "another instance has trained");
  other->train();
  other.on_step(1);
  const auto fresh = subject.make(setting, 6);
  fresh->train();
  fresh.on_step(1);
  compare_contents(finding, contents(*other), contents(*fresh), "a step, when another instance has trained");
}

void frozen(const CompressionSubject& subject, Finding& finding) {
  for (const auto type : subject.types())
    for (const bool trained : {false, true}) {
      const CompressionSetting setting{subject.usual(), type};
      const auto compression = subject.make(setting);
      const auto in = some_inputs(subject).to(type);
      if (trained) {
        compression->train();
        for (const std::int64_t step : {1, 2}) train_step(*compression, in, step);
        compression->eval();
      }
      const auto place = setting.text() + (trained ? ", after two steps" : "");
      const auto before = copies(contents(*compression));
      const auto global = set_global(5);
      const auto drawn_globally = global.get_state();
      const auto first = pass(*compression, in, {.seed = 19});
      if (first.drew) throw std::runtime_error(place + ": evaluation draws from the generator handed in");
      if (!global.get_state().equal(drawn_globally))
        throw std::runtime_error(place + ": evaluation draws from torch's global generator");
      set_global(6);
      compare_passes(finding, pass(*compression, in, {.seed = 20}), first, place + ", from another generator");
      pass(*compression, some_inputs(subject, 8).to(type));
      compare_passes(finding, pass(*compression, in, {.seed = 19}), first, place + ", again");
      compare_contents(finding, contents(*compression), before, place + ", registered tensors");
    }
}

void step(const CompressionSubject& subject, Finding& finding) {
  for (const auto type : subject.types()) {
    const CompressionSetting setting{subject.usual(), type, true};
    const auto compression = subject.make(setting);
    const auto before = copies(parameters_of(*compression));
    for (const auto at : kSteps) {
      train_step(*compression, some_inputs(subject).to(type), at);
      compare_contents(finding, parameters_of(*compression), before,
                       fmt::format("{}, parameters after step {}", setting.text(), at));
    }
  }
  if (!subject.full()) return;
  const auto compression = subject.make({subject.usual(), kDouble, true});
  const auto all = parameters_of(*compression), before = copies(all);
  walk(subject, {compression}, kDouble, [&](std::int64_t step) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!all[i].equal(before[i])) finding.near(all[i], before[i], fmt::format("every step to {}: parameter {}", step, i));
  });
}

void kept(const CompressionSubject& subject, Finding& finding) {
  const auto compression = subject.make({subject.usual(), kFloat});
  const auto train = [&](at::ScalarType type) {
    compression->train();
    train_step(*compression, some_inputs(subject).to(type), 1);
    compression->eval();
  };
  check_kept(compression.get(), compression.device(), subject.promises().half_precision, train, finding);
}

void training(const CompressionSubject& subject, Finding& finding) {
  auto types = subject.types();
  if (!subject.full()) types = {kFloat};
  for (const auto type : types) {
    const CompressionSetting setting{subject.usual(), type, true};
    const auto compression = subject.make(setting);
    for (std::int64_t step = 1; step <= 4; ++step) {
      const auto place = fmt::format("{}, step {}", setting.text(), step);
      if (step == 4) compression->eval();
      const auto n = step == 2 ? subject.length(40) : subject.length(12);
      const auto found =
          pass(*compression, inputs_of(n, subject.lengths({n, 5, 0}), 7 + static_cast<std::uint64_t>(step)).to(type),
               {.keeps_moved = true});
      if (step < 4) compression.on_step(step);
      finding.finite(found.results(), place);
      finding.finite(contents(*compression), place + ", registered tensor");
    }
  }
}

void threads(const CompressionSubject& subject, Finding& finding) {
  const auto in = inputs_of(subject.length(12), subject.lengths({12, 5, 1}));
  for (const bool training : {false, true}) {
    const CompressionSetting setting{subject.usual(), kDouble, training};
    const auto make = [&]() -> Run {
      return [made = subject.make(setting), in] {
        const auto found = pass(made, in);
        return joined(named(found.memory), found.results());
      };
    };
    same_in_threads(make, setting.text(), finding);
  }
}

}  // namespace ablate::conformance
