// Methods against fla-core's naive forms and transformers' modules, in values and gradients. tests/peers/methods.py lists the
// methods of both libraries and makes the numbers of this test.
#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/db/draws.h"
#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kTokens = 6;

struct Method {
  std::string name, plugin;
  nlohmann::json options;
  std::int64_t width = 4;
  bool turned = false;  ///< queries and keys are rotated by position
};

/// Returns options of `delta` with values wider than keys. If `normed`, also with a norm and a convolution.
nlohmann::json delta(nlohmann::json options, bool normed) {
  options["value_width"] = 1.5;
  options["norm"] = normed;
  options["convolution"] = normed ? 2 : 0;
  return options;
}

nlohmann::json gated_pool(const char* rate, bool overlap) {
  return {{"rate", rate}, {"compression", {{"plugin", "gated-pool"}, {"overlap", overlap}}}};
}

// The methods are in the fixture's order, because the order determines the draws.
const std::vector<Method> kMethods = {
    {"forget gate", "softmax", {{"forget_gate", true}}},
    {"forget gate over one head of keys", "softmax", {{"forget_gate", true}, {"key_value_heads", 1}}},
    {"forget gate with a sink", "softmax", {{"forget_gate", true}, {"sink", true}}},
    {"sink", "softmax", {{"sink", true}}},
    {"grouped", "softmax", {{"heads", 4}, {"key_value_heads", 2}}, 8},
    {"KDA", "delta", delta({{"decay", "channel"}, {"gate", true}}, true)},
    {"KDA without norm", "delta", delta({{"decay", "channel"}}, false)},
    {"GDN-2", "delta", delta({{"decay", "channel"}, {"erase", "channel"}, {"write", "channel"}, {"gate", true}}, true)},
    {"GDN-2 without norm", "delta",
     delta({{"decay", "channel"}, {"erase", "channel"}, {"write", "channel"}, {"negative_eigenvalues", true}}, false)},
    {"DeltaProduct", "delta", delta({{"householder_steps", 3}, {"negative_eigenvalues", true}}, true)},
    {"gated DeltaProduct without norm", "delta",
     delta({{"householder_steps", 2}, {"decay", "learned"}, {"gate", true}}, false)},
    {"DeltaNet", "delta", delta({}, true)},
    {"Gated DeltaNet without norm", "delta", delta({{"decay", "learned"}, {"gate", true}}, false)},
    {"retention", "retention", {{"value_width", 1.5}}, 8},
    {"retention without rotation or norm",
     "retention",
     {{"value_width", 1.5}, {"rotation", false}, {"norm", false}, {"gate", false}}},
    {"gated linear", "gated-linear", {{"key_width", 1}, {"value_width", 1.5}, {"rank", 3}}},
    {"gated linear without norm",
     "gated-linear",
     {{"key_width", 1}, {"value_width", 1.5}, {"rank", 3}, {"norm", false}, {"gate", false}}},
    {"linear", "linear", {}},
    {"Mamba-2", "mamba2", {{"state", 3}, {"convolution", 3}}},
    {"Based", "based", {{"feature_channels", 3}}},
    {"native sparse", "native-sparse", {{"block", 1}, {"top", 4}, {"window", 2}}},
    {"native sparse by twos", "native-sparse", {{"block", 2}, {"top", 3}, {"window", 3}}},
    {"latent", "softmax", {{"latent", 2}}},
    {"latent with rotation", "softmax", {{"latent", 6}}, 16, true},
    {"gated", "softmax", {{"gate", true}}},
    {"gated with norm and rotation over one head of keys",
     "softmax",
     {{"gate", true}, {"qk_norm", true}, {"key_value_heads", 1}},
     8,
     true},
    {"gated pool", "compressed", gated_pool("1/2", false)},
    {"gated pool by threes", "compressed", gated_pool("1/3", false), 8},
    {"gated pool with overlap", "compressed", gated_pool("1/2", true), 8},
};

/// Line of the fixture: an input or a parameter with its gradient, the output, or the output of another convention.
struct Line {
  std::string method, name;
  std::vector<double> values;
};

std::vector<Line> fixture() {
  std::ifstream in(ABLATE_SOURCE_DIR "/tests/plugins/methods.csv");
  std::string line;
  std::getline(in, line), std::getline(in, line);  // origin of the file, and its heading
  std::vector<Line> lines;
  while (std::getline(in, line)) {
    auto& one = lines.emplace_back();
    std::istringstream fields(line);
    std::getline(fields, one.method, ','), std::getline(fields, one.name, ',');
    for (double value = 0; fields >> value;) one.values.push_back(value);
  }
  return lines;
}

Tensor numbers(const std::vector<double>& values) {
  auto result = ablate::empty({static_cast<std::int64_t>(values.size())}, ablate::kDouble);
  std::copy(values.begin(), values.end(), result.mutable_data_ptr<double>());
  return result;
}

/// Returns the largest difference. For expected numbers above 1 it is the relative difference.
double off(const Tensor& found, const std::vector<double>& expected) {
  const auto flat = found.detach().contiguous().flatten();
  REQUIRE(static_cast<std::size_t>(flat.numel()) == expected.size());
  const auto right = numbers(expected);
  return ((flat - right).abs() / right.abs().clamp_min(1)).max().item<double>();
}

/// Draws as draws.py does: from -1 to 1.
Tensor drawn(ablate::db::Draws& draws, const Tensor& like) {
  return 2 * numbers(draws.values(static_cast<std::uint64_t>(like.numel()), 0)).view(like.sizes()) - 1;
}

}  // namespace

TEST_CASE("methods have values and gradients of fla-core's naive forms or transformers' modules, not of other conventions") {
  const auto lines = fixture();
  auto line = lines.begin();
  for (std::size_t i = 0; i < kMethods.size(); ++i) {
    const auto& method = kMethods[i];
    INFO(method.name);
    const auto attention = make(section(method.plugin, method.options), 1,
                                {.d_model = method.width,
                                 .causal = true,
                                 .positions = method.turned ? ablate::Positions::kRotary : ablate::Positions::kNone});
    ablate::db::Draws draws(i + 1);
    const auto shape = ablate::zeros({1, kTokens, method.width}, ablate::kDouble);
    const auto seen = drawn(draws, shape), x = drawn(draws, shape).requires_grad_();
    std::map<std::string, std::vector<double>> expected, wrong;
    for (; line != lines.end() && line->method == method.name; ++line) {
      auto& kind = line->name.rfind("wrong: ", 0) == 0 ? wrong : expected;
      kind[line->name] = line->values;
      if (const auto of = parameter(*attention, line->name); of.defined()) {
        const ablate::NoGradGuard none;
        of.copy_(drawn(draws, of));
      }
    }
    const auto parameters = attention->parameters();
    REQUIRE(expected.size() == parameters.size() + 2);
    REQUIRE_FALSE(wrong.empty());
    const auto output = run(*attention, {x});
    CHECK(off(output, expected.at("output")) < 1e-10);
    for (const auto& [name, values] : wrong) {
      INFO(name);
      CHECK(off(output, values) > 1e-3);
    }
    const auto found = gradients(*attention, (output * seen).sum(), {x});
    CHECK(off(found.back(), expected.at("x")) < 1e-10);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      INFO(parameters[p].name);
      CHECK(off(found[p], expected.at(parameters[p].name)) < 1e-10);
    }
  }
  CHECK((line == lines.end()));
}
