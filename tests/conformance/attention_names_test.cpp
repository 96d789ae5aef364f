// A plain attention of four layers under two sets of names: what the suite finds does not depend on them.
#include "ablate/linear.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Slip {
  kNone,
  kDrops,     // three quarters of the weights are dropped in place of one
  kEmpty,     // an item without a token reads the mean of all its values
  kWeights,   // weights of a query that do not add up to 1, but for tokens alike
  kUnread,    // the keys' bias is registered, and nothing reads it
  kDetached,  // the queries' bias, cut off in training
};

template <Slip slip, bool usual>
class Plain final : public Attention {
 public:
  explicit Plain(const AttentionContext& context) : causal_(context.causal), dropout_(context.dropout) {
    const auto add = [&](const char* name, const char* other) {
      const auto layer = make_linear(context.d_model, context.d_model, true, context.generator);
      return register_module(usual ? name : other, layer);
    };
    query_ = add("query", "to_q");
    key_ = add("key", "to_k");
    value_ = add("value", "to_v");
    output_ = add("output", "to_out");
  }

 private:
  AttentionOutput do_forward(const AttentionInput& input) override {
    const auto n = input.queries.size(1), keys = input.context.size(1);
    const auto context =
        input.mask.defined() ? input.context.masked_fill(input.mask.logical_not().unsqueeze(-1), 0) : input.context;
    const auto query_bias = slip == Slip::kDetached && is_training() ? query_->bias.detach() : query_->bias;
    const auto q = split_heads(linear(input.queries, query_->weight, query_bias), 2),
               k = split_heads(linear(context, key_->weight, slip == Slip::kUnread ? Tensor() : key_->bias), 2),
               v = split_heads(value_->forward(context), 2);
    auto seen = ones({input.queries.size(0), 1, n, keys}, TensorOptions(kBool));
    if (input.mask.defined()) seen = seen.logical_and(input.mask.unsqueeze(1).unsqueeze(1));
    if (causal_) seen = seen.tril();
    auto weights = q.matmul(k.transpose(-1, -2)).masked_fill(seen.logical_not(), -1e30).softmax(-1);
    if (slip != Slip::kEmpty) weights = weights.masked_fill(seen.any(-1, true).logical_not(), 0);
    if (slip == Slip::kWeights) weights = weights * (1 + (weights - weights.mean(-1, true)).square().sum(-1, true));
    if (dropout_ > 0 && is_training()) {
      const double kept = slip == Slip::kDrops ? dropout_ : 1 - dropout_;
      weights = weights * empty(weights.sizes(), weights.options()).bernoulli_(kept, input.generator) / kept;
    }
    return {.output = output_->forward(merge_heads(weights.matmul(v)))};
  }

  bool causal_;
  double dropout_;
  std::shared_ptr<Linear> query_, key_, value_, output_;
};

template <Slip slip, bool usual>
const Descriptor& plain() {
  static const Descriptor made = tests::attention_of<Plain<slip, usual>>(
      {.id = "plain",
       .version = "1.0.0",
       .summary = "softmax attention of four layers",
       .capabilities = {
           .causal = true, .key_padding = true, .cross_attention = true, .weight_dropout = true, .averages = true}});
  return made;
}

const std::set<std::string> kAffected = {"dropout draws", "constants", "empty", "trained"};

template <bool usual>
void judges() {
  tests::Record record;
  CHECK(record.suite(plain<Slip::kNone, usual>(), kAffected).empty());
  CHECK(record.ran == kAffected);
  CHECK(record.fails(plain<Slip::kDrops, usual>(), "dropout draws"));
  if (usual) return;  // the faults of the other files have these names
  CHECK(record.fails(plain<Slip::kEmpty, usual>(), "empty"));
  CHECK(record.fails(plain<Slip::kWeights, usual>(), "constants"));
  CHECK(record.fails(plain<Slip::kUnread, usual>(), "trained"));
  CHECK(record.fails(plain<Slip::kDetached, usual>(), "trained"));
}

}  // namespace

TEST_CASE("a verdict does not depend on the names of layers", "[conformance]") {
  SECTION("query, key, value, output") { judges<true>(); }
  SECTION("to_q, to_k, to_v, to_out") { judges<false>(); }
}
