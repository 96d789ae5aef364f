// Promises about a state: right stateful attentions pass the suite, and wrong attentions fail its checks of the state.
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"
#include "core/trial/conformance/attention/subject.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Carry {
  kRight,
  kNoInitial,      // promised, but there is no initial state
  kIgnored,        // returned, but never read
  kKeptInside,     // read from the module instead of the host
  kLeftInside,     // read from the host, but from the module after a new start
  kAttached,       // the host's state, with the gradient of the module's state
  kAcrossItems,    // one state for the whole batch
  kStartOfAll,     // recognises a new start by the batch instead of the row
  kPaddedCounted,  // counts padded tokens in the state
  kPaddedOfOne,    // counts padded tokens in the state of a batch of one item
  kDecays,         // a segment without tokens halves the state
};

/// The mean of a segment's values, plus a decayed sum of the means of earlier segments.
class Means : public HeadwiseAttention {
 public:
  Means(const AttentionContext& context, Carry carry)
      : HeadwiseAttention(context, HeadOptions{.heads = 1, .queries = false, .keys = false}), carry_(carry) {}

 private:
  AttentionState heads_state(std::int64_t batch) const override {
    if (carry_ == Carry::kNoInitial) return {};
    const auto like = parameters().front().tensor;
    return {zeros({batch, 1, 1, d_head()}, like.options().requires_grad(false))};
  }

  HeadOutput attend(const HeadInput& input) override {
    const auto& values = input.v;
    auto count = ablate::full({values.size(0), 1, 1, 1}, values.size(2), values.options().requires_grad(false));
    const bool counts = carry_ == Carry::kPaddedCounted || (carry_ == Carry::kPaddedOfOne && values.size(0) == 1);
    if (input.mask.defined() && !counts) count = input.mask.sum(-1).to(values.scalar_type()).view({-1, 1, 1, 1});
    const auto now = values.sum(2, true) / count.clamp_min(1);  // values under the mask are 0
    const auto n = input.queries.size(1);
    const auto spread = [n](const Tensor& x) { return x.expand({-1, -1, n, -1}); };
    if (input.state.empty()) return {.values = spread(now)};
    auto before = input.state.front();
    const bool is_new = before.eq(0).all().item().toBool();
    if (carry_ == Carry::kKeptInside || (carry_ == Carry::kLeftInside && is_new))
      before = inside_.defined() && inside_.sizes() == before.sizes() ? inside_.detach() : before;
    if (carry_ == Carry::kAttached && inside_.defined() && inside_.sizes() == before.sizes())
      before = before.detach() + (inside_ - inside_.detach());
    auto carried = before * 0.5 + now;
    if (carry_ != Carry::kDecays) carried = carried.where(count > 0, before);
    if (carry_ == Carry::kAcrossItems) carried = carried.mean(0, true).expand_as(carried);
    auto seen = now + before;
    if (carry_ == Carry::kStartOfAll && !is_new) seen = seen + 1;
    if (carry_ == Carry::kIgnored) seen = now;
    inside_ = carried;
    return {.values = spread(seen), .state = {carried}};
  }

  Carry carry_;
  Tensor inside_;
};

template <Carry carry>
struct MadeMeans final : Means {
  explicit MadeMeans(const AttentionContext& context) : Means(context, carry) {}
};

template <Carry carry>
const Descriptor& means() {
  static const Descriptor made = tests::attention_of<MadeMeans<carry>>(
      {.id = "means", .version = "1.0.0", .summary = "segments", .capabilities = {.key_padding = true, .stateful = true}});
  return made;
}

enum class Sum {
  kRight,
  kDecaysByCall,    // the state decays with each segment, whatever its length
  kCut,             // no gradient through the state
  kWholeSegment,    // with a state, each token reads the whole segment
  kCutTraining,     // no gradient through the state in training
  kDecaysTraining,  // the state decays with each segment, in training only
};

/// Linear attention without a normaliser, only causal: out_i = q_i (S + sum of k_j v_j over j up to i).
class Sums : public HeadwiseAttention {
 public:
  Sums(const AttentionContext& context, Sum sum) : HeadwiseAttention(context, 2), sum_(sum) {}

 private:
  AttentionState heads_state(std::int64_t batch) const override {
    const auto like = parameters().front().tensor;
    return {zeros({batch, heads(), d_head(), d_head()}, like.options().requires_grad(false))};
  }

