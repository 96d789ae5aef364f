// Attentions that are wrong only at some lengths, at one token, in batches of some sizes, or beyond 2,048 tokens.
#include "ablate/headwise.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Place {
  kNone,
  kMask128,        // ignores the mask at lengths that are multiples of 128
  kMask16,         // ignores the mask at lengths that are multiples of 16, up to 64 tokens
  kMaskOfOne,      // ignores the mask in a batch of one item
  kPrime,          // does not read the last token if the length is a prime above 64
  kRest,           // does not read the last token if the length is one more than a multiple of 64
  kMatesMask,      // with 8 items or more, an item gets its neighbour's mask
  kMatesScale,     // with 8 items or more, divides scores by a mean over all items
  kGradientThree,  // half a gradient of queries at 3 tokens
  kGradientSix,    // no gradient of keys at 6 tokens
  kForgets2048,    // does not read keys from 2048 on
  kForgets2304,    // does not read keys from 2304 on
  kSilent2304,     // queries from 2304 on read nothing
  kMask2304,       // with more than 2304 tokens, ignores the mask
  kFuture2304,     // with more than 2304 tokens, reads the future
  kMask2048,       // with more than 2048 tokens, ignores the mask
  kFuture2048,     // with more than 2048 tokens, reads the future
  kLeak111,        // with more than 200 tokens, output 111 reads value 112, without a gradient
  kLeak171,        // the same for output 171 and value 172
  kLeak895,        // the same for output 895 and value 896
  kScaled128,      // larger causal outputs at lengths that are multiples of 128
  kScaledPrime,    // larger causal outputs at lengths that are primes above 64
  kTwice,          // causal weights sum to 2
  kHalf64,         // causal weights sum to 1/2 at lengths that are multiples of 64
  kMore2048,       // with more than 2048 tokens, weights sum to 3/2
  kUnread128,      // if causal, with 128 tokens, the last token does not read the first
  kUnreadFour,     // with 4 tokens, only the third token reads the third
};

bool is_prime(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

class Places : public HeadwiseAttention {
 public:
  Places(const AttentionContext& context, Place fault) : HeadwiseAttention(context, 2), fault_(fault) {}

 private:
  bool is(Place place) const { return fault_ == place; }

  bool forgets_mask(std::int64_t n) const {
    return (is(Place::kMask2304) && n > 2304) || (is(Place::kMask128) && n % 128 == 0) ||
           (is(Place::kMask16) && n % 16 == 0 && n <= 64) || (is(Place::kMask2048) && n > 2048);
  }

  Tensor unread(const HeadInput& input, std::int64_t n, std::int64_t keys) const {
    const auto here = arange(n).unsqueeze(1), there = arange(keys).unsqueeze(0);
    auto gone = zeros({1, 1, n, keys}, TensorOptions(kBool));
    const bool sees_future = (is(Place::kFuture2048) && n > 2048) || (is(Place::kFuture2304) && n > 2304);
    if (causal() && !sees_future) gone = gone.logical_or(there > here);
    const bool drops_last =
        (is(Place::kPrime) && keys > 64 && is_prime(keys)) || (is(Place::kRest) && keys > 64 && keys % 64 == 1);
    if (drops_last) gone = gone.logical_or((there == keys - 1).logical_and(here < n - 1));
    if (is(Place::kForgets2048)) gone = gone.logical_or((there >= 2048).logical_and(here != there));
    if (is(Place::kForgets2304)) gone = gone.logical_or((there >= 2304).logical_and(here != there));
    if (is(Place::kSilent2304)) gone = gone.logical_or(here >= 2304);
    if (is(Place::kUnread128) && causal() && keys == 128) gone = gone.logical_or((there == 0).logical_and(here == n - 1));
    if (is(Place::kUnreadFour) && keys == 4) gone = gone.logical_or((there == 2).logical_and(here != 2));
    if (!input.mask.defined() || forgets_mask(keys) || (is(Place::kMaskOfOne) && input.mask.size(0) == 1)) return gone;
    auto mask = input.mask;
    if (is(Place::kMatesMask) && mask.size(0) >= 8) mask = mask.roll(1, 0);
    return gone.logical_or(mask.logical_not().unsqueeze(1).unsqueeze(1));
  }

  double sum_of_weights(std::int64_t n) const {
    if (is(Place::kTwice) && causal()) return 2;
    if (is(Place::kHalf64) && causal() && n % 64 == 0) return 0.5;
    if (is(Place::kMore2048) && n > 2048) return 1.5;
    const bool larger = (is(Place::kScaled128) && n % 128 == 0) || (is(Place::kScaledPrime) && n > 64 && is_prime(n));
    return larger && causal() ? 1.1 : 1;
  }

  HeadOutput attend(const HeadInput& input) override {
    auto q = input.q, k = input.k;
    const auto n = q.size(2), keys = k.size(2);
    if (is(Place::kGradientThree) && n == 3) q = q * 0.5 + q.detach() * 0.5;
    if (is(Place::kGradientSix) && n == 6) k = k.detach();
    auto scores = q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    if (is(Place::kMatesScale) && q.size(0) >= 8) scores = scores / (scores.detach().abs().mean() + 1);
    const auto gone = unread(input, n, keys);
    const auto weights = (scores - scores.detach().amax(-1, true)).exp().masked_fill(gone, 0);
    const auto sum = weights.sum(-1, true);
    auto read = (weights / sum.masked_fill(sum <= 0, 1)).matmul(input.v) * sum_of_weights(n);
    for (const auto& [fault, at] : {std::pair{Place::kLeak111, 111}, {Place::kLeak171, 171}, {Place::kLeak895, 895}})
      if (is(fault) && causal() && n > std::max(at + 1, 200)) {
        const auto later = input.v.detach().narrow(2, at + 1, 1) * 1e-3;
        read = read + later * (arange(n) == at).to(read.scalar_type()).view({1, 1, n, 1});
      }
    return {.values = read};
  }

  Place fault_;
};

template <Place place>
struct Made final : Places {
  explicit Made(const AttentionContext& context) : Places(context, place) {}
};

/// @param padded true if key_padding is promised
template <Place place, bool padded = true>
const Descriptor& placed() {
  static const Descriptor made = tests::attention_of<Made<place>>(
      {.id = "places",
       .version = "1.0.0",
       .summary = "softmax attention with a fault at some lengths",
       .capabilities = {.causal = true, .key_padding = padded, .averages = true, .time_exponent = 2, .memory_exponent = 2}});
  return made;
}

const tests::AddVariants added = {
    {"the mask forgotten at multiples of 128", &placed<Place::kMask128>(), "padding"},
    {"the mask forgotten at multiples of 16", &placed<Place::kMask16>(), "padding"},
    {"the mask forgotten of one item", &placed<Place::kMaskOfOne>(), "padding"},
    {"the last token unread of primes above 64", &placed<Place::kPrime>(), "padding"},
    {"the last token unread if one is left after blocks of 64", &placed<Place::kRest>(), "padding"},
    {"the mask of a mate in batches of 8", &placed<Place::kMatesMask>(), "padding"},
    {"scores scaled by all mates in batches of 8", &placed<Place::kMatesScale, false>(), "batch"},
    {"half a gradient at 3 tokens", &placed<Place::kGradientThree>(), "gradient"},
    {"no gradient of keys at 6 tokens", &placed<Place::kGradientSix>(), "gradient"},
    {"the mask forgotten beyond 2048", &placed<Place::kMask2048>(), "long"},
    {"the future seen beyond 2048", &placed<Place::kFuture2048, false>(), "long"},
    {"keys beyond 2048 not read", &placed<Place::kForgets2048, false>(), "reach"},
    {"the first of 128 tokens not read by the last", &placed<Place::kUnread128, false>(), "reach"},
    {"the third of 4 tokens not read", &placed<Place::kUnreadFour, false>(), "reach"},
    {"a leak at token 112 alone", &placed<Place::kLeak111, false>(), "causal"},
    {"a leak at token 172 alone", &placed<Place::kLeak171>(), "causal"},
    {"a leak at token 896 alone", &placed<Place::kLeak895>(), "causal"},
    {"larger causal outputs of multiples of 128", &placed<Place::kScaled128, false>(), "causal"},
    {"larger causal outputs of primes above 64", &placed<Place::kScaledPrime, false>(), "causal"},
    {"causal weights that sum to 2", &placed<Place::kTwice>(), "constants"},
    {"causal weights that sum to 1/2 at multiples of 64", &placed<Place::kHalf64, false>(), "constants"},
    {"weights that sum to 3/2 beyond 2048", &placed<Place::kMore2048, false>(), "constants"},
};

}  // namespace

