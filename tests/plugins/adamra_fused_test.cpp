// AdaMRA over segment means, computed as one operation, against its general computation in float64: values and gradients.
#include "core/kernels/choice.h"
#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kWide = 64, kQueries = 100, kKeys = 131;

std::shared_ptr<ablate::Attention> wide_adamra(const std::string& map, const std::string& routing, const std::string& gradient,
                                               bool fused) {
  ablate::SharedTensors shared;
  const auto of = section("adamra", {{"feature_map", map},
                                     {"routing", routing},
                                     {"router_gradient", gradient},
                                     {"compression", {{"plugin", "segment-mean"}}}});
  const ablate::AttentionPlace place{.d_model = kWide, .max_length = 200, .fused = fused};
  auto made = ablate::make_attention(ablate::plugin_from_json(of), place, find_plugin, ablate::make_generator(3), shared);
  made->eval();
  return made;
}

/// Returns the gradients of all parameters, of queries and of the context (if it is defined), then y.
std::vector<Tensor> results_of(ablate::Attention& attention, Tensor queries, Tensor context, const Tensor& mask) {
  queries = queries.detach().requires_grad_();
  std::vector<Tensor> inputs{queries};
  if (context.defined()) inputs.push_back(context = context.detach().requires_grad_());
  const auto y = run(attention, {queries, context, mask});
  auto weights = normal({y.size(0), y.size(1), kWide}, 9);
  if (mask.defined() && !context.defined()) weights = weights * mask.unsqueeze(-1);
  auto all = gradients(attention, (y * weights.to(y.scalar_type())).sum(), inputs);
  all.push_back(y.detach());
  return all;
}

}  // namespace

TEST_CASE("adamra over segment means, computed as one operation, gives the same results as its general path") {
  const auto x = normal({3, kQueries, kWide}, 1), other = normal({3, kKeys, kWide}, 2);
  for (const std::string map : {"relu", "elu+1"})
    for (const std::string routing : {"learned", "random"})
      for (const std::string gradient : {"scale", "straight-through", "none"})
        for (const bool self : {true, false})
          for (const bool masked : {false, true}) {
            INFO(map << ", " << routing << ", " << gradient << ", self " << self << ", masked " << masked);
            const auto n = self ? kQueries : kKeys;
            const auto mask = masked ? mask_of(n, {n, n / 3, 0}) : Tensor();
            const auto context = self ? Tensor() : other;
            const auto exact = results_of(*in_double(wide_adamra(map, routing, gradient, false)), x, context, mask);
            const auto wide = [](const Tensor& t) { return t.defined() ? t.to(ablate::kFloat) : t; };
            const auto of = [&](bool fused) {
              return results_of(*wide_adamra(map, routing, gradient, fused), wide(x), wide(context), mask);
            };
            const auto found = of(true), general = of(false);
            CHECK(relative(general, exact) < 3e-5);
            CHECK(relative(found, exact) < 3e-5);
            CHECK(found.back().equal(general.back()) ==
                  ablate::kernels::instructions().empty());  // the fused form rounds differently
          }
}
