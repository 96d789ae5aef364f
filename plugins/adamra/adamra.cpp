// AdaMRA, adaptive multi-resolution attention: every query chooses the resolution at which it reads the sequence.
#include <optional>

#include "ablate/attention.h"
#include "ablate/linear.h"
#include "ablate/straight_through.h"
#include "choices.h"
#include "one_call.h"
#include "parameters.h"
#include "routing.h"

namespace {

using ablate::Similarity;
using ablate::Tensor;

using namespace ablate::adamra;

/// Two successive linear maps folded into one: x -> (x W^T + b) A. Costs d^3 operations per head instead of d^2 per token.
struct Folded {
  Tensor weight;  ///< [..., d, out]
  Tensor bias;    ///< [..., out]
  Folded(const ablate::Linear& first, const Tensor& second)
      : weight(first.weight.t().matmul(second)), bias(first.bias.unsqueeze(0).matmul(second).squeeze(-2)) {}
};

class AdaMra final : public ablate::Attention {
 public:
  explicit AdaMra(const ablate::AttentionContext& context)
      : rates_(context.parameters.rates("rates")),
        subheads_(context.parameters.integer("subheads")),
        similarity_(ablate::kSimilarityChoices.of(context.parameters, "feature_map")),
        routing_(kRoutings.of(context.parameters, "routing")),
        router_gradient_(kRouterGradients.of(context.parameters, "router_gradient")),
        compress_first_(context.parts.promises("compression").slots_have_keys),
        fused_(context.fused) {
    const auto d = context.width, heads = static_cast<std::int64_t>(rates_.size());
    const auto& generator = context.generator;
    if (d % subheads_ != 0)
      throw std::invalid_argument("subheads = " + std::to_string(subheads_) + " does not divide " +
                                  (d == context.d_model ? "d_model = " : "the part's width = ") + std::to_string(d));
    query_ = register_module("query", ablate::make_linear(context.d_model, d, true, generator));
    key_ = register_module("key", ablate::make_linear(context.d_model, d, true, generator));
    value_ = register_module("value", ablate::make_linear(context.d_model, d, true, generator));
    output_ = register_module("output", ablate::make_linear(d, context.d_model, true, generator));
    const auto matrix = [&](const char* name, ablate::IntArrayRef shape) {
      const double bound = 1.0 / std::sqrt(static_cast<double>(d));
      return register_parameter(name, ablate::empty(shape).uniform_(-bound, bound, generator));
    };
    head_query_ = matrix("head_query", {heads, d, d});
    head_key_ = matrix("head_key", {heads, d, d});
    head_value_ = matrix("head_value", {heads, d, d});
    if (routing_ == Routing::kLearned || weighs_all()) router_ = matrix("router", {d, heads});
    if (routing_ == Routing::kRandom)
      random_heads_ = register_buffer("random_heads", ablate::randint(heads, {context.max_length}, generator));
    for (std::size_t h = 0; h < rates_.size(); ++h) {
      // Compression comes before the per-head projections (section 3.2), so it reads one head with all channels. But a memory
      // without keys sums feature maps of keys when it is written, so for such a memory the keys are projected first.
      const ablate::Slots slots{rates_[h]};
      compressions_.push_back(register_module("compression_" + std::to_string(h + 1),
                                              compress_first_
                                                  ? context.parts.compression("compression", slots, 1, d)
                                                  : context.parts.compression("compression", slots, subheads_, d / subheads_)));
    }
    ablate::refuse_idle_similarity(*compressions_.front(), "feature_map", similarity_, Similarity::kRelu);
  }

 private:
  ablate::AttentionOutput do_forward(const ablate::AttentionInput& input) override {
    const bool self = input.queries.is_same(input.context);
    const auto gone = input.mask.defined() ? input.mask.logical_not().unsqueeze(-1) : Tensor();
    // Masked tokens are zeroed before any product, because 0 * NaN would reach the gradients of the weights.
    const auto context = gone.defined() ? input.context.masked_fill(gone, 0) : input.context;
    const auto queries = (self ? context : input.queries).flatten(0, 1);
    const auto batch = input.queries.size(0), n = input.queries.size(1);
    const auto real = self ? input.mask : Tensor();

    const bool whole = reads_in_one_call(input.queries);
    std::optional<Call> call;
    if (!whole) call.emplace(*this, context, input, batch);
    ablate::AttentionOutput result;
    Tensor probability;  // [batch * n, heads], Eq. 6
    if (router_.defined()) {
      // If the router gets no gradient, autograd stores nothing for it.
      c10::AutoGradMode gradient(c10::GradMode::is_enabled() && router_gradient_ != RouterGradient::kNone);
      const Folded router(*query_, router_);
      probability = router.bias.addmm(queries, router.weight).softmax(-1);
      if (input.measure) result.metrics.push_back({"router_entropy", entropy(probability, real), "bit"});
    }
    Tensor heads;
    if (routing_ == Routing::kAll) {
      heads = sum_of_heads(*call, queries, probability);
    } else {
      const auto [chosen, weight] = route(queries, probability, input, real, result);
      if (whole) {
        result.output = read_in_one_call(
            {*query_, *key_, *value_, *output_, head_query_, head_key_, head_value_, subheads_, map(), compressions_},
            {self ? context : input.queries, context, input.mask, input.generator}, chosen, weight, real);
        return result;
      }
      heads = chosen_heads(*call, queries, chosen, weight, real);
    }
    result.output = output_->forward(heads.view({batch, n, -1}));
    result.auxiliary_loss = call->auxiliary_loss();
    return result;
  }

