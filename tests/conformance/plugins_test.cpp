// Runs the suite of `ablate check` over one plugin of the tree, without timing, and for a task its audit, too.
#include <algorithm>
#include <cstdlib>

#include "core/kernels/mixed_products.h"
#include "core/registry/library.h"
#include "core/trial/audit/audit.h"
#include "core/trial/conformance/engine/finding.h"
#include "core/trial/conformance/plugin/plugin_checks.h"
#include "core/trial/conformance/plugin/suite.h"
#include "core/trial/conformance/task/sampled_task.h"
#include "core/trial/device/tensor_memory.h"
#include "tests/plugins/retrieval_files.h"
#include "tests/plugins/text_files.h"
#include "tests/plugins/transactions_files.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;

namespace {

/// Returns parameters for small data of the project's tasks. Any other plugin is checked at its defaults.
nlohmann::json small(const std::string& id, const std::string& pictures, const std::string& documents, const std::string& bank,
                     const std::string& reviews) {
  if (id == "listops") return {{"train", 3000}, {"dev", 300}, {"test", 300}};
  if (id == "image") return {{"data", pictures}, {"dev", 10}};
  if (id == "lm") return {{"data", pictures + "/text"}, {"length", 100}, {"bytes", 15000}};
  if (id == "retrieval") return {{"data", documents}, {"length", 48}};
  if (id == "pathfinder") return {{"train", 600}, {"dev", 100}, {"test", 100}};
  if (id == "text") return {{"data", reviews}, {"dev", 4}, {"length", 64}};
  if (id == "transactions") return {{"data", bank}};
  return nlohmann::json::object();
}

bool knows(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<Check> audited(const Descriptor& plugin, const nlohmann::json& parameters) {
  const ::TemporaryFolder scratch;
  const auto candidate = make_candidate(plugin, parameters, find_among({&plugin}));
  const SampledTask maker(candidate, scratch.path(), false);
  auto loaded = maker.make(2, maker.folder("cache"));
  loaded->info();
  loaded->load();
  Checks checks;
  audit_task(candidate, std::move(loaded), scratch.path(), checks);
  return checks.all();
}

}  // namespace

TEST_CASE("a plugin of the tree passes the whole suite", "[conformance]") {
  count_tensor_memory();
  const auto* const given = std::getenv("ABLATE_TEST_OF");
  const std::string id = given != nullptr ? given : "";
  std::vector<const Descriptor*> all;
  for (const auto& entry : std::filesystem::directory_iterator(ABLATE_BUILD_DIR "/lib/ablate/plugins"))
    if (entry.path().extension() == ".so") all.push_back(&load_library(entry.path()));
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return std::string(a->id) < b->id; });
  const auto plugin = std::find_if(all.begin(), all.end(), [&](const auto* one) { return one->id == id; });
  INFO("ABLATE_TEST_OF = " << id);
  REQUIRE(plugin != all.end());

  const tests::IdxFolder pictures;
  tests::write_bytes(pictures.folder.path() / "text", tests::random_pictures(1, 20000, 3).front());
  const tests::PairsFolder documents(60);
  const tests::BerkaFolder bank(200);
  bank.write("trans_a.csv", tests::transactions_file(tests::kDated, tests::random_rows(1, 200, 1)));
  const tests::ReviewsFolder reviews(10);
  const ::TemporaryFolder scratch;
  Checks checks;
  const auto parameters = small(id, pictures.path(), documents.path(), bank.path(), reviews.root().string());
  check_plugin(
      {.plugin = **plugin, .parameters = parameters, .parts = all, .scratch = scratch.path(), .elsewhere = audit_names()},
      checks);
  for (const auto& check : checks.all()) {
    INFO(check.on << ": " << check.name << ": " << check.found);
    CHECK_FALSE(check.failed());
    CHECK(knows(check_names(), check.name));  // --only accepts the name
    // A check may be unchecked if its device is missing, parts are refused, training draws numbers, slots overlap, or mixed
    // products are missing. "dropout draws" may be unchecked on slots of gated-pool: weights cannot be read one by one.
    if (check.verdict == Verdict::kUnchecked && check.found.find(kDraws) == std::string::npos &&
        !(check.name == "mass" && check.found.starts_with("slots overlap")) &&
        !(check.name == "dropout draws" && check.on.starts_with("compressed-sparse x gated-pool,")) &&
        !(check.name == "forms" && kernels::mixed_instructions().empty() && check.found.starts_with("mixed: ")))
      CHECK((check.name == "cuda" || check.name == "parts"));
  }
  CHECK(checks.all().size() >= 14);

  if ((*plugin)->kind != Kind::kTask) return;
  const auto found = audited(**plugin, parameters);
  std::size_t looked = 0;
  for (const auto& finding : found) {
    INFO(finding.on << ": " << finding.name << ": " << finding.found);
    CHECK_FALSE(finding.failed());
    // These data may have too few examples to judge labels or rules.
    if (finding.verdict == Verdict::kUnchecked) CHECK((finding.name.starts_with("label ") || finding.name == "one rule"));
    looked += finding.passed() && knows(audit_names(), finding.name) ? 1 : 0;
  }
  CHECK(looked >= 2);
}
