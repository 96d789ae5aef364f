// Every attention library in the plugin folder; where it takes a compression, over a memory whose slots have keys and over one
// whose slots have none, which are projected after and before writing.
#include <filesystem>

#include "core/conformance/attention_checks.h"
#include "core/registry/library.h"
#include "tests/support/catch.h"

using namespace ablate;

TEST_CASE("every attention plugin keeps its promises", "[conformance]") {
  const std::filesystem::path folder = std::filesystem::path(ABLATE_BUILD_DIR) / "lib/ablate/plugins";
  const auto with_keys = with_defaults(load_library(folder / "segment-mean.so"));
  const auto without_keys = with_defaults(load_library(folder / "random-features.so"));
  REQUIRE(with_keys.descriptor->capabilities.slots_have_keys);
  REQUIRE_FALSE(without_keys.descriptor->capabilities.slots_have_keys);
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".so") continue;
    const auto& descriptor = load_library(entry.path());
    if (descriptor.kind != Kind::kAttention) continue;
    ++found;
    auto checks = check_attention(with_defaults(descriptor), with_keys);
    if (descriptor.capabilities.takes_compression)
      for (auto& check : check_attention(with_defaults(descriptor), without_keys)) checks.push_back(std::move(check));
    for (const auto& check : checks) {
      INFO(check.on << ": " << check.name << ": " << check.found);
      CHECK(check.passed);
    }
  }
  CHECK(found >= 4);
}
