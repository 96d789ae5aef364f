// Routing Transformer (Roy et al. 2021): tokens attend within clusters of similar tokens, found by online k-means on the unit
// ball. README.md lists the differences from the paper, and explains why causal attention has a separate form.
#include <cmath>
#include <limits>

#include "ablate/buckets.h"
#include "ablate/centroids.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::layer_normed;
using ablate::Neighbours;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("clusters", "0", {0, 4096}, "k; 0: the root of the longest sequence's length"),
    ablate::integer("window", "0", {0, 65536},
                    "w: members of a cluster that attend to each other; 0: n / k with the item's length n, or with the "
                    "length of the longest sequence for causal_members = earlier",
                    "tokens"),
    ablate::text("assignment", "\"kmeans\"", "kmeans|random",
                 "kmeans: clusters of similar tokens; random: clusters drawn for each position"),
    ablate::when("assignment = kmeans",
                 ablate::real("decay", "0.999", {0, 1}, "share of a centroid that an optimiser step keeps; 1 never moves it")),
    ablate::when(
        "assignment = kmeans",
        ablate::real("commitment", "0", {0, 1e3},
                     "weight of a loss that pulls queries and keys to their centroids, as in the authors' code; 0: none")),
    ablate::text("causal_members", "\"earlier\"", "earlier|top",
                 "earlier: a token attends to the last w tokens of its cluster; top: to the earlier tokens among the w tokens "
                 "most similar to its centroid, as published, so later tokens decide which tokens it attends to"),
};

constexpr ablate::Exemption exemptions[] = {
    {"causal", "", "a cluster takes the most similar of all tokens, including later ones (Roy et al. 2021, Algorithm 1)", 1.5,
     "causal_members = top"},
};

ablate::Capabilities promises(const ablate::Capabilities& declared, const ablate::Values& values,
                              std::span<const ablate::Capabilities>) {
  auto result = declared;
  const bool clusters = values.integer("clusters") > 0, window = values.integer("window") > 0;
  result.time_exponent = result.memory_exponent = !clusters ? 1.5 : window ? 1 : 2;
  return result;
}

