// Attention over one compressed memory: every query reads it at one resolution. The counterpart of AdaMRA's several.
#include "ablate/headwise.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::rate("rate", "\"1/4\"", "slots of the memory per token, rounded up"),
    ablate::plugin("compression", "compression", "how the sequence is written into the memory"),
    ablate::text(
        "read", "\"softmax\"", "softmax|elu+1|relu",
        "how alike a query and a slot's key are; a memory with a kernel of its own (rbf, random-features) does not use it"),
};

ablate::Similarity similarity(const std::string& name) {
  if (name == "softmax") return ablate::Similarity::kSoftmax;
  return name == "relu" ? ablate::Similarity::kRelu : ablate::Similarity::kElu;
}

class CompressedAttention : public ablate::HeadwiseAttention {
 public:
  explicit CompressedAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        similarity_(similarity(context.parameters.text("read"))),
        compression_(context.make_compression(context.parameters.rate("rate"), heads(), d_head())) {
    register_module("compression", compression_);
  }

  torch::Tensor attend(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& values,
                       const torch::Tensor& mask) override {
    return compression_->read(queries, compression_->write(keys, values, mask), similarity_);
  }

  void on_step(std::int64_t step) override { compression_->on_step(step); }

 private:
  ablate::Similarity similarity_;
  std::shared_ptr<ablate::Compression> compression_;
};

}  // namespace

// The exponents are those of a softmax read at a fixed rate; with a kernel read both are 1.
ABLATE_ATTENTION(CompressedAttention, {.id = "compressed",
                                       .version = "1.0.0",
                                       .summary = "attention over one memory of ceil(rate n) slots, any compression",
                                       .paper = "Zhang et al. 2021, AdaMRA, arXiv 2108.04962, section 3.2 at one resolution",
                                       .capabilities = {.key_padding = true,
                                                        .cross_attention = true,
                                                        .takes_compression = true,
                                                        .averages = true,
                                                        .half_precision = true,
                                                        .time_exponent = 2,
                                                        .memory_exponent = 2},
                                       .parameters = parameters})
