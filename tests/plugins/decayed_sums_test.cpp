// Decayed sums, by chunks, against their plain recurrence: values, state and gradients, also with strong decay.
#include "ablate/decayed_sums.h"

#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

struct Inputs {
  Tensor q, k, v, log_decay, state;

  std::vector<Tensor> all() const { return {q, k, v, log_decay, state}; }
};

/// Draws inputs. `strongest` is the strongest log decay, at most 0. Each decay has `channels` channels.
Inputs inputs_of(std::int64_t n, double strongest, std::int64_t channels) {
  const auto of = [](Tensor x) { return x.requires_grad_(); };
  return {of(normal({2, 2, n, 4}, 1)), of(normal({2, 2, n, 4}, 2)), of(normal({2, 2, n, 3}, 3)),
          of(normal({2, 2, n, channels}, 4).sigmoid() * strongest), of(normal({2, 2, 4, 3}, 5))};
}

/// Computes S_i = diag(a_i) S_(i-1) + k_i v_i^T, o_i = q_i S_i.
ablate::DecayedSums plainly(const Inputs& in) {
  auto state = in.state;
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < in.q.size(2); ++i) {
    const auto at = [i](const Tensor& x) { return x.select(2, i); };
    state = at(in.log_decay).exp().unsqueeze(-1) * state + at(in.k).unsqueeze(-1) * at(in.v).unsqueeze(-2);
    rows.push_back((at(in.q).unsqueeze(-1) * state).sum(-2));
  }
  return {ablate::stack(rows, 2), state};
}

Tensor loss(const ablate::DecayedSums& sums) {
  return (sums.values * normal(sums.values.sizes(), 6)).sum() + (sums.state * normal(sums.state.sizes(), 7)).sum();
}

}  // namespace

TEST_CASE("decayed sums by chunks equal the recurrence, with gradients") {
  for (const std::int64_t n : {1, 2, 3, 31, 64, 65, 200})
    for (const double strongest : {-1e-3, -0.5, -30.0, -2000.0})
      for (const std::int64_t channels : {1, 4}) {
        const auto in = inputs_of(n, strongest, channels);
        const auto found = ablate::decayed_sums(in.q, in.k, in.v, in.log_decay, in.state), expected = plainly(in);
        INFO("n " << n << ", strongest " << strongest << ", channels " << channels);
        CHECK(distance(found.values, expected.values) < 1e-11);
        CHECK(distance(found.state, expected.state) < 1e-11);
        CHECK(distance(torch::autograd::grad({loss(found)}, in.all()), torch::autograd::grad({loss(expected)}, in.all())) <
              1e-10);
      }
}

TEST_CASE("decayed sums in float32 stay finite and accurate, even if keys divided by their decay would overflow") {
  auto in = inputs_of(150, -200, 4);
  const auto expected = plainly(in);
  const auto narrow = [](const Tensor& x) { return x.detach().to(ablate::kFloat).requires_grad_(); };
  const Inputs low{narrow(in.q), narrow(in.k), narrow(in.v), narrow(in.log_decay), narrow(in.state)};
  const auto found = ablate::decayed_sums(low.q, low.k, low.v, low.log_decay, low.state);
  CHECK(distance(found.values.to(ablate::kDouble), expected.values) < 1e-4);
  for (const auto& gradient : torch::autograd::grad({found.values.sum()}, low.all()))
    CHECK(gradient.isfinite().all().item<bool>());
  // A simple chunked form would multiply keys by these numbers.
  CHECK_FALSE(low.log_decay.narrow(2, 0, 64).sum(2).neg().exp().isfinite().any().item<bool>());
}

TEST_CASE("decayed sums: a later token changes no bit of an earlier token's output") {
  const auto in = inputs_of(100, -0.5, 4);
  auto other = in;
  const auto changed = [](const Tensor& x) {
    auto y = x.detach().clone();
    y.narrow(2, 90, 10).mul_(1e6);
    return y;
  };
  const auto first = ablate::decayed_sums(in.q, in.k, in.v, in.log_decay, in.state).values.narrow(2, 0, 90);
  const auto second = ablate::decayed_sums(changed(in.q), changed(in.k), changed(in.v), changed(in.log_decay), in.state)
                          .values.narrow(2, 0, 90);
  CHECK(second.equal(first));
}
