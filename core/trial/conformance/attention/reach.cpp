// Reach: every output depends on every token that it may see.
#include <fmt/format.h>

#include <stdexcept>

#include "core/trial/conformance/attention/contract.h"

namespace ablate::conformance {
namespace {

/// Smallest ratio of a token's gradient to the gradient of its neighbour. A smaller gradient is the rounding of a sum that
/// cancels. A decay may also make gradients this small, but then the gradient of the neighbour is small, too.
constexpr double kDust = 1e-10;
/// Share of an output below which a change is rounding.
constexpr double kRounded = 1e-12;
/// Number of items: some features of a token may be 0 for an output, as with a rectified kernel, but hardly in all items.
constexpr std::int64_t kItems = 3;

/// Returns [n] bool, or [output + 1] at a causal place: true if the token reaches the output in some item, by the gradients of
/// one backward pass.
Tensor arrives(const Instance& instance, const Stand& stand, const Tensor& tokens, std::int64_t output) {
  const auto n = tokens.size(1);
  const auto leaf = tokens.clone().requires_grad_();
  const auto only = arange(n).eq(output).unsqueeze(0).expand({tokens.size(0), n});
  const auto found = gradients_of(weighted_sum(run(instance, {leaf}), only), {leaf}).front().abs().amax(-1);  // [items, n]
  const auto seen = stand.causal ? found.narrow(1, 0, output + 1) : found;
  const auto none = zeros_like(seen.narrow(1, 0, 1));
  const auto before = ablate::cat({none, seen.narrow(1, 0, seen.size(1) - 1)}, 1),
             behind = ablate::cat({seen.narrow(1, 1, seen.size(1) - 1), none}, 1);
  return (seen > 0).logical_and(seen > before * kDust).logical_and(seen > behind * kDust).any(0);
}

/// True if another token at this place changes the output. Used for tokens with gradient 0: a discrete choice has no gradient.
bool changes(const Instance& instance, const Tensor& tokens, std::int64_t token, std::int64_t output) {
  const NoGradGuard none;
  auto other = tokens.clone();
  other.narrow(1, token, 1).mul_(-3);
  const auto before = run(instance, {tokens}).narrow(1, output, 1), after = run(instance, {other}).narrow(1, output, 1);
  return ((after - before).abs() > before.abs().max() * kRounded).any().item().toBool();
}

/// Describes a token that an output does not depend on. Returns "" if there is none.
std::string unseen_token(const AttentionSubject& subject, const Setting& setting, std::int64_t n) {
  constexpr int kLooks = 8;  // number of tokens without a gradient to check
  const auto instance = subject.make(1, setting, n);
  const auto tokens = random_tokens(kItems, n, 2);
  std::vector<std::int64_t> outputs = {n - 1};
  if (n < 1000) outputs.push_back(n / 2);
  if (!setting.stand.causal) outputs.push_back(0);
  for (const auto output : outputs) {
    const auto all = arrives(*instance, setting.stand, tokens, output);
    int looks = 0;
    for (std::int64_t token = 0; token < all.size(0) && looks < kLooks; ++token) {
      if (all[token].item().toBool()) continue;
      ++looks;
      if (!changes(*instance, tokens, token, output))
        return fmt::format("{}, {} tokens: output {} does not depend on token {}, and sparse is not declared", setting.text(),
                           n, output, token);
    }
  }
  return "";
}

/// Checks one output of very many tokens, by one gradient in float32. A token that is left out has gradient 0 beside a
/// neighbour with a large gradient. A decay may also make gradients 0, but then the neighbour's gradient is nearly 0, too.
std::string unseen_beyond(const AttentionSubject& subject, const Stand& stand, std::int64_t n) {
  constexpr double faint = 1e-30;
  const auto instance = subject.make(1, stand, kFloat, n);
  const auto items = subject.promises().memory_exponent < 1.5 ? kItems : 1;
  const auto leaf = random_tokens(items, n, 2, kFloat).requires_grad_();
  const auto output = run(*instance, {leaf});
  const auto last = stand.causal ? n - 1 : n / 2;
  const auto loss = (output.narrow(1, last, 1) * normal({1, 1, AttentionSubject::kChannels}, 23, kFloat)).sum();
  const auto found = gradients_of(loss, {leaf}).front().abs().amax(-1).amax(0);  // [n]
  const auto seen = stand.causal ? found.narrow(0, 0, last + 1) : found;
  const auto none = zeros_like(seen.narrow(0, 0, 1));
  const auto beside = ablate::cat({none, seen.narrow(0, 0, seen.size(0) - 1)}, 0)
                          .maximum(ablate::cat({seen.narrow(0, 1, seen.size(0) - 1), none}, 0));
  const auto left_out = (seen <= 0).logical_and(beside > faint).nonzero().flatten();
  constexpr std::int64_t looks = 4;
  for (std::int64_t i = 0; i < std::min(looks, left_out.size(0)); ++i)
    if (const auto token = left_out[i].item().toLong(); !changes(*instance, leaf.detach(), token, last))
      return fmt::format("{}, float32, {} tokens: output {} does not depend on token {}, and sparse is not declared",
                         stand.text(), n, last, token);
  return "";
}

void judge_reach(const AttentionSubject& subject, const Stand& stand, const std::string& fault, Finding& finding) {
  finding.saw();
  if (fault.empty()) return;
  const auto* exempt = subject.candidate().exemptions->excuse("reach", stand.alone().text());
  if (exempt == nullptr) throw std::runtime_error(fault + kWhereSparse);
  finding.say(fmt::format("{} is exempt: {}", stand.text(), exempt->why));
}

}  // namespace

void reach_everywhere(const AttentionSubject& subject, Finding& finding) {
  auto all = every_length(7);
  all.pop_back();  // a single token has no other token to reach
  all.insert(all.end(), {64, 65, 128, 193});
  for (const auto& stand : subject.promised_stands(false)) {
    std::string fault;
    for (const auto n : lengths_for(subject, all))
      if (fault.empty()) fault = unseen_token(subject, {.stand = stand}, n);
    for (const auto n : lengths_beyond(subject))
      if (fault.empty()) fault = unseen_beyond(subject, stand, n);
    judge_reach(subject, stand, fault, finding);
  }
}

void reach(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands()) {
    if (stand.carries) continue;
    auto fault = unseen_token(subject, {.stand = stand}, subject.length(13));
    for (const auto n : subject.long_lengths())
      if (fault.empty()) fault = unseen_token(subject, {.stand = stand}, n);
    if (subject.full() && fault.empty()) fault = unseen_token(subject, {.stand = stand, .training = true}, subject.length(150));
    judge_reach(subject, stand, fault, finding);
  }
}

}  // namespace ablate::conformance
