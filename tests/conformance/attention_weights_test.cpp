// What attentions report beside their outputs: weights() and output_projections().
#include "tests/conformance/plain.h"

using namespace ablate;
using tests::Named;
using tests::Slip;

namespace {

template <Slip slip>
const Descriptor* field() {
  return &tests::plain<slip, Named::kField>();
}

const tests::AddVariants added = {
    {"weights of other scores", field<Slip::kUnscaled>(), "weights"},
    {"weights not divided by their sum", field<Slip::kUnnormalised>(), "weights"},
    {"weights without the mask", field<Slip::kMaskless>(), "weights"},
    {"weights that are never causal", field<Slip::kCauseless>(), "weights"},
    {"weights of keys over queries", field<Slip::kTurned>(), "weights"},
    {"weights of the other head", field<Slip::kSwapped>(), "weights"},
    {"weights in the input's type", field<Slip::kNarrow>(), "weights"},
    {"weights with a graph", field<Slip::kGraph>(), "weights"},
    {"weights that are all 0", field<Slip::kNothing>(), "weights"},
    {"weights that write into a buffer", field<Slip::kWrites>(), "weights"},
    {"the values' layer as projection", field<Slip::kInner>(), "projections"},
    {"a projection twice", field<Slip::kMore>(), "projections"},
    {"a projection that is null", field<Slip::kNull>(), "projections"},
};

}  // namespace

TEST_CASE("what is wrong with weights and projections is said in words", "[conformance]") {
  const auto says = [](const Descriptor* plugin, const char* check, const char* words) {
    tests::check_mentions(tests::found(*plugin, check), words);
  };
  says(field<Slip::kUnnormalised>(), "weights", "a row of weights() adds up");
  says(field<Slip::kSwapped>(), "weights", "times values, through the output projection");
  says(field<Slip::kNarrow>(), "weights", "weights() gave Float [3, 2, 13, 13], expected Double [3, heads, 13, 13]");
  says(field<Slip::kInner>(), "projections", "with all weights of output_projections() at 0");
}

TEST_CASE("an attention that reports neither is not asked", "[conformance]") {
  CHECK(tests::checks_of(tests::plain<Slip::kNone, Named::kBare>(), {"projections"}).empty());
}