  std::vector<std::shared_ptr<ablate::Linear>> do_output_projections() const override { return {output_}; }

  void do_step(std::int64_t step, const ablate::Generator& generator) override {
    for (const auto& compression : compressions_) compression->on_step(step, generator);
  }

  /// One forward pass: the tensors that all heads share, and the read of each head.
  class Call {
   public:
    Call(AdaMra& owner, const Tensor& context, const ablate::AttentionInput& input, std::int64_t batch)
        : owner_(owner), context_(context), mask_(input.mask), generator_(input.generator), batch_(batch) {
      const Folded query(*owner.query_, owner.head_query_);
      query_weights_ = query.weight.unbind();
      query_biases_ = query.bias.unbind();
      if (owner.compress_first_) {
        keys_ = owner.key_->forward(context).unsqueeze(1);
        values_ = owner.value_->forward(context).unsqueeze(1);
        key_weights_ = owner.head_key_.unbind();
        value_weights_ = owner.head_value_.unbind();
      } else {
        const Folded key(*owner.key_, owner.head_key_), value(*owner.value_, owner.head_value_);
        key_weights_ = key.weight.unbind();
        key_biases_ = key.bias.unbind();
        value_weights_ = value.weight.unbind();
        value_biases_ = value.bias.unbind();
      }
    }

    /// Reads in head h (Eq. 8). Applies Eq. 1 and the head's W^Q as one map.
    /// [batch * queries, d_model], layer inputs -> [batch * queries, width of the heads]
    Tensor read(std::size_t h, const Tensor& rows) {
      const auto q = query_biases_[h].addmm(rows, query_weights_[h]).view({batch_, -1, query_biases_[h].size(0)});
      const auto memory = written(h);
      const auto y = owner_.compressions_[h]->read(
          {.queries = ablate::split_heads(q, owner_.subheads_), .memory = memory, .similarity = owner_.similarity_});
      if (y.auxiliary_loss.defined())
        auxiliary_loss_ = auxiliary_loss_.defined() ? auxiliary_loss_ + y.auxiliary_loss : y.auxiliary_loss;
      return ablate::merge_heads(y.values).flatten(0, 1);
    }

    /// Sum of the losses of all heads read so far. Undefined if no head has a loss.
    const Tensor& auxiliary_loss() const { return auxiliary_loss_; }

   private:
    ablate::Memory written(std::size_t h) const {
      auto& compression = *owner_.compressions_[h];
      const auto project = [&](const Tensor& x, const Tensor& weight) {
        return ablate::split_heads(x.matmul(weight), owner_.subheads_);
      };
      if (owner_.compress_first_) {
        auto memory = compression.write({.keys = keys_, .values = values_, .mask = mask_, .generator = generator_});
        memory.keys = project(memory.keys.squeeze(1), key_weights_[h]);
        memory.values = project(memory.values.squeeze(1), value_weights_[h]);
        return memory;
      }
      const auto split = [&](const Tensor& weight, const Tensor& bias) {
        return ablate::split_heads(context_.matmul(weight) + bias, owner_.subheads_);
      };
      // Computes values before keys: gradients add up in the order of computation, and another order would give other bits.
      const auto values = split(value_weights_[h], value_biases_[h]), keys = split(key_weights_[h], key_biases_[h]);
      return compression.write({.keys = keys, .values = values, .mask = mask_, .generator = generator_});
    }

    AdaMra& owner_;
    Tensor context_, mask_, keys_, values_, auxiliary_loss_;
    ablate::Generator generator_;
    std::int64_t batch_;
    std::vector<Tensor> query_weights_, query_biases_, key_weights_, key_biases_, value_weights_, value_biases_;
  };

  bool weighs_all() const { return routing_ == Routing::kAll && router_gradient_ == RouterGradient::kScale; }

