// Clustered attention (Vyas et al. 2020): queries are clustered, and all queries of a cluster share the attention of their
// mean. The improved form adds exact attention from each query to the keys that its cluster scores highest.
#include <cmath>

#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"
#include "groups.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::take;
using ablate::Tensor;
using ablate::widened;
using ablate::clustered::Blocks;
using ablate::clustered::Groups;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("clusters", "100", {1, 65536}, "C: clusters of an item's queries; never more than the item has queries"),
    ablate::integer("bits", "63", {1, 1024}, "B: bits of the hash by which queries are compared", "bits"),
    ablate::integer("iterations", "10", {1, 100}, "L: Lloyd steps on each sequence"),
    ablate::integer("top", "32", {0, 65536},
                    "k: top keys of a cluster that its queries attend to exactly (improved clustered attention); 0: none",
                    "keys"),
};

constexpr ablate::Oracle oracles[] = {{R"({"top": 65536})", "softmax"}};

constexpr std::int64_t kBlock = 32;  // queries of a cluster that share a copy of its keys

/// Appends a row of zeros, for a query without a cluster and for an empty row of a block.
Tensor and_none(const Tensor& x) { return ablate::pad(x, {0, 0, 0, 1}); }

class ClusteredAttention final : public ablate::HeadwiseAttention {
 public:
  explicit ClusteredAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        clusters_(context.parameters.integer("clusters")),
        iterations_(context.parameters.integer("iterations")),
        top_(context.parameters.integer("top")) {
    const auto bits = context.parameters.integer("bits");
    // The planes are never cast, so that the hash is the same in every type.
    planes_ = register_buffer("planes", ablate::randn({heads(), d_head() + 1, bits}, context.generator), {.type = true});
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    const auto q = widened(input.q), k = widened(input.k), v = widened(input.v);
    const auto groups = ablate::clustered::group_queries(q, input.query_mask, planes_, clusters_, iterations_);
    const auto members = ablate::sum_rows(q, groups.of, groups.count + 1).narrow(2, 0, groups.count);
    const auto centroids = members / groups.sizes.clamp_min(1).unsqueeze(-1).to(q.scalar_type());  // [batch, heads, count, d]
    const auto values = top_ == 0 ? together(centroids, groups, k, v, input) : improved(centroids, groups, q, k, v, input);
    return {.values = values.to(input.q.scalar_type())};
  }

  /// Section 3.2: each query gets the attention output of its cluster's mean query.
  Tensor together(const Tensor& centroids, const Groups& groups, const Tensor& k, const Tensor& v,
                  const HeadInput& input) const {
    const auto seen = ablate::mask_or_all(input.mask, k.size(2), k).unsqueeze(1).unsqueeze(1);
    return take(and_none(ablate::attend_seen(centroids, k, v, seen, dropout(), input.generator)), groups.of);
  }

  /// Section 3.3: each query redistributes, by its own scores, the mass that its cluster assigns to the cluster's top k keys.
  Tensor improved(const Tensor& centroids, const Groups& groups, const Tensor& q, const Tensor& k, const Tensor& v,
                  const HeadInput& input) const {
    const auto hidden = ablate::hidden_keys(input.mask, false, groups.count, k.size(2), 0, k);
    auto scores = centroids.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    const auto weights = ablate::masked_softmax(scores, hidden);  // [batch, heads, count, keys]
    if (hidden.defined()) scores = scores.masked_fill(hidden, std::numeric_limits<float>::lowest());
    // The keys are in the order of the sequence, so that dropout does not depend on the order of their scores.
    const auto likest = std::get<0>(std::get<1>(scores.detach().topk(std::min(top_, k.size(2)), 3)).sort(3));
    const auto mass = weights.gather(3, likest).sum(3, true);
    const auto rest = ablate::drop(weights.scatter(3, likest, 0), dropout(), input.generator).matmul(v);

    const Blocks blocks(groups, kBlock);
    const auto of_clusters = [&](const Tensor& x) { return take(x, likest.flatten(2)).unflatten(2, {groups.count, -1}); };
    const auto of_blocks = [&](const Tensor& x) { return take(ablate::pad(x, {0, 0, 0, 0, 0, 1}), blocks.cluster); };
    const auto seen =
        ablate::mask_or_all(input.mask, k.size(2), k).unsqueeze(1).unsqueeze(-1).expand({q.size(0), heads(), -1, 1});
    const auto queries = take(and_none(q), blocks.query).unflatten(2, {-1, kBlock});
    const auto read = ablate::attend_blocks(queries, of_blocks(of_clusters(k)), of_blocks(of_clusters(v)),
                                            of_blocks(of_clusters(seen)).transpose(-1, -2), dropout(), input.generator);
    const auto exact = take(and_none(read.flatten(2, 3)), blocks.place);
    return exact * take(and_none(mass), groups.of) + take(and_none(rest), groups.of);
  }

  /// Draws new hashes for the next step. Evaluation uses the last hashes.
  void do_step(std::int64_t, const ablate::Generator& generator) override {
    if (!is_training()) return;
    const ablate::NoGradGuard none;
    planes_.normal_(0, 1, generator);
  }

  std::int64_t clusters_, iterations_, top_;
  Tensor planes_;  // [heads, d_head + 1, bits]
};

}  // namespace

ABLATE_ATTENTION(ClusteredAttention,
                 {.id = "clustered-attention",
                  .version = "1.0.0",
                  .summary = "one attention per cluster of queries, and exact attention to each cluster's top keys",
                  .paper = "Vyas et al. 2020, arXiv 2007.04825, sections 3.2 and 3.3",
                  .capabilities = {.key_padding = true,
                                   .cross_attention = true,
                                   .holes = true,
                                   .rotary = true,
                                   .weight_dropout = true,
                                   .averages = true,
                                   .half_precision = true},
                  .parameters = parameters,
                  .oracles = oracles})
