// Divergence of a mixture's heads: known distributions, and a real mixture against plain sums over its weights.
#include "ablate/headwise.h"
#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;
using nlohmann::json;

namespace {

/// Attention in which token i of head h attends to token i - (`first` + h), counted in a circle.
class Looking final : public ablate::HeadwiseAttention {
 public:
  Looking(const ablate::AttentionContext& context, std::int64_t first)
      : HeadwiseAttention(context, context.parameters.integer("heads")), first_(first) {}

 private:
  ablate::HeadOutput attend(const ablate::HeadInput& input) override {
    std::vector<Tensor> values;
    for (std::int64_t h = 0; h < heads(); ++h) values.push_back(input.v.select(1, h).roll(first_ + h, 1));
    return {.values = ablate::stack(values, 1)};
  }
  std::int64_t first_;
};

/// Returns softmax's descriptor, with a factory of Looking attentions whose `first` is 0 (near) or 2 (far).
const ablate::Descriptor& find_looking(ablate::Kind, const std::string& id) {
  const auto looking = []<std::int64_t first>(const char* name) {
    auto descriptor = plugin("softmax");
    descriptor.id = name;
    descriptor.make_attention = [](const ablate::AttentionContext& context) -> std::shared_ptr<ablate::Attention> {
      return std::make_shared<Looking>(context, first);
    };
    return descriptor;
  };
  static const auto near = looking.operator()<0>("near"), far = looking.operator()<2>("far");
  return id == "near" ? near : id == "far" ? far : plugin(id);
}

json mixed(const std::vector<json>& parts, std::int64_t examples = 64) {
  return ablate::complete_section(plugin("mixed"), {{"parts", parts}, {"divergence_examples", examples}}, find_looking);
}
json part(const std::string& plugin, std::int64_t heads) { return {{"plugin", plugin}, {"heads", heads}}; }

std::map<std::string, double> divergences(ablate::Attention& attention, const Pass& given) {
  auto measured = given;
  measured.measure = true;
  std::map<std::string, double> found;
  for (const auto& metric : pass(attention, measured).metrics)
    if (metric.name.starts_with("divergence_")) {
      CHECK(metric.unit == "nat");
      found[metric.name] = metric.value;
    }
  return found;
}

/// Returns one item's weights, [heads, n, n].
Tensor local_weights(const ablate::Attention& attention, const Tensor& x, std::int64_t window) {
  const auto q = by_head(layer(attention, "part_0.query", x), 2), k = by_head(layer(attention, "part_0.key", x), 2);
  const auto seen = pairs(x.size(0), [&](std::int64_t i, std::int64_t j) { return j <= i && j / window >= i / window - 1; });
  return read_seen(q.matmul(k.transpose(1, 2)) / std::sqrt(static_cast<double>(q.size(2))),
                   ablate::arange(x.size(0)).unsqueeze(1).eq(ablate::arange(x.size(0))).to(ablate::kDouble), seen);
}
/// Returns one item's weights. The window is the whole sequence, so no token of a cluster is left out.
Tensor routing_weights(const ablate::Attention& attention, const Tensor& x) {
  auto q = by_head(layer(attention, "part_1.query", x), 2);
  q = q - q.mean(-1, true);
  q = q / (q.square().mean(-1, true) + 1e-5).sqrt();
  const auto nearest = buffer(attention, "part_1.centroids").to(ablate::kDouble).matmul(q.transpose(1, 2)).argmax(1);
  std::vector<Tensor> seen;
  for (std::int64_t h = 0; h < 2; ++h)
    seen.push_back(pairs(x.size(0), [&](std::int64_t i, std::int64_t j) {
      return j <= i && nearest[h][i].item<std::int64_t>() == nearest[h][j].item<std::int64_t>();
    }));
  return read_seen(q.matmul(q.transpose(1, 2)) / std::sqrt(static_cast<double>(q.size(2))),
                   ablate::arange(x.size(0)).unsqueeze(1).eq(ablate::arange(x.size(0))).to(ablate::kDouble),
                   ablate::stack(seen));
}

/// Returns (KL(a | m) + KL(b | m)) / 2, m = (a + b) / 2, number by number. The caller averages over rows.
double of_row(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::int64_t j = 0; j < a.size(0); ++j) {
    const auto p = a[j].item<double>(), q = b[j].item<double>(), m = (p + q) / 2;
    if (p > 0) sum += p * std::log(p / m) / 2;
    if (q > 0) sum += q * std::log(q / m) / 2;
  }
  return sum;
}

}  // namespace

