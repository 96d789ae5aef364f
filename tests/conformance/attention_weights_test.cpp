// Reports of attentions in addition to their outputs: weights() and output_projections().
#include "tests/conformance/plain.h"

using namespace ablate;
using tests::Named;
using tests::Slip;

namespace {

template <Slip slip>
const Descriptor* slipped() {
  return &tests::plain<slip, Named::kBase>();
}

const tests::AddVariants added = {
    {"weights of other scores", slipped<Slip::kUnscaled>(), "weights"},
    {"weights not divided by their sum", slipped<Slip::kUnnormalised>(), "weights"},
    {"weights without the mask", slipped<Slip::kMaskless>(), "weights"},
    {"weights that are never causal", slipped<Slip::kCauseless>(), "weights"},
    {"weights of keys over queries", slipped<Slip::kTurned>(), "weights"},
    {"weights of the other head", slipped<Slip::kSwapped>(), "weights"},
    {"weights in the input's type", slipped<Slip::kNarrow>(), "weights"},
    {"weights with a graph", slipped<Slip::kGraph>(), "weights"},
    {"weights that are all 0", slipped<Slip::kNothing>(), "weights"},
    {"weights that write into a buffer", slipped<Slip::kWrites>(), "weights"},
    {"the values' layer as projection", slipped<Slip::kInner>(), "projections"},
    {"a projection twice", slipped<Slip::kMore>(), "projections"},
    {"a projection that is null", slipped<Slip::kNull>(), "projections"},
};

}  // namespace

TEST_CASE("faults in weights and projections are reported in words", "[conformance]") {
  const auto says = [](const Descriptor* plugin, const char* check, const char* words) {
    tests::check_mentions(tests::found(*plugin, check), words);
  };
  says(slipped<Slip::kUnnormalised>(), "weights", "expected each row of weights() to add up to 1");
  says(slipped<Slip::kSwapped>(), "weights", "times values, through the output projection");
  says(slipped<Slip::kNarrow>(), "weights", "weights() gave Float [3, 2, 13, 13], expected Double [3, heads, 13, 13]");
  says(slipped<Slip::kInner>(), "projections", "with all weights of output_projections() at 0");
}

TEST_CASE("an attention that reports neither weights nor projections has no check of projections", "[conformance]") {
  CHECK(tests::checks_of(tests::plain<Slip::kNone, Named::kBare>(), {"projections"}).empty());
}
