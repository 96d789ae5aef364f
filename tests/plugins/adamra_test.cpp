// AdaMRA against Eq. 6 to 9, written one query, head and subhead at a time over segment means.
#include "core/util/rate_text.h"
#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate;
using torch::Tensor;

namespace {

struct Setting {
  std::vector<std::string> rates = {"1/2", "1/3", "1/4"};
  std::int64_t subheads = 2;
  std::string feature_map = "relu", routing = "learned", router_gradient = "scale";

  nlohmann::json json() const {
    return {{"rates", rates},
            {"subheads", subheads},
            {"feature_map", feature_map},
            {"routing", routing},
            {"router_gradient", router_gradient}};
  }
};

AttentionSubject subject(const Setting& setting) {
  return {with_defaults(plain::plugin("adamra"), setting.json()), with_defaults(plain::plugin("segment-mean"))};
}

// The mean of each segment's tokens. @param x [n, d] @return [slots, d]
Tensor segment_means(const Tensor& x, Rate rate, Tensor& counts) {
  std::vector<Tensor> means;
  std::vector<double> sizes;
  for (std::int64_t slot = 0; slot < rate.slots(x.size(0)); ++slot) {
    Tensor sum = torch::zeros_like(x[0]);
    double size = 0;
    for (std::int64_t i = 0; i < x.size(0); ++i)
      if (rate.slot_of(i) == slot) {
        sum = sum + x[i];
        ++size;
      }
    means.push_back(sum / std::max(size, 1.0));  // 2/3 of 11 tokens are 8 slots, the last of which stands for none
    sizes.push_back(size);
  }
  counts = torch::tensor(sizes, torch::kFloat64);
  return torch::stack(means);
}

// One item. @param drawn [n] the heads of routing = random @return [n, d_model]
Tensor equations(const Attention& a, const Setting& s, const Tensor& queries, const Tensor& context, const Tensor& drawn) {
  const auto q = plain::layer(a, "query", queries), k = plain::layer(a, "key", context), v = plain::layer(a, "value", context);
  const auto d = q.size(1), size = d / s.subheads;
  const auto heads = static_cast<std::int64_t>(s.rates.size());
  const bool routed = s.routing == "learned" || (s.routing == "all" && s.router_gradient == "scale");
  const auto p = routed ? q.matmul(plain::parameter(a, "router")).softmax(-1) : Tensor();  // Eq. 6
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < q.size(0); ++i) rows.push_back(torch::zeros({d}, torch::kFloat64));
  for (std::int64_t h = 0; h < heads; ++h) {
    Tensor counts;
    const auto rate = parse_rate(s.rates[h]).value();
    const auto keys = segment_means(k, rate, counts).matmul(plain::parameter(a, "head_key")[h]);
    const auto values = segment_means(v, rate, counts).matmul(plain::parameter(a, "head_value")[h]);
    const auto of_head = q.matmul(plain::parameter(a, "head_query")[h]);
    for (std::int64_t i = 0; i < q.size(0); ++i) {
      if (s.routing == "learned" && p[i].argmax().item<std::int64_t>() != h) continue;
      if (s.routing == "random" && drawn[i].item<std::int64_t>() != h) continue;
      std::vector<Tensor> parts;
      for (std::int64_t j = 0; j < s.subheads; ++j)  // Eq. 9
        parts.push_back(plain::read(s.feature_map, of_head[i].narrow(0, j * size, size), keys.narrow(1, j * size, size),
                                    values.narrow(1, j * size, size), counts));
      auto y = torch::cat(parts);
      if (routed && s.router_gradient == "scale") y = y * p[i][h];
      if (s.routing == "learned" && s.router_gradient == "straight-through") y = y * (1 + p[i][h] - p[i][h].detach());
      rows[i] = rows[i] + y;  // Eq. 8
    }
  }
  return plain::layer(a, "output", torch::stack(rows));
}

const std::vector<std::int64_t> kLengths = {11, 6, 1};

