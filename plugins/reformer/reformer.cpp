// Reformer's attention (Kitaev et al. 2020): tokens are sorted by a hash that similar tokens share. In chunks of the
// sorted sequence, tokens attend to their own bucket, or to all buckets, in several rounds of hashing. README.md lists the
// differences from the paper.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "ablate/buckets.h"
#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"

namespace {

using ablate::BucketOrder;
using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Neighbours;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("rounds", "2", {1, 16}, "hashes: a token attends to tokens that share its bucket in any of them"),
    ablate::integer("chunk", "64", {2, 65536}, "m: tokens of a chunk, which attends to itself and the chunk before", "tokens"),
    ablate::integer("buckets", "0", {0, 65536},
                    "1 or an even number; above 64 it is rounded up to a product of two even numbers. 0: two buckets for each "
                    "chunk of the longest sequence"),
    ablate::text("causal_members", "\"earlier\"", "earlier|chunks",
                 "earlier: a token attends to the last m tokens of its bucket; chunks: to its chunk and the one before, as "
                 "published, though later tokens decide where chunks begin"),
    ablate::boolean("across_buckets", "false",
                    "a token attends to its whole chunk and the one before, across buckets, once per round, as public code "
                    "does; causal only with causal_members = chunks"),
};

constexpr ablate::Exemption exemptions[] = {
    {"causal", "", "all tokens, including later ones, decide where a chunk begins (Kitaev et al. 2020, section 2)", 0.15,
     "causal_members = chunks"},
};

constexpr double kLastResort = -5e4;   // score of a token with itself; it counts only if the token sees no other token
constexpr std::int64_t kOneHash = 64;  // maximum number of buckets of a single rotation

/// With across_buckets, later tokens change which m tokens are the last in sorted order, so `earlier` is not causal.
ablate::Capabilities promises(const ablate::Capabilities& declared, const ablate::Values& values,
                              std::span<const ablate::Capabilities>) {
  auto can = declared;
  if (values.boolean("across_buckets")) can.causal = values.text("causal_members") == "chunks";
  return can;
}

std::int64_t even(double at_least) { return 2 * static_cast<std::int64_t>(std::ceil(at_least / 2)); }

class Reformer final : public ablate::HeadwiseAttention {
 public:
  explicit Reformer(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, {.heads = context.parameters.integer("heads"), .keys_are_queries = true}),
        rounds_(context.parameters.integer("rounds")),
        chunk_(context.parameters.integer("chunk")),
        across_(context.parameters.boolean("across_buckets")),
        earlier_(context.causal && context.parameters.text("causal_members") == "earlier") {
    auto buckets = context.parameters.integer("buckets");
    if (buckets == 0) buckets = 2 * ((context.max_length + chunk_ - 1) / chunk_);
    if (buckets > 1 && buckets % 2 != 0)
      throw std::invalid_argument("buckets = " + std::to_string(buckets) +
                                  ": each direction of a hash has two sides; expected 1 or an even number");
    // Above kOneHash buckets, two hashes of fewer buckets are combined. The products of a single hash would cost n^2 / chunk.
    const auto root = even(std::sqrt(static_cast<double>(buckets)));
    if (buckets > kOneHash)
      factors_ = {root, even(static_cast<double>(buckets) / static_cast<double>(root))};
    else if (buckets > 1)
      factors_ = {buckets};
    for (const auto factor : factors_) directions_ += factor / 2;
    // The rotations are never cast, so that the hash is the same in every type.
    if (directions_ > 0)
      rotations_ = register_buffer("rotations", ablate::randn({heads(), rounds_, d_head(), directions_}, context.generator),
                                   {.type = true});
  }

 private:
  /// True for keys near enough in sorted order. Callers also exclude keys of other buckets. If attention is causal across
  /// buckets, callers exclude keys that are later() than the query.
  /// @param places, others sorted positions of queries and keys, broadcast against each other
  Tensor in_reach(const Tensor& places, const Tensor& others) const {
    if (earlier_) return (others <= places).logical_and(places - others <= chunk_);
    const auto chunks = places.floor_divide(chunk_) - others.floor_divide(chunk_);
    const auto near = (chunks >= 0).logical_and(chunks <= 1);
    if (!causal() || across_) return near;
    return near.logical_and(others <= places);  // within a bucket, sorted positions are in sequence order
  }

  /// True for keys of a block that come after the query in the sequence: [batch, heads * rounds, blocks, size, keys] bool.
  static Tensor later(const BucketOrder& order, const Neighbours& blocks) {
    const auto token = order.tokens.unsqueeze(-1);
    return blocks.keys(token).transpose(-1, -2) > blocks.queries(token);
  }

  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("reformer: queries and context have to be one sequence");
    const auto type = input.q.scalar_type();
    const auto n = input.q.size(2);
    // [batch, heads * rounds, n, d]: each round is a separate head until the end.
    const auto each_round = [&](const Tensor& x) {
      return ablate::widened(x).unsqueeze(2).expand({-1, -1, rounds_, -1, -1}).flatten(1, 2);
    };
    const auto q = each_round(input.q), v = each_round(input.v);
    BucketOrder order(hash(q), input.mask, buckets());
    if (across_) order.buckets = order.buckets.clamp_max(1);  // sorted by all buckets, then treated as one bucket
    const auto sorted = order.sorted(q);
    const auto keys = sorted * ((sorted * sorted).mean(-1, true) + 1e-6).rsqrt() / std::sqrt(static_cast<double>(d_head()));