/// ceil(a / b)
std::int64_t share(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The tokens of each cluster.
struct Members {
  Tensor index;  ///< [batch or 1, heads, clusters, w] int64
  Tensor there;  ///< the same shape, bool: false beyond the size of the item's own clusters
};

class Routing final : public ablate::HeadwiseAttention {
 public:
  explicit Routing(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, {.heads = context.parameters.integer("heads"), .keys_are_queries = context.causal}),
        longest_(context.max_length),
        clusters_(context.parameters.integer("clusters")),
        window_(context.parameters.integer("window")),
        random_(context.parameters.text("assignment") == "random"),
        earlier_(context.causal && context.parameters.text("causal_members") == "earlier"),
        commitment_(random_ ? 0 : context.parameters.real("commitment")) {
    if (clusters_ == 0) clusters_ = std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(longest_))));
    if (random_)
      draws_ = register_buffer("draws", ablate::randn({heads(), clusters_, longest_}, context.generator), {.type = true});
    else
      centroids_ = {register_buffer("centroids", first_places(context.generator), {.type = true}), layer_normed,
                    context.parameters.real("decay")};
  }

 private:
  Tensor first_places(const ablate::Generator& generator) const {
    return layer_normed(ablate::randn({clusters_, heads(), d_head()}, generator)).transpose(0, 1).contiguous();
  }

  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("routing: queries and context have to be one sequence");
    const auto type = input.q.scalar_type();
    const auto q = layer_normed(ablate::widened(input.q)), k = causal() ? q : layer_normed(ablate::widened(input.k)),
               v = ablate::widened(input.v);
    const auto of_queries = likeness(q), of_keys = causal() ? of_queries : likeness(k);
    if (is_training() && !random_) {
      centroids_.count(q, of_queries.argmax(2), input.mask);
      if (!causal()) centroids_.count(k, of_keys.argmax(2), input.mask);
    }
    auto output = earlier_ ? among_earlier(of_queries, q, v, input)
                           : among_chosen(choose(of_queries, input.mask), causal() ? Members{} : choose(of_keys, input.mask), q,
                                          k, v, input);
    output.values = output.values.to(type);
    if (commitment_ > 0) {
      const auto off = distance_to_centroids(q, of_queries, input.mask);
      output.auxiliary_loss = commitment_ * (causal() ? off : (off + distance_to_centroids(k, of_keys, input.mask)) / 2);
    }
    return output;
  }

  /// Mean squared distance of points to their nearest centroids, over tokens, heads and channels. Gradients reach only the
  /// points. Shape [].
  Tensor distance_to_centroids(const Tensor& points, const Tensor& likeness, const Tensor& mask) const {
    const auto places = centroids_.places().to(points.scalar_type()).unsqueeze(0).expand({points.size(0), -1, -1, -1});
    const auto squares = (points - ablate::take(places, likeness.argmax(2))).square().mean(-1);  // [batch, heads, n]
    if (!mask.defined()) return squares.mean();
    const auto real = mask.unsqueeze(1);
    return squares.masked_fill(real.logical_not(), 0).sum() / (real.sum() * heads()).clamp_min(1);
  }

  /// Similarity of each token to each centroid: on a ball, the dot product. [batch or 1, heads, clusters, n]
  Tensor likeness(const Tensor& points) const {
    const ablate::NoGradGuard none;
    if (random_) return draws_.narrow(2, 0, points.size(2)).unsqueeze(0);
    return centroids_.places().to(points.scalar_type()).unsqueeze(0).matmul(points.detach().transpose(-1, -2));
  }

  /// Returns the w most similar tokens of each cluster. A token may be in several clusters, or in none.
  Members choose(const Tensor& likeness, const Tensor& mask) const {
    const ablate::NoGradGuard none;
    const auto n = likeness.size(3), most = std::min(window_ > 0 ? window_ : share(n, clusters_), n);
    if (!mask.defined()) {
      const auto index = std::get<1>(likeness.topk(most, 3));
      return {index, ablate::ones(index.sizes(), index.options().dtype(ablate::kBool))};
    }
    const auto real =
        likeness.masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(1), -std::numeric_limits<float>::infinity());
    const auto index = std::get<1>(real.topk(most, 3));
    const auto tokens = mask.sum(1);
    const auto own = window_ > 0 ? tokens.clamp_max(window_) : (tokens + (clusters_ - 1)).floor_divide(clusters_);
    const auto there = ablate::arange(most, index.options()) < own.view({-1, 1, 1, 1});
    return {index, there.expand_as(index)};
  }

  /// Algorithm 1: queries of a cluster attend to its keys. A token's output is its clusters' mean, or 0 without a cluster.
  /// @param of_keys undefined: the same as of_queries
  HeadOutput among_chosen(const Members& of_queries, const Members& of_keys, const Tensor& q, const Tensor& k, const Tensor& v,
                          const HeadInput& input) const {
    const auto& keys = of_keys.index.defined() ? of_keys : of_queries;
    const auto batch = q.size(0), n = q.size(2);
    const auto listed = [&](const Members& members) { return members.index.expand({batch, -1, -1, -1}).flatten(2); };
    const auto taken = [&](const Tensor& x, const Members& members) {
      return ablate::take(x, listed(members)).unflatten(2, {clusters_, -1});
    };
    auto seen = keys.there.unsqueeze(3);
    if (causal()) seen = seen.logical_and(keys.index.unsqueeze(3) <= of_queries.index.unsqueeze(4));
    const auto read =
        ablate::attend_blocks(taken(q, of_queries), taken(k, keys), taken(v, keys), seen, dropout(), input.generator)
            .flatten(2, 3);
    const auto there = of_queries.there.expand({batch, -1, -1, -1}).flatten(2).unsqueeze(-1).to(read.scalar_type());
    const auto times = ablate::sum_rows(there, listed(of_queries), n);
    HeadOutput output{.values = ablate::sum_rows(read * there, listed(of_queries), n) / times.clamp_min(1)};
    if (input.measure) {
      const auto mask = ablate::mask_or_all(input.mask, n, q).expand({batch, n});
      const auto left_out = (times.squeeze(-1) == 0).logical_and(mask.unsqueeze(1)).sum().item().toDouble();
      const auto tokens = mask.sum().item().toDouble() * static_cast<double>(heads());
      output.metrics.push_back({"in_no_cluster", left_out / std::max(tokens, 1.0), ""});
    }
    return output;
  }

  /// Causal form: each token is in the cluster of its nearest centroid. It attends to the cluster's last w tokens up to itself.
  HeadOutput among_earlier(const Tensor& likeness, const Tensor& q, const Tensor& v, const HeadInput& input) const {
    const auto nearest = likeness.argmax(2).expand({q.size(0), -1, -1});
    const ablate::BucketOrder order(nearest, input.mask, clusters_);
    const auto n = q.size(2), window = std::min(window_ > 0 ? window_ : share(longest_, clusters_), n);
    const Neighbours blocks{.size = window, .behind = 0};
    const auto distance = blocks.distance(q.device());
    const auto seen = order.same(blocks).logical_and(distance <= 0).logical_and(distance > -window);
    const auto points = order.sorted(q);
    const auto read = ablate::attend_blocks(blocks.queries(points), blocks.keys(points), blocks.keys(order.sorted(v)), seen,
                                            dropout(), input.generator);
    return {.values = order.unsorted(blocks.joined(read, n))};
  }

  void do_step(std::int64_t, const ablate::Generator&) override {
    if (is_training()) centroids_.move();
  }

  std::int64_t longest_, clusters_, window_;
  bool random_, earlier_;
  double commitment_;
  ablate::Centroids centroids_;  // [heads, clusters, d_head]; unused with random clusters
  Tensor draws_;                 // [heads, clusters, longest]: random similarities; undefined with k-means
};

}  // namespace

ABLATE_ATTENTION(Routing, {.id = "routing",
                           .version = "1.1.0",
                           .summary = "attention within clusters of similar tokens, found by online k-means",
                           .paper = "Roy et al. 2021, arXiv 2003.05997, section 4 and Algorithm 1",
                           .capabilities = {.causal = true,
                                            .key_padding = true,
                                            .holes = true,
                                            .weight_dropout = true,
                                            .sparse = true,
                                            .half_precision = true,
                                            .time_exponent = 1.5,
                                            .memory_exponent = 1.5},
                           .parameters = parameters,
                           .promises = promises,
                           .exemptions = exemptions})
