// Attentions side by side: equal parts equal one attention with all heads, and states, metrics and losses are passed on.
#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;
using nlohmann::json;

namespace {

json mixed(const std::vector<json>& parts, const json& shares = json::array({"1"})) {
  return section("mixed", {{"parts", parts}, {"shares", shares}});
}
json part(const std::string& plugin, json parameters = json::object()) {
  parameters["plugin"] = plugin;
  return parameters;
}

/// Copies the heads of one attention to the parts, one part after the other. `widths` has the width of each part.
void deal_out(const ablate::Attention& whole, ablate::Attention& parts, const std::vector<std::int64_t>& widths) {
  ablate::NoGradGuard no_grad;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const auto prefix = "part_" + std::to_string(i) + ".";
    for (const std::string name : {"query", "key", "value"})
      for (const std::string of : {".weight", ".bias"})
        parameter(parts, prefix + name + of).copy_(parameter(whole, name + of).narrow(0, first, widths[i]));
    parameter(parts, prefix + "output.weight").copy_(parameter(whole, "output.weight").narrow(1, first, widths[i]));
    // The parts' biases add up.
    const auto bias = parameter(parts, prefix + "output.bias");
    i == 0 ? bias.copy_(parameter(whole, "output.bias")) : bias.zero_();
    first += widths[i];
  }
}

/// Returns gradients of the parts' weights, joined as the weights of the whole, and the gradient of the tokens.
std::vector<Tensor> put_together(const ablate::Attention& parts, const Tensor& loss, const Tensor& x, std::size_t count) {
  const auto found = gradients(parts, loss, {x});
  const auto entries = parts.parameters();
  const auto of = [&](std::size_t i, const std::string& name) {
    for (std::size_t at = 0; at < entries.size(); ++at)
      if (entries[at].name == "part_" + std::to_string(i) + "." + name) return found[at];
    return Tensor();
  };
  std::vector<Tensor> all;
  for (const std::string name : {"query", "key", "value"})
    for (const std::string which : {".weight", ".bias"}) {
      std::vector<Tensor> pieces;
      for (std::size_t i = 0; i < count; ++i) pieces.push_back(of(i, name + which));
      all.push_back(ablate::cat(pieces));
    }
  std::vector<Tensor> pieces;
  for (std::size_t i = 0; i < count; ++i) pieces.push_back(of(i, "output.weight"));
  all.push_back(ablate::cat(pieces, 1));
  all.push_back(of(0, "output.bias"));
  all.push_back(found.back());
  return all;
}

/// Attention that returns its input, has three times the input's mean as auxiliary loss, sums its steps, and counts requests
/// for its state. find_probe() returns softmax's descriptor, with a factory of probes.
class Probe final : public ablate::Attention {
 public:
  explicit Probe(const ablate::AttentionContext& context)
      : carries_(context.carries), steps_(register_buffer("steps", ablate::zeros({}, ablate::kDouble))) {}

  static inline int states_made = 0;

 private:
  ablate::AttentionOutput do_forward(const ablate::AttentionInput& input) override {
    return {.output = input.queries, .state = input.state, .auxiliary_loss = (3 * input.queries).mean()};
  }
  ablate::AttentionState do_initial_state(std::int64_t batch) const override {
    ++states_made;
    if (!carries_) return {};
    return {ablate::zeros({batch, 1}, ablate::kDouble)};
  }
  void do_step(std::int64_t step, const ablate::Generator&) override { steps_.add_(static_cast<double>(step)); }

  bool carries_;
  Tensor steps_;
};
const ablate::Descriptor& find_probe(ablate::Kind, const std::string& id) {
  static const auto probe = [] {
    auto descriptor = plugin("softmax");
    descriptor.id = "probe";
    descriptor.capabilities.stateful = true;
    descriptor.make_attention = [](const ablate::AttentionContext& context) -> std::shared_ptr<ablate::Attention> {
      return std::make_shared<Probe>(context);
    };
    return descriptor;
  }();
  return id == "probe" ? probe : plugin(id);
}

