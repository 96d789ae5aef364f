// Image Transformer (Parmar et al. 2018): rectangles of a picture attend to themselves and the memory around them. In one
// dimension the blocks are runs of positions in row order. README.md lists the differences from the paper.
#include "ablate/blocks.h"
#include "ablate/headwise.h"
#include "frame.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;
using image_local::Frame;

constexpr ablate::Oracle oracles[] = {{R"({"dimensions": "1d", "block": 4096})", "softmax"},
                                      {R"({"block_columns": 4096})", "softmax"}};

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::text("dimensions", "\"2d\"", "2d|1d",
                 "rectangles of the picture, or blocks of its pixels in row order; a task without a picture is one row"),
    ablate::when("dimensions = 1d", ablate::integer("block", "64", {1, 65536}, "places of a block", "tokens")),
    ablate::when(
        "dimensions = 1d",
        ablate::integer("memory", "64", {0, 65536},
                        "places before a block that the block attends to; if bidirectional, as many after it", "tokens")),
    ablate::when("dimensions = 2d", ablate::integer("block_rows", "8", {1, 4096}, "height of a rectangle", "pixels")),
    ablate::when("dimensions = 2d", ablate::integer("block_columns", "8", {1, 4096}, "width of a rectangle", "pixels")),
    ablate::when(
        "dimensions = 2d",
        ablate::integer("memory_rows", "8", {0, 4096},
                        "rows above a rectangle that the rectangle attends to; if bidirectional, as many below", "pixels")),
    ablate::when("dimensions = 2d",
                 ablate::integer("memory_columns", "8", {0, 4096},
                                 "columns on each side of a rectangle that the rectangle attends to", "pixels")),
};

class ImageLocal final : public ablate::HeadwiseAttention {
 public:
  explicit ImageLocal(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")), prefix_(context.prefix) {
    const auto& values = context.parameters;
    if (values.text("dimensions") == "1d") {
      block_columns_ = values.integer("block");
      memory_columns_ = values.integer("memory");
      return;
    }
    const auto& picture = context.geometry;
    const bool is_picture = picture.rows > 0;
    const auto channels = is_picture ? picture.channels : 1;
    columns_ = is_picture ? picture.columns * channels : 0;
    block_rows_ = values.integer("block_rows");
    memory_rows_ = values.integer("memory_rows");
    block_columns_ = values.integer("block_columns") * channels;
    memory_columns_ = values.integer("memory_columns") * channels;
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("image-local: queries and context have to be one sequence");
    const auto n = input.q.size(2), prefix = std::min(prefix_, n), places = n - prefix;
    const auto mask = ablate::mask_or_all(input.mask, n, input.k);
    std::vector<Tensor> parts;
    if (prefix > 0) parts.push_back(of_prefix(input, mask, prefix));
    if (places > 0) parts.push_back(of_picture(input, mask, prefix, places));
    return {.values = parts.size() == 1 ? parts.front() : ablate::cat(parts, 2)};
  }

  Frame frame(std::int64_t places) const {
    const auto columns = columns_ > 0 ? columns_ : places, rows = (places + columns - 1) / columns;
    const bool one = rows == 1;
    const auto up = one ? 0 : std::min(memory_rows_, rows), aside = std::min(memory_columns_, columns);
    return {.rows = rows,
            .columns = columns,
            .block_rows = std::min(block_rows_, rows),
            .block_columns = std::min(block_columns_, columns),
            .above = up,
            .below = causal() ? 0 : up,
            .left = aside,
            .right = one && causal() ? 0 : aside};
  }

  /// Each position attends to its rectangle, to the memory around the rectangle, and to the prefix before the picture.
  Tensor of_picture(const HeadInput& input, const Tensor& mask, std::int64_t prefix, std::int64_t places) const {
    const auto cut = frame(places);
    const auto own = [&](const Tensor& x) { return x.narrow(2, prefix, places); };
    auto seen = cut.keys(own(mask.unsqueeze(1).unsqueeze(-1))).squeeze(-1).unsqueeze(3);
    if (causal()) seen = seen.logical_and(cut.no_later(mask.device()));
    auto keys = cut.keys(own(input.k)), values = cut.keys(own(input.v));
    if (prefix > 0) {
      const auto beside = [&](const Tensor& x, const Tensor& all) {
        return ablate::cat({all.narrow(2, 0, prefix).unsqueeze(2).expand({-1, -1, x.size(2), -1, -1}), x}, 3);
      };
      keys = beside(keys, input.k);
      values = beside(values, input.v);
      const auto there = mask.narrow(1, 0, prefix).view({-1, 1, 1, 1, prefix});
      seen = ablate::cat({there.expand({-1, -1, seen.size(2), seen.size(3), -1}), seen}, 4);
    }
    return cut.joined(ablate::attend_blocks(cut.queries(own(input.q)), keys, values, seen, dropout(), input.generator), places);
  }

  /// The prefix (a class token) attends to all positions or, if causal, to the positions up to its own.
  Tensor of_prefix(const HeadInput& input, const Tensor& mask, std::int64_t prefix) const {
    auto seen = mask.unsqueeze(1).unsqueeze(1);
    if (causal()) seen = seen.logical_and(ablate::ones({prefix, mask.size(1)}, mask.options()).tril());
    return ablate::attend_seen(input.q.narrow(2, 0, prefix), input.k, input.v, seen, dropout(), input.generator);
  }

  std::int64_t prefix_;
  std::int64_t columns_ = 0;                                                                // positions per row; 0: one row
  std::int64_t block_rows_ = 1, block_columns_ = 1, memory_rows_ = 0, memory_columns_ = 0;  // in positions
};

}  // namespace

ABLATE_ATTENTION(ImageLocal, {.id = "image-local",
                              .version = "1.0.0",
                              .summary = "rectangles of a picture, or blocks of a row, and the memory around them",
                              .paper = "Parmar et al. 2018, arXiv 1802.05751, section 3.3",
                              .capabilities = {.causal = true,
                                               .key_padding = true,
                                               .holes = true,
                                               .rotary = true,
                                               .weight_dropout = true,
                                               .averages = true,
                                               .sparse = true,
                                               .half_precision = true},
                              .parameters = parameters,
                              .oracles = oracles})
