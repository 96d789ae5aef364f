// What is promised of a state: a right stateful attention passes the suite, and wrong ones fail its check of the state.
#include "ablate/headwise.h"
#include "core/trial/conformance/attention_checks.h"
#include "tests/support/catch.h"

using namespace ablate;
using torch::Tensor;

namespace {

enum class Carry {
  kRight,
  kNone,           // promised, and never returned
  kIgnored,        // returned, and never read
  kKeptInside,     // read from the module, not from the host
  kLeftInside,     // from the host, and from the module where the host has none: a reset resets nothing
  kAttached,       // the host's state, with the gradient of the one inside
  kAcrossItems,    // one state for the whole batch
  kPaddedCounted,  // padded tokens are part of what is carried
};

/// The mean of a segment's values, plus what is left of the means before.
template <Carry carry>
class Recurrent : public HeadwiseAttention {
 public:
  explicit Recurrent(const AttentionContext& context) : HeadwiseAttention(context, 1) {}

  AttentionOutput forward(const AttentionInput& input) override {
    before_ = input.state.empty() || carry == Carry::kIgnored ? Tensor() : input.state.front();
    if (carry == Carry::kKeptInside || (carry == Carry::kLeftInside && input.state.empty())) before_ = inside_;
    if (carry == Carry::kAttached && before_.defined()) before_ = before_.detach() + (inside_ - inside_.detach());
    auto result = HeadwiseAttention::forward(input);
    auto carried = before_.defined() ? now_ + 0.5 * before_ : now_;
    if (carry == Carry::kAcrossItems) carried = carried.mean(0, true).expand_as(carried);
    if (carry != Carry::kNone) result.state = {carried};
    inside_ = carried;
    return result;
  }

  Tensor attend(const Tensor& queries, const Tensor&, const Tensor& values, const Tensor& mask) override {
    auto count = torch::full({1}, values.size(2), values.options());
    if (mask.defined() && carry != Carry::kPaddedCounted)
      count = mask.sum(-1).clamp_min(1).to(values.scalar_type()).view({-1, 1, 1, 1});
    now_ = values.sum(2, true) / count;  // values under the mask are 0
    return (before_.defined() ? now_ + before_ : now_).expand_as(queries);
  }

 private:
  Tensor before_, now_, inside_;
};

template <Carry carry>
std::vector<Check> checks_of() {
  static const Descriptor made = [] {
    auto result = ablate::detail::describe(Kind::kAttention, {.id = "recurrent",
                                                              .version = "1.0.0",
                                                              .summary = "segments",
                                                              .capabilities = {.key_padding = true, .stateful = true}});
    result.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
      return std::make_shared<Recurrent<carry>>(context);
    };
    return result;
  }();
  Checks checks;
  check_attention(with_defaults(made), {}, checks);
  return checks.all();
}

/// What the check of the state found; "" where it passed.
template <Carry carry>
std::string fault() {
  for (const auto& check : checks_of<carry>())
    if (check.name == "state") return check.passed ? "" : check.found;
  return "no check of the state";
}

}  // namespace

TEST_CASE("a state that is promised has to be carried, and carried by the host alone", "[conformance]") {
  for (const auto& check : checks_of<Carry::kRight>()) {
    INFO(check.name << ": " << check.found);
    // Its output depends on no query and no key, so that no gradient reaches their projections.
    CHECK((!check.failed() || check.name == "trained"));
  }
  const auto finds = [](const std::string& found, const char* expected) {
    INFO(found);
    CHECK(found.find(expected) != std::string::npos);
  };
  CHECK(fault<Carry::kRight>() == "");
  finds(fault<Carry::kNone>(), "returned no state");
  finds(fault<Carry::kIgnored>(), "changes nothing in the next one");
  finds(fault<Carry::kKeptInside>(), "two sequences by turns");
  finds(fault<Carry::kLeftInside>(), "an empty state after other segments");
  finds(fault<Carry::kAttached>(), "past a detached state");
  finds(fault<Carry::kAcrossItems>(), "depends on its batch mates");
  finds(fault<Carry::kPaddedCounted>(), "padding in a segment is carried");
}
