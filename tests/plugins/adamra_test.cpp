// AdaMRA against Eq. 6 to 9, written one query, head and subhead at a time over segment means.
#include "core/util/rate_text.h"
#include "tests/plugins/attention.h"
#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Rate;
using ablate::Tensor;

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
            {"router_gradient", router_gradient},
            {"compression", {{"plugin", "segment-mean"}}}};
  }
};

std::shared_ptr<ablate::Attention> adamra_of(const Setting& setting, std::uint64_t seed = 1) {
  return ablate::test::make(section("adamra", setting.json()), seed);
}

// Returns the mean of each segment's tokens, [slots, d], from x [n, d].
Tensor segment_means(const Tensor& x, Rate rate, Tensor& counts) {
  std::vector<Tensor> means;
  std::vector<std::int64_t> sizes;
  for (std::int64_t slot = 0; slot < rate.slots(x.size(0)); ++slot) {
    Tensor sum = ablate::zeros_like(x[0]);
    std::int64_t size = 0;
    for (std::int64_t i = 0; i < x.size(0); ++i)
      if (rate.slot_of(i) == slot) {
        sum = sum + x[i];
        ++size;
      }
    means.push_back(sum / std::max<std::int64_t>(size, 1));  // at rate 2/3, 11 tokens have 8 slots; the last is empty
    sizes.push_back(size);
  }
  counts = ablate::integers(sizes).to(ablate::kDouble);
  return ablate::stack(means);
}

// Computes one item, [n, d_model], by the equations. `drawn` [n] has each query's head if routing = random.
Tensor equations(const ablate::Attention& a, const Setting& s, const Tensor& queries, const Tensor& context,
                 const Tensor& drawn) {
  const auto q = layer(a, "query", queries), k = layer(a, "key", context), v = layer(a, "value", context);
  const auto d = q.size(1), size = d / s.subheads;
  const auto heads = static_cast<std::int64_t>(s.rates.size());
  const bool routed = s.routing == "learned" || (s.routing == "all" && s.router_gradient == "scale");
  const auto p = routed ? q.matmul(parameter(a, "router")).softmax(-1) : Tensor();  // Eq. 6
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < q.size(0); ++i) rows.push_back(ablate::zeros({d}, ablate::kDouble));
  for (std::int64_t h = 0; h < heads; ++h) {
    Tensor counts;
    const auto rate = ablate::parse_rate(s.rates[h]).value();
    const auto keys = segment_means(k, rate, counts).matmul(parameter(a, "head_key")[h]);
    const auto values = segment_means(v, rate, counts).matmul(parameter(a, "head_value")[h]);
    const auto of_head = q.matmul(parameter(a, "head_query")[h]);
    for (std::int64_t i = 0; i < q.size(0); ++i) {
      if (s.routing == "learned" && p[i].argmax().item<std::int64_t>() != h) continue;
      if (s.routing == "random" && drawn[i].item<std::int64_t>() != h) continue;
      std::vector<Tensor> parts;
      for (std::int64_t j = 0; j < s.subheads; ++j)  // Eq. 9
        parts.push_back(ablate::test::read(s.feature_map, of_head[i].narrow(0, j * size, size), keys.narrow(1, j * size, size),
                                           values.narrow(1, j * size, size), counts));
      auto y = ablate::cat(parts);
      if (routed && s.router_gradient == "scale") y = y * p[i][h];
      if (s.routing == "learned" && s.router_gradient == "straight-through") y = y * (1 + p[i][h] - p[i][h].detach());
      rows[i] = rows[i] + y;  // Eq. 8
    }
  }
  return layer(a, "output", ablate::stack(rows));
}

const std::vector<std::int64_t> kLengths = {11, 6, 1};

// Compares outputs and gradients of a padded batch, self- or cross-attention, with the equations.
double off(ablate::Attention& a, const Setting& s, bool cross) {
  const auto x = random_tokens(3, 11, 2).requires_grad_(), queries = cross ? random_tokens(3, 7, 3).requires_grad_() : x;
  const auto mask = mask_of(11, kLengths);
  const auto output = run(a, {queries, x, mask});
  const auto fixed = buffer(a, "random_heads");
  const auto drawn = !fixed.defined()  ? Tensor()
                     : a.is_training() ? ablate::randint(static_cast<std::int64_t>(s.rates.size()), {3, queries.size(1)},
                                                         ablate::make_generator(17))
                                       : fixed.expand({3, -1});
  double worst = 0;
  Tensor loss = ablate::zeros({}, ablate::kDouble), expected_loss = loss;
  for (std::size_t i = 0; i < kLengths.size(); ++i) {
    const auto item = static_cast<std::int64_t>(i);
    const auto context = x[item].narrow(0, 0, kLengths[i]);
    const auto expected = equations(a, s, cross ? queries[item] : context, context, drawn.defined() ? drawn[item] : drawn);
    const auto found = output[item].narrow(0, 0, expected.size(0));
    worst = std::max(worst, distance(found, expected));
    const auto weights = random_tokens(1, expected.size(0), 31 + i)[0];
    loss = loss + (found * weights).sum();
    expected_loss = expected_loss + (expected * weights).sum();
  }
  const auto inputs = cross ? std::vector<Tensor>{x, queries} : std::vector<Tensor>{x};
  return std::max(worst, distance(gradients(a, loss, inputs), gradients(a, expected_loss, inputs)));
}

}  // namespace

