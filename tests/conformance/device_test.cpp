// The check that compares a device with the CPU. A second computation on the CPU takes the place of the device.
#include "core/registry/library.h"
#include "core/trial/conformance/plugin/device_checks.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

const Descriptor& plugin(const std::string& id) { return load_library(ABLATE_BUILD_DIR "/lib/ablate/plugins/" + id + ".so"); }

Candidate candidate(const std::string& id) {
  return candidates(plugin(id), nlohmann::json::object(), {&plugin("segment-mean")}).front();
}

/// Returns the check of a device whose results `wrong` has changed.
Check check(ComputeOn compute, const std::function<void(std::vector<Named>&)>& wrong) {
  int calls = 0;
  Checks checks;
  check_device(
      "x",
      [&](c10::Device device) {
        auto results = compute(device);
        if (++calls == 2) wrong(results);
        return results;
      },
      {c10::Device(c10::kCPU), ""}, checks);
  REQUIRE(checks.all().size() == 1);
  CHECK(checks.all()[0].name == "cuda");
  return checks.all()[0];
}

}  // namespace

TEST_CASE("a plugin that is right on the device passes, and each wrong result fails by its name") {
  const ComputeOn computes[] = {[](c10::Device) { return attention_results(candidate("adamra")); },
                                [](c10::Device) { return compression_results(candidate("clustering")); }};
  for (const auto& compute : computes) {
    CHECK(check(compute, [](auto&) {}).passed());
    // Float32 sums in another order can differ by this much, so the difference is no fault.
    CHECK(check(compute, [](auto& results) {
            for (auto& result : results) result.value = result.value * (1 + 1e-5);
          }).passed());
    const auto count = compute(c10::kCPU).size();
    CHECK(count > 10);
    for (std::size_t i = 0; i < count; ++i) {
      std::string what;
      const auto found = check(compute, [&](auto& results) {
        what = results[i].what;
        results[i].value = results[i].value.clone(at::MemoryFormat::Contiguous);
        const auto size = std::max(1.0, results[i].value.to(kDouble).abs().max().item().toDouble());
        results[i].value.view(-1)[-1] += 0.01 * size;
      });
      INFO(what << ": " << found.found);
      CHECK(found.failed());
      CHECK(found.found.find(what) != std::string::npos);
    }
    CHECK(check(compute, [](auto& results) { results[0].value = results[0].value * std::nan(""); }).failed());
    CHECK(check(compute, [](auto& results) { results[0].value = results[0].value.slice(0, 1); }).failed());
    CHECK(check(compute, [](auto& results) { results.pop_back(); }).failed());
    CHECK(check(compute, [](auto&) { throw std::runtime_error("no kernel image"); }).found == "no kernel image");
  }
}

TEST_CASE("padding, causality and cross-attention are compared if they are promised") {
  const auto says = [](const Candidate& which, const std::string& how) {
    const auto results = attention_results(which);
    return std::any_of(results.begin(), results.end(), [&](const auto& result) { return result.what.ends_with(", " + how); });
  };
  const auto softmax = candidate("softmax");
  const auto& promises = softmax.promises;
  CHECK(says(softmax, "bidirectional"));
  CHECK(says(softmax, "padded") == promises.key_padding);
  CHECK(says(softmax, "causal") == promises.causal);
  CHECK(says(softmax, "cross") == promises.cross_attention);
  CHECK((promises.key_padding && promises.causal && promises.cross_attention));
}

TEST_CASE("without a device the check is unchecked, with a reason") {
  Checks checks;
  check_device(
      "x", [](c10::Device) -> std::vector<Named> { throw std::logic_error("asked for"); }, {{}, "no such\ndevice"}, checks);
  REQUIRE(checks.all().size() == 1);
  CHECK_FALSE(checks.all()[0].passed());
  CHECK_FALSE(checks.all()[0].failed());
  CHECK(checks.all()[0].found == "no such device");
}