  /// Reads every query in every head and returns the sum, [batch * n, width].
  Tensor sum_of_heads(Call& call, const Tensor& queries, const Tensor& probability) const {
    const auto weights = weighs_all() ? probability.unsqueeze(-1).unbind(1) : std::vector<Tensor>();
    Tensor sum;
    for (std::size_t h = 0; h < rates_.size(); ++h) {
      auto y = call.read(h, queries);
      if (!weights.empty()) y = y * weights[h];
      sum = h == 0 ? y : sum + y;
    }
    return sum;
  }

  /// True if one operation can do all reads. The slots must be means of tokens, and a feature map must read them.
  bool reads_in_one_call(const Tensor& queries) const {
    const auto width = output_->weight.size(1);
    return fused_ && routing_ != Routing::kAll && similarity_ != Similarity::kSoftmax && compressions_[0]->slots_are_means() &&
           queries.size(2) == width && ablate::may_group_attention(queries, width, subheads_);
  }
  ablate::FeatureMap map() const {
    return similarity_ == Similarity::kRelu ? ablate::FeatureMap::kRelu : ablate::FeatureMap::kElu;
  }

  struct Route {
    Tensor chosen;  ///< [batch, n] int64, each query's head
    Tensor weight;  ///< [batch * n, 1], the factor of the head's output; undefined: 1
  };
  Route route(const Tensor& queries, const Tensor& probability, const ablate::AttentionInput& input, const Tensor& real,
              ablate::AttentionOutput& result) const {
    const auto batch = input.queries.size(0), n = input.queries.size(1);
    const auto heads = static_cast<std::int64_t>(rates_.size());
    Route to;
    if (routing_ == Routing::kLearned) {
      auto [highest, index] = probability.max(-1, true);
      to.chosen = index.view({batch, n});
      if (router_gradient_ == RouterGradient::kScale) to.weight = highest;
      if (router_gradient_ == RouterGradient::kStraightThrough)
        to.weight = ablate::straight_through(ablate::ones(highest.sizes(), highest.options().requires_grad(false)), highest);
    } else if (is_training()) {
      to.chosen =
          ablate::randint(heads, {batch, n}, input.generator, queries.options().dtype(ablate::kLong).requires_grad(false));
    } else {
      to.chosen = random_heads_.narrow(0, 0, n).expand({batch, n});
    }
    if (input.measure)
      for (auto& share : head_shares(to.chosen, real, heads)) result.metrics.push_back(std::move(share));
    return to;
  }

  /// Reads every query only in its head and returns [batch * n, width]. Writes no memory for a head without queries.
  Tensor chosen_heads(Call& call, const Tensor& queries, const Tensor& chosen, const Tensor& weight, const Tensor& real) const {
    const auto batch = chosen.size(0), n = chosen.size(1);
    const auto assignment = assign(chosen, real, static_cast<std::int64_t>(rates_.size()));
    if (assignment.row_count() == 0)
      return ablate::zeros({batch * n, output_->weight.size(1)}, queries.options().requires_grad(false));

    std::vector<std::int64_t> sizes;
    for (const auto width : assignment.widths) sizes.push_back(batch * width);
    const auto blocks = move_rows(queries, assignment.queries, assignment.rows).split_with_sizes(sizes);
    std::vector<Tensor> read;
    for (std::size_t h = 0; h < rates_.size(); ++h)
      if (sizes[h] > 0) read.push_back(call.read(h, blocks[h]));
    const auto all = read.size() == 1 ? read.front() : ablate::cat(read);
    const auto y = move_rows(all, assignment.rows, assignment.queries);
    return weight.defined() ? weigh_rows(y, weight) : y;
  }

  std::vector<ablate::Rate> rates_;
  std::int64_t subheads_;
  Similarity similarity_;
  Routing routing_;
  RouterGradient router_gradient_;
  bool compress_first_, fused_;
  std::shared_ptr<ablate::Linear> query_, key_, value_, output_;
  Tensor head_query_, head_key_, head_value_;  // [heads, width in, width out], subheads side by side (Eq. 9)
  Tensor router_;                              // W of Eq. 6, [width, heads]
  Tensor random_heads_;                        // [max_length]: the head of each position, for evaluation under random routing
  std::vector<std::shared_ptr<ablate::Compression>> compressions_;
};

}  // namespace

ABLATE_ATTENTION(AdaMra, {.id = "adamra",
                          .version = "1.0.0",
                          .summary = "every query chooses the resolution at which it reads the sequence, in linear time",
                          .paper = "Zhang et al. 2021, Adaptive Multi-Resolution Attention, arXiv 2108.04962, Eq. 6 to 9",
                          .capabilities = {.key_padding = true, .cross_attention = true},
                          .parameters = parameters,
                          .promises = promises,
                          .exemptions = exemptions})