// Outputs and gradients of a padded batch, self- or cross-attention, against the equations.
double off(Attention& a, const Setting& s, bool cross) {
  const auto x = random_tokens(3, 11, 2).requires_grad_(), queries = cross ? random_tokens(3, 7, 3).requires_grad_() : x;
  const auto mask = padding_mask(kLengths, 11);
  const auto output = run(a, {queries, x, mask});
  const auto drawn = !a.named_buffers().contains("random_heads") ? Tensor()
                     : a.is_training() ? torch::randint(static_cast<std::int64_t>(s.rates.size()), {3, queries.size(1)},
                                                        make_generator(17), torch::kInt64)
                                       : a.named_buffers()["random_heads"].expand({3, -1});
  double worst = 0;
  Tensor loss = torch::zeros({}, torch::kFloat64), expected_loss = loss;
  for (std::size_t i = 0; i < kLengths.size(); ++i) {
    const auto item = static_cast<std::int64_t>(i);
    const auto context = x[item].narrow(0, 0, kLengths[i]);
    const auto expected = equations(a, s, cross ? queries[item] : context, context, drawn.defined() ? drawn[item] : drawn);
    const auto found = output[item].narrow(0, 0, expected.size(0));
    worst = std::max(worst, difference(found, expected));
    const auto weights = random_tokens(1, expected.size(0), 31 + i)[0];
    loss = loss + (found * weights).sum();
    expected_loss = expected_loss + (expected * weights).sum();
  }
  auto inputs = a.parameters();
  inputs.push_back(x);
  if (cross) inputs.push_back(queries);
  const auto found = torch::autograd::grad({loss}, inputs, {}, true, false, true);
  const auto expected = torch::autograd::grad({expected_loss}, inputs, {}, true, false, true);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto or_zero = [&](const Tensor& g) { return g.defined() ? g : torch::zeros_like(inputs[i]); };
    worst = std::max(worst, difference(or_zero(found[i]), or_zero(expected[i])));
  }
  return worst;
}

}  // namespace

TEST_CASE("adamra is Eq. 6 to 9, with gradients, however queries are routed", "[adamra]") {
  for (const std::string routing : {"learned", "random", "all"})
    for (const std::string gradient : {"scale", "straight-through", "none"})
      for (const bool cross : {false, true}) {
        const Setting setting{.routing = routing, .router_gradient = gradient};
        const auto attention = subject(setting).make(1);
        INFO("routing " << routing << ", router_gradient " << gradient << ", cross " << cross);
        CHECK(off(*attention, setting, cross) < 1e-11);
        attention->train();
        CHECK(off(*attention, setting, cross) < 1e-11);
      }
}

TEST_CASE("adamra is Eq. 6 to 9 for every feature map, rates and subheads", "[adamra]") {
  for (const std::string map : {"relu", "elu+1", "softmax"})
    for (const auto& rates : std::vector<std::vector<std::string>>{{"1"}, {"1/16"}, {"2/3", "1/8"}, {"1/4", "1/4", "1/4"}})
      for (const std::int64_t subheads : {1, 4}) {
        const Setting setting{rates, subheads, map};
        INFO(setting.json().dump());
        CHECK(off(*subject(setting).make(3), setting, false) < 1e-11);
      }
}

TEST_CASE("adamra: all queries in one head, the others empty", "[adamra]") {
  const Setting setting;
  const auto attention = subject(setting).make(1);
  for (std::int64_t head = 0; head < 3; ++head) {
    {
      torch::NoGradGuard no_grad;
      plain::parameter(*attention, "query.weight").mul_(0.01);
      plain::parameter(*attention, "query.bias").fill_(1);
      plain::parameter(*attention, "router").zero_().select(1, head).fill_(0.1);
    }
    INFO("head " << head + 1);
    CHECK(off(*attention, setting, false) < 1e-11);
    const auto x = random_tokens(2, 11, 2);
    AttentionInput input{x, x, {}, {}, make_generator(1), true};
    for (const auto& metric : attention->forward(input).metrics)
      if (metric.name.rfind("head_share_", 0) == 0)
        CHECK(metric.value == (metric.name == "head_share_" + std::to_string(head + 1) ? 100.0 : 0.0));
  }
}

