// Every compression in the plugin folder keeps what it promises.
#include "core/conformance/compression_checks.h"
#include "tests/compression/plugins.h"
#include "tests/support/catch.h"

TEST_CASE("every compression in the plugin folder conforms") {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(ABLATE_BUILD_DIR "/lib/ablate/plugins")) {
    if (entry.path().extension() != ".so") continue;
    const auto& descriptor = ablate::load_library(entry.path());
    if (descriptor.kind != ablate::Kind::kCompression) continue;
    found.push_back(descriptor.id);
    for (const auto& check : ablate::check_compression(ablate::with_defaults(descriptor))) {
      INFO(descriptor.id << " " << check.on << ", " << check.name << ": " << check.found);
      CHECK(check.passed);
    }
  }
  for (const auto* id : {"segment-mean", "clustering", "rbf", "random-features"})
    CHECK(std::find(found.begin(), found.end(), id) != found.end());
}