ablate::Capabilities promised(const std::vector<json>& parts) {
  return ablate::promises_of(ablate::Kind::kAttention, ablate::plugin_from_json(mixed(parts)), find_plugin);
}

}  // namespace

TEST_CASE("equal parts equal one attention with the heads of all parts") {
  const auto mask = mask_of(9, {9, 4, 1});
  const auto weights = random_tokens(3, 9, 4).masked_fill(mask.logical_not().unsqueeze(-1), 0);
  struct Case {
    std::vector<json> parts;
    json shares;
    std::vector<std::int64_t> widths;
    std::int64_t heads;
  };
  for (const std::string plugin : {"softmax", "linear"})
    for (const bool causal : {false, true})
      for (const auto& [parts, shares, widths, heads] :
           {Case{{part(plugin, {{"heads", 1}}), part(plugin, {{"heads", 1}})}, {"1"}, {8, 8}, 2},
            Case{{part(plugin, {{"heads", 1}}), part(plugin, {{"heads", 3}})}, {"1/4", "3/4"}, {4, 12}, 4},
            Case{{part(plugin, {{"heads", 2}})}, {"1"}, {16}, 2}}) {
        INFO(plugin << ", causal " << causal << ", " << shares.dump());
        const auto side_by_side = make(mixed(parts, shares), 1, {.causal = causal});
        const auto whole = make(section(plugin, {{"heads", heads}}), 2, {.causal = causal});
        const auto x = random_tokens(3, 9, 3).requires_grad_();
        const auto output = [&](ablate::Attention& attention) { return run(attention, {x, {}, mask}); };
        CHECK(distance(output(*side_by_side), output(*whole)) > 1e-3);
        deal_out(*whole, *side_by_side, widths);
        CHECK(distance(output(*side_by_side) * weights, output(*whole) * weights) < 1e-12);
        const auto loss = [&](ablate::Attention& attention) { return (output(attention) * weights).sum(); };
        CHECK(distance(put_together(*side_by_side, loss(*side_by_side), x, widths.size()),
                       gradients(*whole, loss(*whole), {x})) < 1e-11);
      }
}

TEST_CASE("a mixture starts with the output scale of one attention with the same heads") {
  const auto one = part("softmax", {{"heads", 1}});
  const auto nested = part("mixed", {{"parts", {one, part("linear", {{"heads", 1}})}}});
  struct Case {
    std::vector<json> parts;
    json shares;
    std::size_t outputs;
  };
  for (const auto& [parts, shares, outputs] :
       {Case{{one, one}, {"1"}, 2}, Case{{one, part("linear", {{"heads", 3}})}, {"1/4", "3/4"}, 2},
        Case{{nested, one}, {"1/2", "1/2"}, 3}, Case{{one}, {"1"}, 1}}) {
    INFO(json(parts).dump() << shares.dump());
    const auto bound = 1 / std::sqrt(static_cast<double>(kChannels));
    double squares = 0;
    constexpr int kSeeds = 100;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const auto made = make(mixed(parts, shares), static_cast<std::uint64_t>(seed));
      auto bias = ablate::zeros({kChannels}, ablate::kDouble);
      std::size_t found = 0;
      for (const auto& [name, tensor, kept] : made->parameters()) {
        if (name.ends_with("output.bias")) bias = bias + tensor;
        if (!name.ends_with("output.weight")) continue;
        ++found;
        const auto largest = tensor.abs().max().item<double>();
        CHECK(largest < 1.0001 * bound);
        CHECK(largest > 0.7 * bound);
      }
      CHECK(found == outputs);
      squares += bias.square().mean().item<double>();
    }
    CHECK(squares / kSeeds == Approx(bound * bound / 3).epsilon(0.1));  // the variance of one bias, for any number of parts
  }
}