TEST_CASE("adamra equals Eq. 6 to 9, with gradients, for every routing of queries", "[adamra]") {
  for (const std::string routing : {"learned", "random", "all"})
    for (const std::string gradient : {"scale", "straight-through", "none"})
      for (const bool cross : {false, true}) {
        const Setting setting{.routing = routing, .router_gradient = gradient};
        const auto attention = adamra_of(setting);
        INFO("routing " << routing << ", router_gradient " << gradient << ", cross " << cross);
        CHECK(off(*attention, setting, cross) < 1e-11);
        attention->train();
        CHECK(off(*attention, setting, cross) < 1e-11);
      }
}

TEST_CASE("adamra equals Eq. 6 to 9 for every feature map, rates and subheads", "[adamra]") {
  for (const std::string map : {"relu", "elu+1", "softmax"})
    for (const auto& rates : std::vector<std::vector<std::string>>{{"1"}, {"1/16"}, {"2/3", "1/8"}, {"1/4", "1/4", "1/4"}})
      for (const std::int64_t subheads : {1, 4}) {
        const Setting setting{rates, subheads, map};
        INFO(setting.json().dump());
        CHECK(off(*adamra_of(setting, 3), setting, false) < 1e-11);
      }
}

TEST_CASE("adamra: all queries in one head, and the other heads empty", "[adamra]") {
  const Setting setting;
  const auto attention = adamra_of(setting);
  for (std::int64_t head = 0; head < 3; ++head) {
    {
      ablate::NoGradGuard no_grad;
      parameter(*attention, "query.weight").mul_(0.01);
      parameter(*attention, "query.bias").fill_(1);
      parameter(*attention, "router").zero_().select(1, head).fill_(0.1);
    }
    INFO("head " << head + 1);
    CHECK(off(*attention, setting, false) < 1e-11);
    const auto x = random_tokens(2, 11, 2);
    for (const auto& metric : pass(*attention, {.queries = x, .measure = true}).metrics)
      if (metric.name.rfind("head_share_", 0) == 0)
        CHECK(metric.value == (metric.name.starts_with("head_share_" + std::to_string(head + 1)) ? 100.0 : 0.0));
  }
}

TEST_CASE("adamra with one head at rate 1 equals linear attention", "[adamra]") {
  const auto adamra = adamra_of({{"1"}, 1, "elu+1"});
  const auto linear = ablate::test::make(section("linear", {{"heads", 1}}), 2);
  {
    ablate::NoGradGuard no_grad;  // two projections, one after the other, equal a single projection
    for (const std::string name : {"query", "key", "value"}) {
      const auto second = parameter(*adamra, "head_" + name)[0].t();
      parameter(*linear, name + ".weight").copy_(second.matmul(parameter(*adamra, name + ".weight")));
      parameter(*linear, name + ".bias").copy_(second.matmul(parameter(*adamra, name + ".bias")));
    }
    for (const std::string name : {"output.weight", "output.bias"}) parameter(*linear, name).copy_(parameter(*adamra, name));
  }
  const Pass given{random_tokens(3, 13, 2), random_tokens(3, 13, 3), mask_of(13, {13, 5, 1})};
  CHECK(distance(run(*adamra, given), run(*linear, given)) < 1e-12);
}

TEST_CASE("adamra: a memory without keys is written from each head's own projections", "[adamra]") {
  const auto attention = ablate::test::make(section(
      "adamra",
      {{"rates", {"1/2"}}, {"subheads", 2}, {"router_gradient", "none"}, {"compression", {{"plugin", "random-features"}}}}));
  const auto compression = ablate::test::make(section("random-features"), {{1, 2}}, 2, kChannels / 2, kMaxLength);
  for (auto& entry : compression->buffers()) entry.tensor.copy_(buffer(*attention, "compression_1." + entry.name));
  const auto x = random_tokens(2, 11, 2);
  const auto by_subhead = [](const Tensor& of) { return of.unflatten(-1, {2, -1}).transpose(1, 2); };
  const auto projected = [&](const std::string& name) {
    return by_subhead(layer(*attention, name, x).matmul(parameter(*attention, "head_" + name)[0]));
  };
  const auto expected = [&](const Tensor& keys) {
    const auto memory = write(*compression, keys, projected("value"));
    const auto read = ablate::test::read(*compression, projected("query"), memory);
    return layer(*attention, "output", read.transpose(1, 2).flatten(2));
  };
  CHECK(distance(run(*attention, {x}), expected(projected("key"))) < 1e-12);
  CHECK(distance(run(*attention, {x}), expected(by_subhead(layer(*attention, "key", x)))) > 1e-3);
}

