// Longformer (Beltagy et al. 2020): a sliding window around each token, dilated in some heads. A few global tokens attend to
// all tokens through separate projections, and all tokens attend to them. README.md lists the differences from the paper.
#include <stdexcept>
#include <string>

#include "ablate/blocks.h"
#include "ablate/headwise.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Linear;
using ablate::Neighbours;
using ablate::Tensor;

constexpr ablate::Oracle oracles[] = {{R"({"window": 8192})", "softmax"}};

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("window", "64", {2, 65536},
                    "attended tokens: half on each side of a token or, if causal, all before it; must be even", "tokens"),
    ablate::integer("top_window", "0", {0, 65536},
                    "window of the last layer, reached from the first layer's in equal steps; 0: the same in all", "tokens"),
    ablate::integer("dilation", "1", {1, 64}, "distance between attended tokens in dilated heads; 1: no gaps", "tokens"),
    ablate::integer("dilated_heads", "2", {0, 64}, "number of dilated heads, if dilation is above 1"),
    ablate::integer("global_tokens", "0", {0, 1024},
                    "global tokens at the front, besides a class token: they attend to all tokens, and all attend to them; "
                    "above 0: bidirectional only, without a state",
                    "tokens"),
};

ablate::Capabilities promises(const ablate::Capabilities& declared, const ablate::Values& values,
                              std::span<const ablate::Capabilities>) {
  auto result = declared;
  const bool global = values.integer("global_tokens") > 0;  // a global token attends to later tokens
  result.causal = result.stateful = !global;
  result.holes = global;  // a memory requires padding at the end of segments
  return result;
}

/// Returns this layer's window, an even number: from `window` in the first layer to `top_window` in the last, in equal steps.
std::int64_t window_of(const ablate::AttentionContext& context) {
  const auto bottom = context.parameters.integer("window"), top_window = context.parameters.integer("top_window");
  const auto top = top_window > 0 ? top_window : bottom, steps = std::max<std::int64_t>(context.layers - 1, 1);
  for (const auto window : {bottom, top})
    if (window % 2 != 0) throw std::invalid_argument("window = " + std::to_string(window) + " is odd: expected an even number");
  return bottom + (top - bottom) / 2 * context.layer / steps * 2;
}

class Longformer final : public ablate::HeadwiseAttention {
 public:
  explicit Longformer(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, {.heads = context.parameters.integer("heads"), .memory = memory_of(context)}),
        before_(before_of(context)),
        behind_(context.causal ? 0 : before_),
        dilation_(context.parameters.integer("dilation")),
        dilated_(dilation_ > 1 ? context.parameters.integer("dilated_heads") : 0),
        global_(context.causal || context.carries ? 0 : context.prefix + context.parameters.integer("global_tokens")),
        rotary_(context.positions == ablate::Positions::kRotary) {
    if (dilated_ > heads())
      throw std::invalid_argument("dilated_heads = " + std::to_string(dilated_) +
                                  ", expected at most heads = " + std::to_string(heads()));
    if (global_ == 0) return;
    const auto project = [&](const char* name, const char* like) {
      const auto width = heads() * d_head();
      const auto linear = register_module(name, ablate::make_linear(context.d_model, width, true, context.generator));
      const ablate::NoGradGuard none;  // the global projections start as copies of the window's projections (section 3.1)
      for (const auto& entry : parameters_like(like))
        (entry.name.ends_with("weight") ? linear->weight : linear->bias).copy_(entry.tensor);
      return linear;
    };
    query_ = project("global_query", "query.");
    key_ = project("global_key", "key.");
    value_ = project("global_value", "value.");
  }

