// Finds the plugin at fault if an attention fails with some plugin among its parameters.
#include "core/registry/library.h"
#include "core/trial/conformance/compression/subject.h"
#include "core/trial/conformance/plugin/suite.h"
#include "tests/conformance/means.h"

using namespace ablate;

namespace {

using tests::Means;

/// Counts padded tokens: wrong by itself, and under every attention.
class Counts final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    auto blind = input;
    blind.mask = Tensor();
    return Means::slots_of(blind, first);
  }
};

/// Counts padded tokens only if heads have another number of channels than in the suite: right by itself.
class CountsOthers final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    auto blind = input;
    if (d_head_ != CompressionSubject::kChannels) blind.mask = Tensor();
    return Means::slots_of(blind, first);
  }
};

template <class Made>
const Descriptor& stranger(const char* id) {
  static const auto descriptor =
      tests::compression_of<Made>({.id = id, .version = "1.0.0", .summary = "a stranger", .capabilities = tests::kMeans});
  return descriptor;
}

const Descriptor& plugin(const std::string& id) { return load_library(ABLATE_BUILD_DIR "/lib/ablate/plugins/" + id + ".so"); }

std::vector<Check> checked(const std::vector<const Descriptor*>& parts, bool quick) {
  Checks checks;
  checks.only({"padding"});
  check_plugin({.plugin = plugin("compressed"), .parts = parts, .quick = quick}, checks);
  return checks.all();
}

}  // namespace

TEST_CASE("a check that fails with a part is unchecked if the part also fails by itself") {
  const auto& wrong = stranger<Counts>("counts");
  const auto both = checked({&wrong, &plugin("segment-mean")}, false);
  REQUIRE(both.size() == 2);
  INFO(both[0].on << ": " << both[0].found);
  CHECK(both[0].verdict == Verdict::kUnchecked);
  tests::check_mentions(both[0].found, "with counts, which fails ");
  tests::check_mentions(both[0].found, "; with segment-mean it passes");
  CHECK(both[1].passed());
  const auto alone = checked({&wrong}, true);
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].verdict == Verdict::kUnchecked);
}

TEST_CASE("a check that fails with a part that passes by itself has failed, and its report names the part") {
  const auto found = checked({&plugin("segment-mean"), &stranger<CountsOthers>("counts-others")}, false);
  REQUIRE(found.size() == 2);
  CHECK(found[0].passed());
  INFO(found[1].found);
  CHECK(found[1].failed());
  CHECK(found[1].part == "counts-others");
}