  HeadOutput attend(const HeadInput& input) override {
    const auto k = input.k * 0.1;
    auto weights = input.q.matmul(k.transpose(-1, -2)).tril();
    if (input.state.empty()) return {.values = weights.matmul(input.v)};
    const bool is_cut = sum_ == Sum::kCut || (sum_ == Sum::kCutTraining && is_training());
    const auto before = is_cut ? input.state.front().detach() : input.state.front();
    const bool is_new = before.eq(0).all().item().toBool();
    if (sum_ == Sum::kWholeSegment && !is_new) weights = input.q.matmul(k.transpose(-1, -2));
    const bool decays = sum_ == Sum::kDecaysByCall || (sum_ == Sum::kDecaysTraining && is_training());
    const auto kept = decays ? before * 0.9 : before;
    return {.values = weights.matmul(input.v) + input.q.matmul(kept), .state = {kept + k.transpose(-1, -2).matmul(input.v)}};
  }

  Sum sum_;
};

template <Sum sum>
struct MadeSums final : Sums {
  explicit MadeSums(const AttentionContext& context) : Sums(context, sum) {}
};

template <Sum sum>
const Descriptor& sums() {
  static const Descriptor made = tests::attention_of<MadeSums<sum>>(
      {.id = "sums",
       .version = "1.0.0",
       .summary = "sums",
       .capabilities = {.causal = true, .key_padding = true, .stateful = true, .bidirectional = false, .recurrent = true}});
  return made;
}

enum class Mean {
  kRight,
  kHalfSum,    // stores sums in the parameters' type
  kHalfCount,  // stores counts in the parameters' type
};

/// The mean of all values so far, only causal.
template <Mean mean>
class RunningMeans final : public HeadwiseAttention {
 public:
  explicit RunningMeans(const AttentionContext& context)
      : HeadwiseAttention(context, HeadOptions{.heads = 1, .queries = false, .keys = false}) {}

 private:
  AttentionState heads_state(std::int64_t batch) const override {
    const auto& like = parameters().front().tensor;
    const auto wide = wide_options(like), narrow = like.options().requires_grad(false);
    return {zeros({batch, 1, 1, d_head()}, mean == Mean::kHalfSum ? narrow : wide),
            zeros({batch, 1, 1, 1}, mean == Mean::kHalfCount ? narrow : wide)};
  }

  HeadOutput attend(const HeadInput& input) override {
    const auto type = input.v.scalar_type();
    const auto values = (type == kDouble ? input.v : input.v.to(kFloat)) + 1;
    auto sums = values.cumsum(2);
    auto counts = ones({values.size(0), 1, values.size(2), 1}, values.options().requires_grad(false)).cumsum(2);
    if (input.state.empty()) return {.values = (sums / counts - 1).to(type)};
    sums = sums + input.state[0].to(values.scalar_type());
    counts = counts + input.state[1].to(values.scalar_type());
    const auto last = values.size(2) - 1;
    return {.values = (sums / counts - 1).to(type),
            .state = {sums.narrow(2, last, 1).to(input.state[0].scalar_type()),
                      counts.narrow(2, last, 1).to(input.state[1].scalar_type())}};
  }
};

template <Mean mean>
const Descriptor& running() {
  static const Descriptor made = tests::attention_of<RunningMeans<mean>>({.id = "running",
                                                                          .version = "1.0.0",
                                                                          .summary = "means of all before",
                                                                          .capabilities = {.causal = true,
                                                                                           .stateful = true,
                                                                                           .bidirectional = false,
                                                                                           .recurrent = true,
                                                                                           .averages = true,
                                                                                           .half_precision = true}});
  return made;
}

enum class Keep {
  kRight,
  kOldest,  // a full memory keeps its oldest segments and the last segment
  kSecond,  // a full memory loses its second segment
};

/// Means of the values of the last four segments. The oldest mean is lost first.
template <Keep keep>
class Remembered final : public HeadwiseAttention {
 public:
  explicit Remembered(const AttentionContext& context)
      : HeadwiseAttention(context, HeadOptions{.heads = 1, .queries = false, .keys = false}) {}

 private:
  AttentionState heads_state(std::int64_t batch) const override {
    return {zeros({batch, 1, 4, d_head()}, parameters().front().tensor.options().requires_grad(false))};
  }

