#include "core/trial/conformance/attention_numbers.h"

#include <cmath>

namespace ablate::conformance {

double types(const AttentionSubject& subject) {
  double worst = 0;
  const auto n = subject.length(13);
  for (const auto& stand : subject.stands()) {
    const auto exact = run(*subject.make(1, stand), {random_tokens(2, n, 2)});
    const auto output = run(*subject.make(1, stand, kFloat), {random_tokens(2, n, 2, kFloat)});
    if (!finite({output, exact})) return kWrong;
    // The median: a query near a decision (routing, clusters) may fall otherwise in float32.
    worst = std::max(worst, (output.to(kDouble) - exact).abs().median().item().toDouble());
  }
  return worst;
}

double lengths(const AttentionSubject& subject) {
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    for (const std::int64_t wanted : {1, 2, 7, 32, 65, 80})
      if (!finite({run(*instance, {random_tokens(2, subject.length(wanted), 2)})})) return kWrong;
  }
  return 0;
}

double long_sequence(const AttentionSubject& subject) {
  const auto n = subject.length(1003);
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand, kFloat, n);
    const Pass pass{random_tokens(1, n, 2, kFloat)};
    if (!finite({run(*instance, pass)}) || !finite(gradients(*instance, pass))) return kWrong;
  }
  return 0;
}

double gradient(const AttentionSubject& subject) {
  double worst = 0;
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    const Pass pass{random_tokens(2, subject.length(7), 2)};
    const auto analytic = gradients(*instance, pass);
    auto inputs = parameters_of(*instance);
    inputs.push_back(pass.queries);
    const auto value = [&] {
      const NoGradGuard none;
      return weighted_sum(run(*instance, pass)).item().toDouble();
    };
    for (std::size_t i = 0; i < inputs.size(); ++i)
      worst = std::max(worst, finite_difference(value, inputs[i], analytic[i], 100 + i));
  }
  return worst;
}

double batch(const AttentionSubject& subject) {
  double worst = 0;
  const auto n = subject.length(13);
  const auto tokens = scaled(random_tokens(3, n, 2), {1, 100, 0.01});
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    const auto together = run(*instance, {tokens});
    for (std::int64_t i = 0; i < 3; ++i)
      worst = std::max(worst, relative(item(together, i, n), run(*instance, {item(tokens, i, n)})));
  }
  return worst;
}

double scale(const AttentionSubject& subject) {
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand, kFloat);
    const Pass pass{random_tokens(2, subject.length(32), 2, kFloat) * 1e4};
    if (!finite({run(*instance, pass)}) || !finite(gradients(*instance, pass))) return kWrong;
  }
  return 0;
}

double half(const AttentionSubject& subject) {
  double worst = 0;
  const auto n = subject.length(33);
  for (const auto& stand : subject.stands()) {
    const auto wide = run(*subject.make(1, stand, kFloat), {random_tokens(2, n, 2, kFloat)});
    for (const auto type : {at::kHalf, at::kBFloat16}) {
      const auto instance = subject.make(1, stand, type);
      const Pass pass{random_tokens(2, n, 2, type)};
      const auto narrow = run(*instance, pass);
      if (!finite({narrow}) || !finite(gradients(*instance, pass)) || !finite({run(*instance, {pass.queries * 1e4})}))
        return kWrong;
      worst = std::max(worst, median_off(narrow, wide));
    }
  }
  return worst;
}

double constants(const AttentionSubject& subject) {
  // At home alone: a memory that is not full is no token like the others, and the first tokens of a causal read over slots
  // have nothing to read.
  const auto token = random_tokens(2, 1, 2);
  const auto instance = subject.make(1);
  const auto output = [&](std::int64_t n) { return run(*instance, {token.expand({2, n, -1}).contiguous()}); };
  const auto few = output(subject.length(1));
  double worst = 0;
  for (const std::int64_t more : {7, 32, 80}) {
    const auto many = output(subject.length(more));
    worst = std::max(worst, difference(many, few.narrow(1, 0, 1).expand_as(many)));
  }
  return worst;
}

double positions(const AttentionSubject& subject) {
  double worst = 0;
  const auto n = subject.length(13);
  const auto tokens = random_tokens(3, n, 2);
  for (auto stand : subject.stands()) {
    stand.positions = Positions::kRotary;
    const auto instance = subject.make(1, stand);
    const auto at = [&](const std::vector<std::int64_t>& first) { return integers(first); };
    worst =
        std::max(worst, difference(run(*instance, {tokens}), run(*instance, {.queries = tokens, .position = at({0, 0, 0})})));
    const std::vector<std::int64_t> first = {0, 5, 40};
    const auto together = run(*instance, {.queries = tokens, .position = at(first)});
    for (std::int64_t i = 0; i < 3; ++i) {
      const Pass alone{.queries = item(tokens, i, n), .position = at({first[static_cast<std::size_t>(i)]})};
      worst = std::max(worst, difference(item(together, i, n), run(*instance, alone)));
    }
  }
  return worst;
}

double measure(const AttentionSubject& subject) {
  const auto n = subject.length(13);
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    Pass pass{.queries = random_tokens(3, n, 2)};
    if (subject.promises().key_padding) pass.mask = padding_mask({n, subject.length(8), 1}, n);
    const auto plain = run(*instance, pass);
    pass.measure = true;
    const auto measured = forward(*instance, pass);
    for (const auto& metric : measured.metrics)
      if (metric.name.empty() || metric.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos ||
          !std::isfinite(metric.value))
        return kWrong;
    if (const auto off = difference(measured.output, plain); off > 0) return off;
  }
  return 0;
}

}  // namespace ablate::conformance
