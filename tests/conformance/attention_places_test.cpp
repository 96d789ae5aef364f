// Surroundings of a place: class tokens, pictures, layers, short training. Right and wrong attentions depend on these
// surroundings and are checked in them. The last two test cases check a learned table that has more entries than a short input
// reads, and an attention that adds values up without averaging them.
#include "ablate/headwise.h"
#include "core/trial/conformance/attention/subject.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Look {
  kRight,           // a window that depends on a class token, the layer and a picture's columns
  kMaskOfTokens,    // ignores the mask if there is a class token
  kLayerLeak,       // not causal from the second layer on
  kPictureLeak,     // not causal in a picture
  kPictureAlone,    // ignores the mask in a picture with a class token
  kShortTable,      // NaN beyond the training length
  kRefusesPicture,  // right: throws an exception for pictures
};

class Placed : public HeadwiseAttention {
 public:
  Placed(const AttentionContext& context, Look look)
      : HeadwiseAttention(context, 2),
        look_(look),
        prefix_(context.prefix),
        layer_(context.layer),
        columns_(context.geometry.rows > 0 ? context.geometry.columns : 0),
        trained_(context.train_length) {
    if (look == Look::kRefusesPicture && columns_ > 0) throw std::invalid_argument("no pictures");
  }

 private:
  bool is(Look look) const { return look_ == look; }

  HeadOutput attend(const HeadInput& input) override {
    auto scores = input.q.matmul(input.k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    const auto n = scores.size(2), keys = scores.size(3);
    const auto here = arange(n).unsqueeze(1), there = arange(keys).unsqueeze(0);
    auto gone = (here - there).abs() > 4 * (layer_ + 1);
    gone = gone.logical_and(there >= prefix_);  // all queries see the class token
    if (columns_ > 0) gone = gone.logical_and((here - prefix_).remainder(columns_).ne((there - prefix_).remainder(columns_)));
    const bool leaks = (is(Look::kLayerLeak) && layer_ > 0) || (is(Look::kPictureLeak) && columns_ > 0);
    if (causal() && !leaks) gone = gone.logical_or(there > here);
    gone = gone.unsqueeze(0).unsqueeze(0);
    const bool forgets = (is(Look::kMaskOfTokens) && prefix_ > 0) || (is(Look::kPictureAlone) && prefix_ > 0 && columns_ > 0);
    if (input.mask.defined() && !forgets) gone = gone.logical_or(input.mask.logical_not().unsqueeze(1).unsqueeze(1));
    if (is(Look::kShortTable) && keys > trained_) scores = scores * std::nan("");
    const auto weights = (scores - scores.detach().amax(-1, true)).exp().masked_fill(gone, 0);
    const auto sum = weights.sum(-1, true);
    return {.values = (weights / sum.masked_fill(sum <= 0, 1)).matmul(input.v)};
  }

  Look look_;
  std::int64_t prefix_, layer_, columns_, trained_;
};

template <Look look>
struct Made final : Placed {
  explicit Made(const AttentionContext& context) : Placed(context, look) {}
};

template <Look look>
const Descriptor& placed() {
  static const Descriptor made = tests::attention_of<Made<look>>(
      {.id = "placed",
       .version = "1.0.0",
       .summary = "a window",
       .capabilities = {.causal = true, .key_padding = true, .averages = true, .sparse = true}});
  return made;
}

const tests::AddVariants added = {
    {"the mask forgotten behind a class token", &placed<Look::kMaskOfTokens>(), "padding"},
    {"causality forgotten in a later layer", &placed<Look::kLayerLeak>(), "causal"},
    {"causality forgotten in a picture", &placed<Look::kPictureLeak>(), "causal"},
    {"the mask forgotten in a picture behind a class token", &placed<Look::kPictureAlone>(), "padding"},
    {"a table as long as training", &placed<Look::kShortTable>(), "lengths"},
};

/// Adds a learned bias by distance, up to 100 tokens. If `dead`, reads only the first 60 of the 100 numbers.
template <bool dead>
class Distances final : public HeadwiseAttention {
 public:
  explicit Distances(const AttentionContext& context) : HeadwiseAttention(context, 2) {
    table_ = register_parameter("table", randn({100}, context.generator));
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    auto scores = input.q.matmul(input.k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    const auto away = (arange(scores.size(2)).unsqueeze(1) - arange(scores.size(3)).unsqueeze(0)).abs();
    const auto bias = table_.to(scores.scalar_type()).index_select(0, away.clamp(0, dead ? 59 : 99).flatten());
    return {.values = (scores + bias.view_as(away)).softmax(-1).matmul(input.v)};
  }
  Tensor table_;
};

/// Sums of products without a normaliser: with inputs of 1e4 they overflow float16.
class Sums final : public HeadwiseAttention {
 public:
  explicit Sums(const AttentionContext& context) : HeadwiseAttention(context, 2) {}

 private:
  HeadOutput attend(const HeadInput& input) override {
    const auto wide = [](const Tensor& x) { return x.element_size() < 4 ? x.to(kFloat) : x; };
    const auto weights = wide(input.q).matmul(wide(input.k).transpose(-1, -2)).masked_fill(gone(input), 0);
    return {.values = weights.matmul(wide(input.v)).to(input.v.scalar_type())};
  }
  static Tensor gone(const HeadInput& input) {
    return input.mask.defined() ? input.mask.logical_not().unsqueeze(1).unsqueeze(1)
                                : zeros({1, 1, 1, 1}, TensorOptions(kBool));
  }
};

template <class Made>
Descriptor plain(const Capabilities& promises) {
  return tests::attention_of<Made>({.id = "plain", .version = "1.0.0", .summary = "a bias", .capabilities = promises});
}

}  // namespace

TEST_CASE("an attention is checked with exactly the surroundings that change its results", "[conformance]") {
  const auto around = [](const Descriptor& plugin) {
    const auto stands = AttentionSubject(tests::candidate_of(plugin)).stands();
    return std::count_if(stands.begin(), stands.end(), [](const Stand& stand) { return stand.around != Around::kNothing; });
  };
  CHECK(around(placed<Look::kRight>()) == 8);  // causal or not, each with a class token, a picture, both, or a later layer
  CHECK(around(placed<Look::kShortTable>()) == 10);
  CHECK(around(placed<Look::kRefusesPicture>()) == 4);
  CHECK(around(plain<Distances<false>>({})) == 0);
  tests::Record record;
  CHECK(record.suite(placed<Look::kRight>()).empty());
  CHECK(record.suite(placed<Look::kRefusesPicture>(), {"padding", "causal", "lengths", "gradient"}).empty());
  tests::check_mentions(tests::found(placed<Look::kLayerLeak>(), "causal"), "layer 1 of 3");
}

TEST_CASE("a table that is longer than short inputs gets its gradients from longer inputs", "[conformance]") {
  tests::Record record;
  CHECK(record.suite(plain<Distances<false>>({}), {"trained"}).empty());
  tests::check_mentions(tests::found(plain<Distances<true>>({}), "trained"), "40 of 100 places along dimension 0, from 60 on");
}

TEST_CASE("with inputs of 1e4, an average must be finite in float16, and a sum need not be finite", "[conformance]") {
  Capabilities promises = {.key_padding = true, .half_precision = true, .time_exponent = 2, .memory_exponent = 2};
  CHECK(tests::found(plain<Sums>(promises), "half").empty());
  promises.averages = true;
  tests::check_mentions(tests::found(plain<Sums>(promises), "half"), "inputs of 1e4");
}
