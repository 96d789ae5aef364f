// The check that a training can stop and resume: it must find state that an attention does not register.
#include "ablate/headwise.h"
#include "core/trial/conformance/plugin/plugin_checks.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Keeps { kNothing, kInBuffer, kPlainMember };

/// An attention whose output is its values, multiplied by a function of the number of steps.
template <Keeps keeps>
class Stepped final : public HeadwiseAttention {
 public:
  explicit Stepped(const AttentionContext& context) : HeadwiseAttention(context, 2) {
    if (keeps == Keeps::kInBuffer) register_buffer("count", count_);
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    return {.values = (input.v + 0 * (input.q + input.k)) * (1 + 0.1 * count_)};
  }
  void do_step(std::int64_t, const Generator&) override {
    const NoGradGuard no_grad;
    if (keeps != Keeps::kNothing) count_.add_(1);
  }

  Tensor count_ = zeros({});
};

template <Keeps keeps>
std::vector<Check> checked(bool causal) {
  static const Descriptor made = tests::attention_of<Stepped<keeps>>(
      {.id = "stepped", .version = "1.0.0", .summary = "counts", .capabilities = {.causal = true, .key_padding = true}});
  auto candidate = tests::candidate_of(made);
  candidate.promises.bidirectional = !causal;
  candidate.promises.causal = causal;
  Checks checks;
  check_training(candidate, checks);
  return checks.all();
}

}  // namespace

TEST_CASE("a training resumes bit by bit if all state is registered, and the check reports state that is not registered") {
  for (const bool causal : {false, true}) {
    for (const auto& check : checked<Keeps::kNothing>(causal)) CHECK(check.passed());
    for (const auto& check : checked<Keeps::kInBuffer>(causal)) CHECK(check.passed());
    const auto plain = checked<Keeps::kPlainMember>(causal);
    REQUIRE(plain.size() == 1);
    CHECK(plain.front().failed());
    tests::check_mentions(plain.front().found, "after it was loaded");
  }
}