TEST_CASE("a part whose last layer has another name also starts with a smaller scale") {
  // Two parts with 16 inner channels each start like one layer with 32.
  const auto made = make(mixed({part("mamba2"), part("mamba2")}), 1, {.causal = true});
  const auto bound = 1 / std::sqrt(2.0 * kChannels);
  REQUIRE(made->output_projections().size() == 2);
  for (const auto& projection : made->output_projections()) {
    const auto largest = projection->weight.abs().max().item<double>();
    CHECK(largest < 1.0001 * bound);
    CHECK(largest > 0.9 * bound);
  }
}

TEST_CASE("parts of a mixture have separate states, metrics and steps") {
  const auto x = random_tokens(2, 12, 3);
  // The first and the last of three parts carry a state.
  const auto parts = {part("linear", {{"heads", 1}}), part("softmax", {{"heads", 2}}), part("linear", {{"heads", 2}})};
  const auto carrying = make(mixed(parts, {"1/4", "1/2", "1/4"}), 1, {.causal = true, .carries = true});
  const auto initial = carrying->initial_state(2);
  REQUIRE(initial.size() == 2);
  CHECK(initial[0].sizes() == ablate::IntArrayRef{2, 1, 4, 5});
  CHECK(initial[1].sizes() == ablate::IntArrayRef{2, 2, 2, 3});
  const auto first = pass(*carrying, {.queries = x.narrow(1, 0, 5), .state = initial});
  const auto second = pass(*carrying, {.queries = x.narrow(1, 5, 7), .state = first.state});
  const auto whole = pass(*carrying, {.queries = x, .state = initial});
  for (const std::size_t i : {0, 1}) CHECK(distance(second.state[i], whole.state[i]) < 1e-12);
  // The part without a state sees only the current segment. If all parts had states, the segments would equal the whole.
  CHECK(distance(second.output, whole.output.narrow(1, 5, 7)) > 1e-3);

  const auto over = [](const char* id) { return json{{"plugin", id}}; };
  const auto measured = make(
      mixed({part("softmax"), part("adamra", {{"compression", over("segment-mean")}}), part("linear")}, {"1/4", "1/2", "1/4"}));
  const auto plain = make(section("adamra", {{"compression", over("segment-mean")}}));
  const auto metrics = pass(*measured, {.queries = x, .measure = true}).metrics;
  const auto expected = pass(*plain, {.queries = x, .measure = true}).metrics;
  REQUIRE_FALSE(expected.empty());
  REQUIRE(metrics.size() == expected.size());
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    CHECK(metrics[i].name == "part_1_" + expected[i].name);
    CHECK(metrics[i].unit == expected[i].unit);
  }
}

TEST_CASE("parts' auxiliary losses add up, and every part takes a step") {
  const auto both = ablate::complete_section(
      plugin("mixed"), {{"parts", {part("probe"), part("probe"), part("softmax")}}, {"shares", {"1/4", "1/4", "1/2"}}},
      find_probe);
  const auto probed = make(both, 1, {}, find_probe);
  const auto x = random_tokens(2, 5, 3);
  CHECK(pass(*probed, {x}).auxiliary_loss.item<double>() == Approx(6 * x.mean().item<double>()));
  CHECK_FALSE(pass(*make(mixed({part("softmax")})), {x}).auxiliary_loss.defined());
  probed->on_step(1, ablate::make_generator(1));
  probed->on_step(2, ablate::make_generator(1));
  for (const char* name : {"part_0.steps", "part_1.steps"}) CHECK(buffer(*probed, name).item<double>() == 3);
}

TEST_CASE("a forward pass counts its states without making them") {
  const auto both = ablate::complete_section(
      plugin("mixed"),
      {{"parts", {part("probe"), part("linear", {{"heads", 1}}), part("probe")}}, {"shares", {"1/4", "1/4", "1/2"}}},
      find_probe);
  const auto carrying = make(both, 1, {.carries = true}, find_probe);
  auto state = carrying->initial_state(2);
  REQUIRE(state.size() == 3);
  const auto made = Probe::states_made;
  for (int segment = 0; segment < 3; ++segment)
    state = pass(*carrying, {.queries = random_tokens(2, 5, 3), .state = state}).state;
  CHECK(Probe::states_made == made);
  CHECK(state.size() == 3);
}

