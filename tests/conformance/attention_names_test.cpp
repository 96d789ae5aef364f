// Verdicts of the suite must not depend on the names of layers.
#include "tests/conformance/plain.h"

using namespace ablate;
using tests::Named;
using tests::plain;
using tests::Slip;

namespace {

/// Checks that look for layers, or that depended on names in the past.
const std::set<std::string> kAffected = {"dropout draws", "constants", "empty", "trained", "weights", "projections"};

template <Named named>
void judges() {
  tests::Record record;
  for (const auto& check : tests::checks_of(plain<Slip::kNone, named>(), kAffected)) {
    INFO(check.name << ": " << check.found);
    CHECK(check.passed());
  }
  CHECK(record.fails(plain<Slip::kDrops, named>(), "dropout draws"));
  // Without a bias, values under a mask are 0, and so is their mean.
  CHECK(record.fails(plain<Slip::kEmpty, named>(), "empty") == (named == Named::kBase || named == Named::kField));
  CHECK(record.fails(plain<Slip::kSums, named>(), "constants"));
}

}  // namespace

TEST_CASE("a verdict does not depend on the names of layers", "[conformance]") {
  SECTION("query, key, value, output") { judges<Named::kBase>(); }
  SECTION("to_q, to_k, to_v, to_out") { judges<Named::kField>(); }
  SECTION("a single layer for queries, keys and values, without a bias") { judges<Named::kTogether>(); }
  SECTION("bare tensors, transposed") { judges<Named::kBare>(); }
}

TEST_CASE("a bias without an effect passes, and a bias without a gradient fails", "[conformance]") {
  tests::Record record;
  CHECK(record.fails(plain<Slip::kDetached, Named::kField>(), "trained"));
}
