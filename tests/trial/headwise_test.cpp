// softmax, linear and compressed against their equations, one query at a time.
#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

AttentionSubject subject(const std::string& id, const nlohmann::json& parameters) {
  return {with_defaults(plain::plugin(id), parameters), with_defaults(plain::plugin("segment-mean"))};
}

const std::vector<std::int64_t> kLengths = {9, 4, 1};

// Largest difference to the equations over the real queries of a padded batch.
double off(Attention& attention, const std::string& similarity, std::int64_t heads, bool causal, bool cross) {
  const auto tokens = random_tokens(3, 9, 2), queries = cross ? random_tokens(3, 6, 3) : tokens;
  const auto output = run(attention, {queries, cross ? tokens : torch::Tensor(), padding_mask(kLengths, 9)});
  double worst = 0;
  for (std::size_t i = 0; i < kLengths.size(); ++i) {
    const auto item = static_cast<std::int64_t>(i);
    const auto context = tokens[item].narrow(0, 0, kLengths[i]);
    const auto expected = plain::attend(attention, similarity, heads, cross ? queries[item] : context, context, causal);
    worst = std::max(worst, difference(output[item].narrow(0, 0, expected.size(0)), expected));
  }
  return worst;
}

}  // namespace

TEST_CASE("softmax is the softmax of its equation", "[softmax]") {
  for (const std::int64_t heads : {1, 4})
    for (const bool causal : {false, true})
      for (const bool cross : {false, true}) {
        const auto attention = subject("softmax", {{"heads", heads}}).make(1, causal);
        INFO("heads " << heads << ", causal " << causal << ", cross " << cross);
        CHECK(off(*attention, "softmax", heads, causal, cross) < 1e-12);
      }
}

TEST_CASE("linear attention: parallel and chunked are the sum over keys", "[linear]") {
  for (const std::string map : {"elu+1", "relu"})
    for (const bool causal : {false, true})
      for (const bool cross : {false, true}) {
        const auto attention = subject("linear", {{"heads", 2}, {"feature_map", map}}).make(1, causal);
        INFO(map << ", causal " << causal << ", cross " << cross);
        CHECK(off(*attention, map, 2, causal, cross) < 1e-12);
      }
}

TEST_CASE("linear attention: chunked is recurrent", "[linear]") {
  // The recurrent form (Eq. 16 to 20): one sum of phi(k) v^T and one of phi(k), carried from token to token; lengths around the
  // chunk of 64.
  const auto attention = subject("linear", {{"heads", 2}}).make(1, true);
  for (const std::int64_t n : {1, 63, 64, 65, 80}) {
    const auto x = random_tokens(1, n, 2);
    const auto split = [&](const char* name) { return plain::layer(*attention, name, x[0]).unflatten(-1, {2, 8}); };
    const auto phi = [](const torch::Tensor& t) { return torch::where(t > 0, t + 1, t.exp()); };
    const auto q = phi(split("query")), k = phi(split("key")), v = split("value");  // [n, heads, d]
    auto state = torch::zeros({2, 8, 8}, torch::kFloat64), total = torch::zeros({2, 8}, torch::kFloat64);
    std::vector<torch::Tensor> rows;
    for (std::int64_t i = 0; i < n; ++i) {
      state = state + k[i].unsqueeze(-1) * v[i].unsqueeze(-2);
      total = total + k[i];
      const auto read = q[i].unsqueeze(-2).matmul(state).squeeze(-2);
      rows.push_back((read / (q[i] * total).sum(-1, true)).flatten());
    }
    CHECK(difference(run(*attention, {x})[0], plain::layer(*attention, "output", torch::stack(rows))) < 1e-12);
  }
}

TEST_CASE("compressed at rate 1 is the uncompressed attention", "[compressed]") {
  const auto mask = padding_mask(kLengths, 9);
  const auto x = random_tokens(3, 9, 2), queries = random_tokens(3, 5, 3);
  for (const std::string read : {"softmax", "elu+1", "relu"}) {
    const auto compressed = subject("compressed", {{"heads", 4}, {"rate", "1"}, {"read", read}}).make(1);
    const auto whole = read == "softmax" ? subject("softmax", {{"heads", 4}}).make(2)
                                         : subject("linear", {{"heads", 4}, {"feature_map", read}}).make(2);
    CHECK(difference(run(*compressed, {queries, x, mask}), run(*whole, {queries, x, mask})) > 1e-3);
    plain::copy_parameters(*compressed, *whole);
    INFO(read);
    CHECK(difference(run(*compressed, {queries, x, mask}), run(*whole, {queries, x, mask})) < 1e-12);
    CHECK(difference(gradients(*compressed, {queries, x, mask}), gradients(*whole, {queries, x, mask})) < 1e-11);
  }
}

TEST_CASE("compressed reads segments at lower rates", "[compressed]") {
  // A sequence of segments of equal tokens is its own compression, so every rate down to the segments' reads the same.
  const auto x = random_tokens(2, 4, 2).repeat_interleave(4, 1);  // 16 tokens, 4 different ones
  const auto full = subject("compressed", {{"rate", "1"}}).make(1);
  for (const std::string rate : {"1/2", "1/4"}) {
    const auto compressed = subject("compressed", {{"rate", rate}}).make(1);
    CHECK(difference(run(*compressed, {x}), run(*full, {x})) < 1e-12);
  }
  CHECK(difference(run(*subject("compressed", {{"rate", "1/8"}}).make(1), {x}), run(*full, {x})) > 1e-3);
}

TEST_CASE("heads that do not divide the channels are named", "[softmax]") {
  try {
    subject("softmax", {{"heads", 3}}).make(1);
    FAIL("3 heads of 16 channels were accepted");
  } catch (const std::invalid_argument& error) {
    CHECK(std::string(error.what()).find("heads = 3 does not divide d_model = 16") != std::string::npos);
  }
}