TEST_CASE("mixed has the promises that all its parts have, and the worst of their costs") {
  const auto compressed = part("compressed", {{"compression", {{"plugin", "clustering"}}}});
  CHECK(promised({part("linear"), part("linear")}).recurrent);
  CHECK(promised({part("linear"), part("softmax")}).stateful);
  CHECK_FALSE(promised({part("linear"), part("softmax")}).recurrent);
  CHECK_FALSE(promised({part("softmax"), part("softmax")}).stateful);
  CHECK(promised({part("linear"), part("softmax")}).causal);
  CHECK_FALSE(promised({part("linear"), compressed}).causal);
  CHECK(promised({part("linear"), compressed}).time_exponent == 2);
  CHECK(promised({part("linear"), part("linear")}).time_exponent == 1);
  CHECK(promised({part("linear"), part("softmax")}).half_precision);
  CHECK_FALSE(promised({part("linear"), part("retention", {{"norm", false}})}).half_precision);
  CHECK(promised({part("mixed", {{"parts", {part("softmax")}}}), part("softmax")}).causal);
  CHECK(promised({part("linear"), part("local")}).rotary);
  CHECK_FALSE(promised({part("linear"), compressed}).rotary);
  CHECK_THROWS_WITH(make(mixed({part("linear"), compressed}), 1, {.causal = true}),
                    Catch::Matchers::Contains("attention mixed does not promise causal attention"));
}

TEST_CASE("rotary positions allow only attentions that rotate queries and keys and have no own positions") {
  const auto at = [](const json& section, ablate::Positions positions) {
    return make(section, 1, {.causal = true, .positions = positions});
  };
  const auto x = random_tokens(2, 9, 3);
  for (const auto& turned :
       {section("softmax"), section("linear"), section("local"), mixed({part("softmax"), part("linear")})}) {
    INFO(turned.dump());
    CHECK(distance(run(*at(turned, ablate::Positions::kRotary), {x}), run(*at(turned, ablate::Positions::kNone), {x})) > 1e-3);
  }
  const auto compressed = section("compressed", {{"compression", {{"plugin", "segment-mean"}}}});
  for (const auto& other : {section("transformer-xl"), compressed, mixed({part("transformer-xl"), part("softmax")})}) {
    INFO(other.dump());
    CHECK_THROWS_WITH(at(other, ablate::Positions::kRotary), Catch::Matchers::Contains("does not promise rotary positions"));
    CHECK_NOTHROW(at(other, ablate::Positions::kNone));
  }
  CHECK_THROWS_WITH(
      make(section("adamra", {{"compression", {{"plugin", "segment-mean"}}}}), 1, {.positions = ablate::Positions::kRotary}),
      Catch::Matchers::Contains("attention adamra does not promise rotary positions"));
}

TEST_CASE("shares that do not fit are refused by name") {
  const auto two = {part("softmax", {{"heads", 1}}), part("linear", {{"heads", 1}})};
  const auto fault = [&](const json& shares) { return mixed(two, shares); };
  CHECK_THROWS_WITH(make(fault({"1/2", "1/4", "1/4"})),
                    Catch::Matchers::Contains("shares = 3 entries, expected one for each of 2 parts"));
  CHECK_THROWS_WITH(make(fault({"1/2", "1/4"})), Catch::Matchers::Contains("shares = numbers that add up to 3/4, expected 1"));
  CHECK_THROWS_WITH(make(fault({"1/3", "2/3"})), Catch::Matchers::Contains("shares = 1/3 of 16 channels is 5.33"));
  CHECK_THROWS_WITH(make(mixed({part("softmax", {{"heads", 1}}), part("softmax", {{"heads", 3}})})),
                    Catch::Matchers::Contains("heads = 3 does not divide the part's width = 8"));
  CHECK_NOTHROW(make(fault({"1/4", "3/4"})));
}
