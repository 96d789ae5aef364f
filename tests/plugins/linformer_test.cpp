// Linformer against its plain equation, and against a fault in public code: a projection shared by accident.
#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2, kSlots = 5, kLength = 13;

std::shared_ptr<ablate::Attention> linformer(const nlohmann::json& parameters, std::int64_t length = kLength) {
  auto all = parameters;
  all["heads"] = kHeads;
  if (!all.contains("slots")) all["slots"] = kSlots;
  return make(section("linformer", all), 1, {.max_length = length, .train_length = length});
}

/// Computes one item, head by head: softmax(Q (E^T K)^T / sqrt(d)) F^T V. `e` and `f` have a matrix [n, k] for each head.
Tensor expected(const ablate::Attention& attention, const Tensor& queries, const Tensor& context, const std::vector<Tensor>& e,
                const std::vector<Tensor>& f) {
  const auto q = layer(attention, "query", queries), k = layer(attention, "key", context),
             v = layer(attention, "value", context);
  const auto d = q.size(1) / kHeads;
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) {
    const auto of = [&](const Tensor& x) { return x.narrow(1, h * d, d); };
    const auto keys = e[h].t().matmul(of(k)), values = f[h].t().matmul(of(v));
    heads.push_back((of(q).matmul(keys.t()) / std::sqrt(static_cast<double>(d))).softmax(-1).matmul(values));
  }
  return layer(attention, "output", ablate::cat(heads, 1));
}

/// Computes one item with max pooling: slot j is the largest of its 3 tokens in each channel (13 tokens, 5 slots).
Tensor largest_expected(const ablate::Attention& attention, const Tensor& x) {
  constexpr std::int64_t stride = 3;
  const auto pooled = [&](const char* name) {
    const auto all = layer(attention, name, x);
    std::vector<Tensor> slots;
    for (std::int64_t begin = 0; begin < x.size(0); begin += stride)
      slots.push_back(all.narrow(0, begin, std::min(stride, x.size(0) - begin)).amax(0));
    return by_head(ablate::stack(slots), kHeads);
  };
  const auto q = by_head(layer(attention, "query", x), kHeads), k = pooled("key"), v = pooled("value");
  const auto scores = q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(2)));
  return joined_heads(attention, scores.softmax(-1).matmul(v));
}

/// Returns a projection's matrix for an item of n tokens.
/// @param weights [n, k] for linear, [stride, 1] for convolution, undefined for mean
Tensor matrix(const Tensor& weights, std::int64_t n, std::int64_t stride = 0) {
  if (stride == 0) return weights.narrow(0, 0, n);
  const auto slots = (n + stride - 1) / stride;
  auto e = ablate::zeros({n, slots}, ablate::kDouble);
  std::vector<Tensor> columns;
  for (std::int64_t j = 0; j < slots; ++j) {
    const auto count = std::min(stride, n - j * stride);
    const auto part = weights.defined() ? weights.flatten().narrow(0, 0, count)
                                        : ablate::full({count}, 1.0 / static_cast<double>(count), ablate::kDouble);
    columns.push_back(ablate::pad(part, {j * stride, n - j * stride - count}));
  }
  return ablate::stack(columns, 1);
}

Tensor kept(const ablate::Attention& attention, const std::string& name, std::int64_t head) {
  const auto all = parameter(attention, name);
  return all.defined() ? all[all.size(0) > 1 ? head : 0] : Tensor();
}

}  // namespace

TEST_CASE("linformer equals its equation, in every form and sharing, padded and not, with gradients") {
  for (const std::string form : {"linear", "convolution", "mean"})
    for (const std::string sharing : {"none", "heads", "key-value"}) {
      if (form == "mean" && sharing != "none") continue;
      INFO(form << ", " << sharing);
      const auto attention = linformer({{"projection", form}, {"sharing", sharing}});
      const std::int64_t stride = form == "linear" ? 0 : (kLength + kSlots - 1) / kSlots;
      const auto x = random_tokens(3, kLength, 2).requires_grad_(), weights = random_tokens(3, kLength, 3);
      const std::vector<std::int64_t> lengths = {kLength, 7, 1};
      const auto mask = mask_of(kLength, lengths);
      const auto output = run(*attention, {x, {}, mask});
      auto loss = ablate::zeros({}, ablate::kDouble), right = ablate::zeros({}, ablate::kDouble);
      for (std::int64_t i = 0; i < 3; ++i) {
        const auto n = lengths[i];
        std::vector<Tensor> e, f;
        for (std::int64_t h = 0; h < kHeads; ++h) {
          const auto* const keys = sharing == "key-value" ? "projection" : "key_projection";
          const auto* const values = sharing == "key-value" ? "projection" : "value_projection";
          e.push_back(matrix(kept(*attention, keys, h), n, stride));
          f.push_back(matrix(kept(*attention, values, h), n, stride));
        }
        const auto own = x[i].narrow(0, 0, n);
        const auto plain = expected(*attention, own, own, e, f);
        CHECK(distance(output[i].narrow(0, 0, n), plain) < 1e-12);
        loss = loss + (output[i].narrow(0, 0, n) * weights[i].narrow(0, 0, n)).sum();
        right = right + (plain * weights[i].narrow(0, 0, n)).sum();
      }
      CHECK(distance(gradients(*attention, loss, {x}), gradients(*attention, right, {x})) < 1e-11);
    }
}