    const Neighbours blocks{.size = std::min(chunk_, n), .behind = 0};
    const auto distance = blocks.distance(q.device());
    auto hidden = order.same(blocks).logical_and(reach_of(blocks, distance, n)).logical_not();
    if (across_ && causal()) hidden = hidden.logical_or(later(order, blocks));
    auto scores = blocks.queries(sorted).matmul(blocks.keys(keys).transpose(-1, -2));
    scores = scores.masked_fill(distance == 0, kLastResort);
    if (rounds_ > 1 && !across_) scores = scores - times_seen(order, blocks, scores.scalar_type()).log();
    const auto weights = ablate::drop(ablate::masked_softmax(scores, hidden), dropout(), input.generator);
    const auto read = weights.matmul(blocks.keys(order.sorted(v)));
    const auto by_token = [&](const Tensor& x) { return order.unsorted(blocks.joined(x, n)).unflatten(1, {heads(), rounds_}); };
    if (rounds_ == 1) return {.values = by_token(read).squeeze(2).to(type)};
    // A round is weighted by the mass of the keys that it found, so all rounds together are one softmax. Across buckets, a key
    // counts once for each round that found it.
    const auto share =
        by_token(scores.masked_fill(hidden, std::numeric_limits<float>::lowest()).logsumexp(-1, true)).softmax(2);
    return {.values = (by_token(read) * share).sum(2).to(type)};
  }

  std::int64_t buckets() const {
    std::int64_t all = 1;
    for (const auto factor : factors_) all *= factor;
    return all;
  }

  /// argmax([xR; -xR]) (section 2): [batch, heads * rounds, n, d] -> [batch, heads * rounds, n] int64.
  Tensor hash(const Tensor& x) const {
    const ablate::NoGradGuard none;
    auto bucket = ablate::zeros({x.size(0), x.size(1), x.size(2)}, x.options().dtype(ablate::kLong).requires_grad(false));
    if (factors_.empty()) return bucket;
    const auto turned = x.detach().matmul(rotations_.to(x.scalar_type()).flatten(0, 1));
    std::int64_t first = 0;
    for (const auto factor : factors_) {
      const auto part = turned.narrow(3, first, factor / 2);
      bucket = bucket * factor + ablate::cat({part, -part}, 3).argmax(3);
      first += factor / 2;
    }
    return bucket;
  }

  /// in_reach() for the queries and keys of each block: [blocks, size, keys]
  Tensor reach_of(const Neighbours& blocks, const Tensor& distance, std::int64_t n) const {
    const auto count = (n + blocks.size - 1) / blocks.size;
    const auto own = ablate::arange(count * blocks.size, distance.options()).view({count, blocks.size, 1});
    return in_reach(own, own + distance);
  }

  /// Number of rounds in which a query attends to a key, at least 1: [batch, heads * rounds, blocks, size, keys].
  Tensor times_seen(const BucketOrder& order, const Neighbours& blocks, c10::ScalarType type) const {
    Tensor times;
    for (std::int64_t round = 0; round < rounds_; ++round) {
      // Bucket and position in this round, for tokens in the sorted order of every round.
      const auto of_round = [&](const Tensor& by_token) {
        const auto own = by_token.unflatten(1, {heads(), rounds_}).narrow(2, round, 1);
        const auto all = own.expand({-1, -1, rounds_, -1}).flatten(1, 2).unsqueeze(-1);
        return order.sorted(all);
      };
      const auto bucket = of_round(order.buckets.gather(2, order.places)), place = of_round(order.places);
      const auto of_keys = [&](const Tensor& x) { return blocks.keys(x).transpose(-1, -2); };
      const auto seen =
          (blocks.queries(bucket) == of_keys(bucket)).logical_and(in_reach(blocks.queries(place), of_keys(place)));
      times = times.defined() ? times + seen : seen.to(type);
    }
    return times.clamp_min(1);
  }

  /// Draws new hashes for the next step. Evaluation uses the latest hashes.
  void do_step(std::int64_t, const ablate::Generator& generator) override {
    if (!is_training() || !rotations_.defined()) return;
    const ablate::NoGradGuard none;
    rotations_.normal_(0, 1, generator);
  }

  std::int64_t rounds_, chunk_;
  bool across_, earlier_;
  std::vector<std::int64_t> factors_;  // their product is the number of buckets; empty: one bucket
  std::int64_t directions_ = 0;
  Tensor rotations_;  // [heads, rounds, d_head, directions]; undefined with one bucket
};

}  // namespace

ABLATE_ATTENTION(Reformer, {.id = "reformer",
                            .version = "1.0.0",
                            .summary = "attention among tokens that share a hash, in chunks of the sorted sequence",
                            .paper = "Kitaev et al. 2020, arXiv 2001.04451, section 2",
                            .capabilities = {.causal = true,
                                             .key_padding = true,
                                             .holes = true,
                                             .rotary = true,
                                             .weight_dropout = true,
                                             .averages = true,
                                             .sparse = true,
                                             .half_precision = true},
                            .parameters = parameters,
                            .promises = promises,
                            .exemptions = exemptions})