TEST_CASE("the cost of adamra is the cost of its compression and its read", "[adamra]") {
  const auto promised = [](const std::string& compression, const std::string& map) {
    return promised_by(section("adamra", {{"feature_map", map}, {"compression", {{"plugin", compression}}}}));
  };
  CHECK(promised("segment-mean", "relu").time_exponent == 1);
  CHECK(promised("segment-mean", "softmax").time_exponent == 2);
  CHECK(promised("segment-mean", "softmax").memory_exponent == 1);
  CHECK(promised("clustering", "relu").time_exponent == 2);
  CHECK(promised("projection", "relu").memory_exponent == 2);
}

TEST_CASE("the router has a gradient only if its settings provide one", "[adamra]") {
  for (const std::string routing : {"learned", "random", "all"})
    for (const std::string gradient : {"scale", "straight-through", "none"}) {
      const auto attention = adamra_of({.routing = routing, .router_gradient = gradient});
      const bool exists = routing == "learned" || (routing == "all" && gradient == "scale");
      const bool trained = exists && gradient != "none";
      INFO(routing << ", " << gradient);
      REQUIRE(parameter(*attention, "router").defined() == exists);
      run(*attention, {random_tokens(2, 11, 2)}).sum().backward();
      if (!exists) continue;
      const auto router = parameter(*attention, "router").grad();
      CHECK((router.defined() && router.abs().max().item<double>() > 1e-6) == trained);
    }
}

TEST_CASE("random routing is drawn in training and fixed in evaluation", "[adamra]") {
  const auto attention = adamra_of({.routing = "random"});
  const auto x = random_tokens(2, 40, 2);
  const auto seeded = [&](std::uint64_t seed) { return run(*attention, {.queries = x, .seed = seed}); };
  CHECK(distance(seeded(1), seeded(2)) == 0);
  attention->train();
  CHECK(distance(seeded(1), seeded(1)) == 0);
  CHECK(distance(seeded(1), seeded(2)) > 1e-3);
}

TEST_CASE("adamra measures shares and entropy only over real tokens", "[adamra]") {
  const auto attention = adamra_of(Setting{});
  const auto x = random_tokens(2, 10, 2);
  const auto metrics = pass(*attention, {.queries = x, .mask = mask_of(10, {10, 3}), .measure = true}).metrics;
  const auto real = ablate::cat({x[0], x[1].narrow(0, 0, 3)});
  const auto p = layer(*attention, "query", real).matmul(parameter(*attention, "router")).softmax(-1);
  const auto chosen = p.argmax(-1);
  // Quarters of 10 tokens are 0-2, 3-4, 5-7 and 8-9. Item 2 has three tokens, in quarters 1, 2 and 3.
  const int quarter[] = {1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 1, 2, 3};
  std::map<std::string, double> expected;
  for (std::int64_t h = 1; h <= 3; ++h) {
    const auto name = "head_share_" + std::to_string(h);
    double all = 0, in[5] = {}, of[5] = {};
    for (std::int64_t i = 0; i < 13; ++i) {
      const bool here = chosen[i].item<std::int64_t>() == h - 1;
      all += here, in[quarter[i]] += here, ++of[quarter[i]];
    }
    expected[name] = 100 * all / 13;
    for (int q = 1; q <= 4; ++q) expected[name + "_quarter_" + std::to_string(q)] = 100 * in[q] / of[q];
  }
  expected["router_entropy"] = -(p * p.log2()).sum(-1).mean().item<double>();
  CHECK(metrics.size() == expected.size());
  for (const auto& metric : metrics) {
    INFO(metric.name);
    CHECK(metric.value == Approx(expected.at(metric.name)));
    CHECK(metric.unit == (metric.name == "router_entropy" ? "bit" : "%"));
  }
  // A quarter without a token has no shares.
  for (const auto& metric : pass(*attention, {.queries = x.narrow(1, 0, 1), .measure = true}).metrics)
    CHECK((metric.name.find("_quarter_") == std::string::npos || metric.name.ends_with("_quarter_1")));
}

TEST_CASE("adamra calls on_step of its compressions", "[adamra]") {
  struct Counting : ablate::Compression {
    explicit Counting(const ablate::CompressionContext& context) : Compression(context) {}
    ablate::Memory do_write(const ablate::WriteInput&) override { return {}; }
    ablate::ReadOutput do_read(const ablate::ReadInput&) override { return {}; }
    void do_step(std::int64_t, const ablate::Generator&) override { ++calls(); }
    static int& calls() {
      static int count = 0;
      return count;
    }
  };
  static ablate::Descriptor counting = plugin("segment-mean");
  counting.make_compression = [](const ablate::CompressionContext& context) -> std::shared_ptr<ablate::Compression> {
    return std::make_shared<Counting>(context);
  };
  const auto find = [](ablate::Kind kind, const std::string& id) -> const ablate::Descriptor& {
    return kind == ablate::Kind::kCompression ? counting : plugin(id);
  };
  for (const auto& [id, heads] : {std::pair{"adamra", 4}, std::pair{"compressed", 1}}) {
    Counting::calls() = 0;
    const auto attention = ablate::test::make(section(id, {{"compression", {{"plugin", "segment-mean"}}}}), 1, {}, find);
    attention->on_step(1, ablate::make_generator(1));
    CHECK(Counting::calls() == heads);
  }
}