TEST_CASE("linformer's max pooling takes the largest value of each channel over real tokens, with gradients") {
  const auto attention = linformer({{"projection", "max"}});
  const auto x = random_tokens(3, kLength, 2);
  const auto off =
      off_padded(*attention, x, {kLength, 7, 1}, [&](const Tensor& own) { return largest_expected(*attention, own); });
  CHECK(off.output < 1e-12);
  CHECK(off.gradient < 1e-11);
  // Keys and values are all below 0, so a padded 0 would be the largest.
  ablate::NoGradGuard none;
  for (const auto* name : {"key.bias", "value.bias"}) parameter(*attention, name).fill_(-100);
  const auto item = x.narrow(0, 1, 1);
  CHECK(distance(run(*attention, {item, {}, mask_of(kLength, {7})}).narrow(1, 0, 7), run(*attention, {item.narrow(1, 0, 7)})) <
        1e-10);
}

TEST_CASE("linformer with an identity for E and F equals softmax attention") {
  const auto attention = linformer({{"slots", kLength}});
  {
    ablate::NoGradGuard none;
    const auto eye = (ablate::arange(kLength).unsqueeze(0) == ablate::arange(kLength).unsqueeze(1)).to(ablate::kDouble);
    for (const auto* name : {"key_projection", "value_projection"}) parameter(*attention, name).copy_(eye);
  }
  const auto softmax = make(section("softmax", {{"heads", kHeads}}));
  copy_parameters(*attention, *softmax);
  const auto x = random_tokens(2, kLength, 2);
  CHECK(distance(run(*attention, {x}), run(*softmax, {x})) < 1e-12);
}

TEST_CASE("linformer shares its projections only if the study requests that") {
  ablate::SharedTensors shared;
  const auto layers = [&](const std::string& sharing) {
    std::vector<std::shared_ptr<ablate::Attention>> made;
    for (std::int64_t layer = 0; layer < 2; ++layer)
      made.push_back(in_double(ablate::make_attention(
          ablate::plugin_from_json(section("linformer", {{"heads", kHeads}, {"slots", kSlots}, {"sharing", sharing}})),
          {.d_model = kChannels, .max_length = kLength, .train_length = kLength, .layer = layer, .layers = 2}, find_plugin,
          ablate::make_generator(1 + layer), shared)));
    return made;
  };
  const auto apart = layers("none");
  CHECK(shared.empty());
  CHECK(parameter(*apart[0], "key_projection").data_ptr() != parameter(*apart[1], "key_projection").data_ptr());
  CHECK(distance(parameter(*apart[0], "key_projection"), parameter(*apart[1], "key_projection")) > 1e-3);
  CHECK(parameter(*apart[0], "key_projection").sizes() == ablate::IntArrayRef({kHeads, kLength, kSlots}));
  const auto together = layers("layers");
  REQUIRE(shared.size() == 1);
  auto e = shared.begin()->second;
  CHECK(e.sizes() == ablate::IntArrayRef({1, kLength, kSlots}));
  // One projection serves keys, values, all heads and all layers.
  e.set_data(e.to(ablate::kDouble));
  const auto x = random_tokens(1, 9, 2);
  const std::vector<Tensor> of_heads(kHeads, matrix(e[0], 9));
  for (const auto& one : together) CHECK(distance(run(*one, {x})[0], expected(*one, x[0], x[0], of_heads, of_heads)) < 1e-12);
}

TEST_CASE("linformer's projections start uniform within 1 / sqrt(n), for the n tokens that they weigh") {
  for (const auto& [form, tokens] : {std::pair{"linear", kLength}, {"convolution", (kLength + kSlots - 1) / kSlots}}) {
    const auto attention = linformer({{"projection", form}});
    const auto bound = 1 / std::sqrt(static_cast<double>(tokens));
    for (const auto* name : {"key_projection", "value_projection"}) {
      const auto most = parameter(*attention, name).abs().max().item<double>();
      INFO(form << ", " << name);
      CHECK(most <= bound * (1 + 1e-6));
      CHECK(most > bound / 4);
    }
  }
}