TEST_CASE("heads that look at different tokens diverge by ln 2, heads that look at the same tokens by 0") {
  const auto x = random_tokens(2, 11, 3);
  const auto of = [&](const std::vector<json>& parts) {
    return divergences(*make(mixed(parts), 1, {.layer = 1}, find_looking), {x});
  };
  const auto most = std::log(2.0);
  const auto other = of({part("near", 2), part("far", 2)});
  CHECK(other.size() == 6);
  for (const std::string name : {"divergence_0_0", "divergence_0_1", "divergence_1_1", "divergence_0_1_layer_2"})
    CHECK(other.at(name) == Approx(most).epsilon(1e-12));
  // In two of four pairs, both heads look at the same token.
  CHECK(of({part("near", 2), part("near", 2)}).at("divergence_0_1") == Approx(most / 2));
  const auto same = of({part("near", 1), part("near", 1)});
  CHECK(same.size() == 2);  // each part has one head, so no pair of heads is within a part
  CHECK(same.at("divergence_0_1") == Approx(0).margin(1e-12));
}

TEST_CASE("divergences of local and routing heads equal plain sums, causal and padded") {
  constexpr std::int64_t kWindow = 3;
  const auto local = json{{"plugin", "local"}, {"heads", 2}, {"window", kWindow}},
             routing = json{{"plugin", "routing"}, {"heads", 2}, {"clusters", 3}, {"window", kMaxLength}};
  const auto attention = make(mixed({local, routing}), 1, {.causal = true}, find_looking);
  const auto x = random_tokens(3, 13, 3);
  const std::vector<std::int64_t> lengths = {13, 5, 0};
  const auto found = divergences(*attention, {x, {}, mask_of(13, lengths)});
  std::map<std::pair<int, int>, std::pair<double, double>> expected;
  for (std::int64_t item = 0; item < 3; ++item) {
    const auto n = lengths[static_cast<std::size_t>(item)];
    if (n == 0) continue;
    const auto own = x[item].narrow(0, 0, n);
    const Tensor weights[] = {local_weights(*attention, own, kWindow), routing_weights(*attention, own)};
    for (int a = 0; a < 4; ++a)
      for (int b = a + 1; b < 4; ++b)
        for (std::int64_t i = 0; i < n; ++i) {
          auto& [sum, rows] = expected[{a / 2, b / 2}];
          sum += of_row(weights[a / 2][a % 2][i], weights[b / 2][b % 2][i]);
          ++rows;
        }
  }
  REQUIRE(found.size() == 6);
  for (const auto& [parts, sum] : expected) {
    const auto name = "divergence_" + std::to_string(parts.first) + "_" + std::to_string(parts.second);
    INFO(name);
    CHECK(found.at(name) == Approx(sum.first / sum.second).epsilon(1e-10));
    CHECK(found.at(name) > 1e-3);
    CHECK(found.at(name) < std::log(2.0));
    CHECK(found.at(name + "_layer_1") == found.at(name));
  }
}

TEST_CASE("comparing heads changes nothing else, and uses the first examples of a batch") {
  const std::vector<json> parts = {part("softmax", 2), part("linear", 1)};
  const auto plain = make(mixed(parts, 0)), asked = make(mixed(parts, 1));
  const auto x = random_tokens(3, 9, 3);
  CHECK(plain->parameters().size() == asked->parameters().size());
  for (const auto& entry : plain->parameters()) CHECK(distance(parameter(*asked, entry.name), entry.tensor) == 0);
  const auto before = run(*plain, {x});
  CHECK(divergences(*plain, {x}).empty());
  const auto of_first = divergences(*asked, {x});
  REQUIRE(of_first.size() == 4);
  CHECK(distance(run(*asked, {x}), before) == 0);
  for (const auto& entry : plain->parameters()) CHECK(distance(parameter(*asked, entry.name), entry.tensor) == 0);
  CHECK(divergences(*asked, {x.narrow(0, 0, 1)}) == of_first);
  CHECK(divergences(*asked, {x.narrow(0, 1, 1)}) != of_first);
}

TEST_CASE("a part without weights is refused if weights are to be compared") {
  const json adamra = {{"plugin", "adamra"}, {"compression", {{"plugin", "segment-mean"}}}};
  CHECK_NOTHROW(make(mixed({part("softmax", 2), adamra}, 0)));
  CHECK_THROWS_WITH(
      make(mixed({part("softmax", 2), adamra}, 2)),
      "divergence_examples = 2 compares heads, and parts.1 has no attention weights: its heads' outputs are not weighted "
      "averages of their values");
  CHECK_THROWS_WITH(
      make(mixed({mixed({part("softmax", 1)}, 0), part("softmax", 2)}, 2)),
      "divergence_examples = 2 compares heads, and parts.0 has no attention weights: its heads' outputs are not weighted "
      "averages of their values");
}