TEST_CASE("softmax attention passes at all lengths, and a fault is reported with its length", "[conformance]") {
  tests::Record record;
  const std::set<std::string> wide = {"long", "gradient", "batch", "constants", "reach", "causal", "padding"};
  CHECK(record.suite(placed<Place::kNone>(), wide).empty());
  tests::check_mentions(tests::found(placed<Place::kMask128>(), "padding"), "a batch of 3 items of ");
}

TEST_CASE("a requested length is checked, too, and the verified lengths are reported", "[conformance]") {
  keep_freed_memory();
  const auto look = [](const Descriptor& plugin, std::int64_t length, const std::set<std::string>& only) {
    auto candidate = tests::candidate_of(plugin);
    candidate.requested_length = length;
    Checks checks;
    checks.only(only);
    check_attention(candidate, Depth::kFull, checks);
    return checks;
  };
  const auto fails = [&](const Descriptor& plugin, const std::string& name) {
    return look(plugin, 2400, {name}).all().front().failed();
  };
  using Lengths = std::map<std::string, std::int64_t>;
  CHECK(look(placed<Place::kForgets2304, false>(), 0, {"long"}).lengths() ==
        Lengths{{"bidirectional", 2113}, {"causal", 2113}});
  const auto right = look(placed<Place::kNone>(), 2400, {"long", "reach"});
  CHECK(right.lengths() == Lengths{{"bidirectional", 2400}, {"causal", 2400}});
  CHECK_FALSE(std::any_of(right.all().begin(), right.all().end(), [](const Check& check) { return check.failed(); }));
  CHECK(look(placed<Place::kForgets2304, false>(), 2400, {"long"}).lengths().empty());
  CHECK(fails(placed<Place::kForgets2304, false>(), "reach"));
  CHECK(fails(placed<Place::kSilent2304, false>(), "long"));
  CHECK(fails(placed<Place::kMask2304>(), "long"));
  CHECK(fails(placed<Place::kFuture2304, false>(), "long"));
}
