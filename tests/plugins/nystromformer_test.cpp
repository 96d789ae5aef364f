// Nystromformer against its plain equations, and against softmax attention with one landmark for each token.
#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

std::shared_ptr<ablate::Attention> nystromformer(std::int64_t landmarks, std::int64_t iterations = 6, std::int64_t kernel = 3) {
  return make(
      section("nystromformer", {{"heads", kHeads}, {"landmarks", landmarks}, {"iterations", iterations}, {"kernel", kernel}}));
}

/// Runs the iteration of section 3.1 with the 1-norm and infinity-norm of `a` itself.
/// @param larger factor of the product of norms; above 1, as if the norms belonged to another matrix of the batch
Tensor iterated_inverse(const Tensor& a, std::int64_t iterations, double larger = 1) {
  const auto n = a.size(0);
  const auto eye = (ablate::arange(n).unsqueeze(0) == ablate::arange(n).unsqueeze(1)).to(ablate::kDouble);
  auto z = a.t() / (a.abs().sum(0).max() * a.abs().sum(1).max() * larger);
  for (std::int64_t i = 0; i < iterations; ++i) {
    const auto az = a.matmul(z);
    z = z.matmul(eye * 13 - az.matmul(eye * 15 - az.matmul(eye * 7 - az))) / 4;
  }
  return z;
}

/// Computes one item of n tokens, landmark by landmark and token by token.
Tensor expected(const ablate::Attention& attention, const Tensor& x, std::int64_t landmarks, std::int64_t iterations,
                double larger = 1) {
  const auto n = x.size(0), m = std::min(landmarks, n);
  const auto q = layer(attention, "query", x), k = layer(attention, "key", x), v = layer(attention, "value", x);
  const auto d = q.size(1) / kHeads;
  const auto means = [&](const Tensor& all) {
    std::vector<std::vector<Tensor>> members(m);
    for (std::int64_t p = 0; p < n; ++p) members[p * m / n].push_back(all[p]);
    std::vector<Tensor> rows;
    for (const auto& of : members) rows.push_back(ablate::stack(of).mean(0));
    return ablate::stack(rows);
  };
  const auto kernel = parameter(attention, "kernel");
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) {
    const auto of = [&](const Tensor& all) { return all.narrow(1, h * d, d); };
    const auto scale = std::sqrt(static_cast<double>(d));
    const auto queries = of(q), keys = of(k), values = of(v), lq = means(queries), lk = means(keys);
    const auto f = (queries.matmul(lk.t()) / scale).softmax(-1), a = (lq.matmul(lk.t()) / scale).softmax(-1),
               b = (lq.matmul(keys.t()) / scale).softmax(-1);
    auto head = f.matmul(iterated_inverse(a, iterations, larger)).matmul(b.matmul(values));
    if (kernel.defined()) {
      const auto size = kernel.size(1), half = size / 2;
      std::vector<Tensor> rows;
      for (std::int64_t i = 0; i < n; ++i) {
        auto row = head[i];
        for (std::int64_t t = 0; t < size; ++t)
          if (const auto j = i + t - half; j >= 0 && j < n) row = row + kernel[h][t] * values[j];
        rows.push_back(row);
      }
      head = ablate::stack(rows);
    }
    heads.push_back(head);
  }
  return layer(attention, "output", ablate::cat(heads, 1));
}

}  // namespace

TEST_CASE("nystromformer equals its equations, padded and not, ragged and not, with gradients") {
  for (const std::int64_t kernel : {0, 3})
    for (const std::int64_t landmarks : {1, 4, 6}) {
      const auto attention = nystromformer(landmarks, 6, kernel);
      const std::vector<std::int64_t> lengths = {12, 7, 3, 1};
      const auto x = random_tokens(4, 12, 2).requires_grad_(), weights = random_tokens(4, 12, 3);
      const auto output = run(*attention, {x, {}, mask_of(12, lengths)});
      auto loss = ablate::zeros({}, ablate::kDouble), right = ablate::zeros({}, ablate::kDouble);
      for (std::int64_t i = 0; i < 4; ++i) {
        INFO("kernel " << kernel << ", landmarks " << landmarks << ", item " << i);
        const auto n = lengths[i];
        const auto own = x[i].narrow(0, 0, n);
        const auto plain = expected(*attention, own, landmarks, 6);
        CHECK(distance(output[i].narrow(0, 0, n), plain) < 1e-10);
        CHECK(distance(run(*attention, {own.unsqueeze(0)})[0], plain) < 1e-10);
        loss = loss + (output[i].narrow(0, 0, n) * weights[i].narrow(0, 0, n)).sum();
        right = right + (plain * weights[i].narrow(0, 0, n)).sum();
      }
      CHECK(distance(gradients(*attention, loss, {x}), gradients(*attention, right, {x})) < 1e-8);
    }
}

TEST_CASE("nystromformer's convolution runs over all tokens and across its blocks, and may be longer than a sequence") {
  for (const std::int64_t kernel : {5, 33}) {
    const auto attention = nystromformer(4, 6, kernel);
    const auto off = off_padded(*attention, random_tokens(3, kMaxLength, 2), {kMaxLength, 67, 9},
                                [&](const Tensor& x) { return expected(*attention, x, 4, 6); });
    INFO("kernel " << kernel);
    CHECK(off.output < 1e-10);
    CHECK(off.gradient < 1e-8);
  }
  CHECK_THROWS_WITH(nystromformer(4, 6, 4), "kernel = 4 is even, expected odd: the token is in the middle");
}

TEST_CASE("nystromformer with one landmark for each token equals softmax attention after the inverse has converged") {
  const auto softmax = make(section("softmax", {{"heads", kHeads}}));
  const auto x = random_tokens(2, 9, 2);
  double before = INFINITY;
  for (const std::int64_t iterations : {6, 12, 40}) {
    const auto attention = nystromformer(9, iterations, 0);
    copy_parameters(*attention, *softmax);
    const auto off = distance(run(*attention, {x}), run(*softmax, {x}));
    CHECK(off < before);
    before = off;
  }
  CHECK(before < 1e-8);
}

TEST_CASE("nystromformer's pseudo-inverse depends only on its matrix, not on the batch") {
  const auto attention = nystromformer(4, 6, 0);
  const auto x = random_tokens(1, 12, 2), mate = random_tokens(1, 12, 3) * 8;
  const auto together = run(*attention, {ablate::cat({x, mate})})[0];
  CHECK(distance(together, expected(*attention, x[0], 4, 6)) < 1e-10);
  // Public code uses the largest norms of the batch, which here belong to the other item.
  CHECK(distance(together, expected(*attention, x[0], 4, 6, 2)) > 1e-3);
}

TEST_CASE("nystromformer's landmarks are means of present tokens: holes are skipped") {
  const auto attention = nystromformer(4, 6, 0);
  const std::vector<std::int64_t> kept = {1, 2, 3, 5, 6, 8, 9};
  auto mask = ablate::zeros({1, 12}, ablate::kBool);
  for (const auto place : kept) mask[0][place] = true;
  const auto x = random_tokens(1, 12, 2), present = x.index_select(1, ablate::integers(kept));
  const auto output = run(*attention, {x.masked_fill(mask.logical_not().unsqueeze(-1), NAN), {}, mask});
  CHECK(distance(output.index_select(1, ablate::integers(kept))[0], expected(*attention, present[0], 4, 6)) < 1e-10);
}