 private:
  static std::int64_t before_of(const ablate::AttentionContext& context) {
    return context.causal ? window_of(context) : window_of(context) / 2;
  }
  /// Returns the number of tokens of earlier segments that the widest head reads.
  static std::int64_t memory_of(const ablate::AttentionContext& context) {
    if (!context.carries) return 0;
    const auto& values = context.parameters;
    return before_of(context) * (values.integer("dilated_heads") > 0 ? values.integer("dilation") : 1);
  }
  std::vector<Entry> parameters_like(const std::string& prefix) const {
    auto all = parameters();
    std::erase_if(all, [&](const Entry& entry) { return !entry.name.starts_with(prefix); });
    return all;
  }

  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("longformer: queries and context have to be one sequence");
    const auto n = input.q.size(2), plain = heads() - dilated_;
    std::vector<Tensor> parts;
    if (plain > 0) parts.push_back(in_window(input, 0, plain, 1));
    if (dilated_ > 0) parts.push_back(in_window(input, plain, dilated_, dilation_));
    const auto values = parts.size() == 1 ? parts.front() : ablate::cat(parts, 1);
    const auto global = std::min(global_, n);
    if (global == 0) return {.values = values};
    return {.values = ablate::cat({of_global(input, global), values.narrow(2, global, n - global)}, 2)};
  }

  /// Attention of some heads to each token's window and to the global tokens, in one softmax.
  Tensor in_window(const HeadInput& input, std::int64_t first, std::int64_t count, std::int64_t step) const {
    const auto batch = input.q.size(0), n = input.q.size(2), global = std::min(global_, n);
    // These heads read only the end of the memory.
    const auto offset = std::min(input.offset, before_ * step), unseen = input.offset - offset;
    const auto of_keys = [&](const Tensor& x) { return x.narrow(1, first, count).narrow(2, unseen, offset + n); };
    auto mask = ablate::mask_or_all(input.mask, input.k.size(2), input.k).narrow(1, unseen, offset + n);
    if (step > 1) mask = mask.expand({batch, -1});
    const auto own = global > 0 ? mask.logical_and(ablate::arange(n, input.k.device()) >= global) : mask;

    const auto q = ablate::apart(input.q.narrow(1, first, count), step), k = of_keys(input.k), v = of_keys(input.v);
    const auto length = q.size(2);
    const bool one = offset == 0 && length <= before_;  // then the only block has no neighbours
    const Neighbours blocks{
        .size = one ? length : before_, .before = one ? 0 : 1, .behind = one || behind_ == 0 ? 0 : 1, .offset = offset / step};
    const auto distance = blocks.distance(q.device());
    const auto near = (distance >= -before_).logical_and(distance <= behind_);
    auto seen = blocks.present(ablate::mask_apart(own, step)).logical_and(near);
    auto keys = blocks.keys(ablate::apart(k, step)), values = blocks.keys(ablate::apart(v, step));
    if (global > 0) {
      const auto beside = [&](const Tensor& x, const Tensor& all) {
        const auto each = all.narrow(2, 0, global).unsqueeze(1).expand({-1, step, -1, -1, -1}).flatten(0, 1);
        return ablate::cat({each.unsqueeze(2).expand({-1, -1, x.size(2), -1, -1}), x}, 3);
      };
      keys = beside(keys, k);
      values = beside(values, v);
      const auto present = mask.narrow(1, 0, global).unsqueeze(1).expand({-1, step, -1}).flatten(0, 1);
      const auto each = present.view({-1, 1, 1, 1, global}).expand({-1, 1, seen.size(2), seen.size(3), -1});
      seen = ablate::cat({each, seen}, 4);
    }
    const auto read = ablate::attend_blocks(blocks.queries(q), keys, values, seen, dropout(), input.generator);
    return ablate::together(blocks.joined(read, length), step, n);
  }

  /// Attention of the global tokens to all tokens, by separate projections: [batch, heads, global, d_head].
  Tensor of_global(const HeadInput& input, std::int64_t global) const {
    const auto project = [&](const std::shared_ptr<Linear>& linear, const Tensor& x, bool turn) {
      const auto y = ablate::split_heads(linear->forward(x, fused()), heads());
      return turn && rotary_ ? ablate::rotate_positions(y, input.position, 0) : y;
    };
    const auto q = project(query_, input.context.narrow(1, 0, global), true);
    const auto mask = ablate::mask_or_all(input.mask, input.k.size(2), input.k).unsqueeze(1).unsqueeze(1);
    return ablate::attend_seen(q, project(key_, input.context, true), project(value_, input.context, false), mask, dropout(),
                               input.generator);
  }

  std::int64_t before_, behind_;  // tokens of a window before and after the query, in steps of the head's dilation
  std::int64_t dilation_, dilated_, global_;
  bool rotary_;
  std::shared_ptr<Linear> query_, key_, value_;  // for global tokens; null if there are none
};

}  // namespace

ABLATE_ATTENTION(Longformer, {.id = "longformer",
                              .version = "1.0.0",
                              .summary = "a sliding window, dilated in some heads, and global tokens, in linear time",
                              .paper = "Beltagy et al. 2020, arXiv 2004.05150, sections 3.1 and 4.1",
                              .capabilities = {.causal = true,
                                               .key_padding = true,
                                               .stateful = true,
                                               .rotary = true,
                                               .weight_dropout = true,
                                               .averages = true,
                                               .sparse = true,
                                               .half_precision = true},
                              .parameters = parameters,
                              .promises = promises,
                              .oracles = oracles})