TEST_CASE("adamra with one head at rate 1 is linear attention", "[adamra]") {
  const auto adamra = subject({{"1"}, 1, "elu+1"}).make(1);
  const AttentionSubject other(with_defaults(plain::plugin("linear"), {{"heads", 1}}), {});
  const auto linear = other.make(2);
  {
    torch::NoGradGuard no_grad;  // two projections in a row are one
    for (const std::string name : {"query", "key", "value"}) {
      const auto second = plain::parameter(*adamra, "head_" + name)[0].t();
      plain::parameter(*linear, name + ".weight").copy_(second.matmul(plain::parameter(*adamra, name + ".weight")));
      plain::parameter(*linear, name + ".bias").copy_(second.matmul(plain::parameter(*adamra, name + ".bias")));
    }
    for (const std::string name : {"output.weight", "output.bias"})
      plain::parameter(*linear, name).copy_(plain::parameter(*adamra, name));
  }
  const Pass pass{random_tokens(3, 13, 2), random_tokens(3, 13, 3), padding_mask({13, 5, 1}, 13)};
  CHECK(difference(run(*adamra, pass), run(*linear, pass)) < 1e-12);
}

TEST_CASE("the router has a gradient exactly where router_gradient gives it one", "[adamra]") {
  for (const std::string routing : {"learned", "random", "all"})
    for (const std::string gradient : {"scale", "straight-through", "none"}) {
      const auto attention = subject({.routing = routing, .router_gradient = gradient}).make(1);
      const bool exists = routing == "learned" || (routing == "all" && gradient == "scale");
      const bool trained = exists && gradient != "none";
      INFO(routing << ", " << gradient);
      REQUIRE(attention->named_parameters().contains("router") == exists);
      run(*attention, {random_tokens(2, 11, 2)}).sum().backward();
      if (!exists) continue;
      const auto router = plain::parameter(*attention, "router").grad();
      CHECK((router.defined() && router.abs().max().item<double>() > 1e-6) == trained);
    }
}

TEST_CASE("random routing: drawn in training, fixed in evaluation", "[adamra]") {
  const auto attention = subject({.routing = "random"}).make(1);
  const auto x = random_tokens(2, 40, 2);
  const auto pass = [&](std::uint64_t seed) { return attention->forward({x, x, {}, {}, make_generator(seed)}).output; };
  CHECK(difference(pass(1), pass(2)) == 0);
  attention->train();
  CHECK(difference(pass(1), pass(1)) == 0);
  CHECK(difference(pass(1), pass(2)) > 1e-3);
}

TEST_CASE("adamra measures shares and entropy over real tokens only", "[adamra]") {
  const auto attention = subject({}).make(1);
  const auto x = random_tokens(2, 10, 2);
  AttentionInput input{x, x, padding_mask({10, 3}, 10), {}, make_generator(1), true};
  const auto metrics = attention->forward(input).metrics;
  const auto real = torch::cat({x[0], x[1].narrow(0, 0, 3)});
  const auto p = plain::layer(*attention, "query", real).matmul(plain::parameter(*attention, "router")).softmax(-1);
  const auto counts = p.argmax(-1).bincount({}, 3);
  std::size_t shares = 0;
  for (const auto& metric : metrics) {
    INFO(metric.name);
    if (metric.name == "router_entropy") {
      CHECK(metric.value == Approx(-(p * p.log2()).sum(-1).mean().item<double>()));
      CHECK(metric.unit == "bit");
    } else {
      CHECK(metric.name == "head_share_" + std::to_string(++shares));
      CHECK(metric.value == Approx(100.0 * counts[shares - 1].item<double>() / 13));
      CHECK(metric.unit == "%");
    }
  }
  CHECK(shares == 3);
  CHECK(metrics.size() == 4);
}

TEST_CASE("adamra hands on_step to its compressions", "[adamra]") {
  // A compression that counts the calls, made through the context as a plugin's would be.
  struct Counting : Compression {
    explicit Counting(int& count) : count_(count) {}
    Memory write(const Tensor& keys, const Tensor& values, const Tensor&) override { return {keys, values, {}, {}}; }
    Tensor read(const Tensor& queries, const Memory&, Similarity) override { return queries; }
    void on_step(std::int64_t) override { ++count_; }
    int& count_;
  };
  static int calls = 0;
  static Descriptor counting = plain::plugin("segment-mean");
  counting.make_compression = [](const CompressionContext&) -> std::shared_ptr<Compression> {
    return std::make_shared<Counting>(calls);
  };
  for (const auto& [id, heads] : {std::pair{"adamra", 4}, std::pair{"compressed", 1}}) {
    calls = 0;
    AttentionSubject(with_defaults(plain::plugin(id)), with_defaults(counting)).make(1)->on_step(1);
    CHECK(calls == heads);
  }
}