  HeadOutput attend(const HeadInput& input) override {
    const auto now = input.v.mean(2, true);
    if (input.state.empty()) return {.values = now.expand_as(input.v)};
    const auto& before = input.state.front();
    const auto is_full = before.narrow(2, 0, 1).ne(0).any(3, true);  // [batch, 1, 1, 1]
    const auto shifted = ablate::cat({before.narrow(2, 1, 3), now}, 2);
    auto kept = shifted;
    if (keep == Keep::kOldest) kept = ablate::cat({before.narrow(2, 0, 3), now}, 2).where(is_full, shifted);
    if (keep == Keep::kSecond)
      kept = ablate::cat({before.narrow(2, 0, 1), before.narrow(2, 2, 2), now}, 2).where(is_full, shifted);
    return {.values = (now + before.sum(2, true)).expand_as(input.v), .state = {kept}};
  }
};

template <Keep keep>
const Descriptor& remembered() {
  static const Descriptor made = tests::attention_of<Remembered<keep>>(
      {.id = "remembered", .version = "1.0.0", .summary = "segments", .capabilities = {.stateful = true}});
  return made;
}

const tests::AddVariants added = {
    {"no initial state", &means<Carry::kNoInitial>(), "state"},
    {"a state that nothing reads", &means<Carry::kIgnored>(), "state"},
    {"padding counted in a state", &means<Carry::kPaddedCounted>(), "state padding"},
    {"padding counted in a state, of one item", &means<Carry::kPaddedOfOne>(), "state padding"},
    {"padding that lets a state decay", &means<Carry::kDecays>(), "state padding"},
    {"decay by call", &sums<Sum::kDecaysByCall>(), "recurrent"},
    {"no gradient through the state", &sums<Sum::kCut>(), "recurrent"},
    {"a segment seen whole behind a memory", &sums<Sum::kWholeSegment>(), "causal"},
    {"no gradient through the state in training", &sums<Sum::kCutTraining>(), "recurrent"},
    {"decay by call in training", &sums<Sum::kDecaysTraining>(), "recurrent"},
    {"sums kept in half precision", &running<Mean::kHalfSum>(), "half"},
    {"counts kept in half precision", &running<Mean::kHalfCount>(), "half"},
    {"a full memory that keeps the oldest", &remembered<Keep::kOldest>(), "state"},
    {"a full memory that loses the second", &remembered<Keep::kSecond>(), "state"},
};

}  // namespace

TEST_CASE("attentions that carry their state rightly pass the suite", "[conformance]") {
  tests::Record record;
  CHECK(record.suite(means<Carry::kRight>()).empty());
  CHECK(record.suite(sums<Sum::kRight>()).empty());
  CHECK(record.suite(running<Mean::kRight>()).empty());
  CHECK(record.suite(remembered<Keep::kRight>()).empty());
  for (const auto* name : {"state", "state padding", "recurrent"}) CHECK(record.ran.count(name) == 1);
  CHECK(record.ran.count("bidirectional") == 0);
}

TEST_CASE("a promised state has to be carried, by the host only", "[conformance]") {
  const auto finds = [](const Descriptor& plugin, const char* expected) {
    tests::check_mentions(tests::found(plugin, "state"), expected);
  };
  finds(means<Carry::kNoInitial>(), "the initial state is empty");
  finds(means<Carry::kIgnored>(), "changes nothing in the next one");
  finds(means<Carry::kKeptInside>(), "state");
  finds(means<Carry::kLeftInside>(), "state");
  finds(means<Carry::kAttached>(), "past a detached state");
  finds(means<Carry::kAcrossItems>(), "depends on its batch mates");
  finds(means<Carry::kStartOfAll>(), "a row of the initial state differs from a new start");
  CHECK(tests::found(means<Carry::kPaddedCounted>(), "state padding") != "");
  CHECK(tests::found(means<Carry::kDecays>(), "state padding") != "");
  CHECK(tests::found(means<Carry::kDecays>(), "state") == "");
  finds(remembered<Keep::kOldest>(), "has to keep the newest segments");
}

TEST_CASE("the check recurrent compares segments and their gradients, and the check causal reads a state", "[conformance]") {
  tests::check_mentions(tests::found(sums<Sum::kDecaysByCall>(), "recurrent"), "are off");
  tests::check_mentions(tests::found(sums<Sum::kCut>(), "recurrent"), "gradients are off");
  CHECK(tests::found(sums<Sum::kWholeSegment>(), "causal") != "");
}

TEST_CASE("an attention that is only causal cannot be made at a bidirectional place") {
  const AttentionSubject subject(tests::candidate_of(sums<Sum::kRight>()));
  CHECK_THROWS_WITH(subject.make(1, Stand{}), Catch::Contains("promises only causal attention"));
  CHECK_NOTHROW(subject.make(1, Stand{.causal = true}));
}
