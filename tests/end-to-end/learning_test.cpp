// Learning works on Fashion-MNIST, and only with correct labels.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

TEST_CASE("the quickstart's task is learned, and with shuffled labels stays at chance", "[learning]") {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist"))
    FAIL("Debian's package dataset-fashion-mnist is missing; tools/setup installs it");
  Workplace place;
  // The quickstart's task and model with a shorter sequence, so that the test takes seconds.
  const auto ended = place.run({"run", place
                                           .study(R"(
[task]
plugin = "image"
pool = 4
[model]
dropout = 0.0
[attention]
plugin = "adamra"
compression.plugin = "segment-mean"
rates = ["1/2", "1/4", "1/8"]
[train]
steps = 160
learning_rate = 2e-3
warmup = 16
clip = 1.0
evaluate_batches = 20
test_batches = 20
[grid]
train.shuffle_labels = [false, true]
)")
                                           .string()});
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  const auto rows = place.query("SELECT \"dev/accuracy\" AS accuracy FROM trials ORDER BY \"train.shuffle_labels\"");
  REQUIRE(rows.size() == 2);
  // Processors round differently. After 160 steps the accuracy is 60 to 65 % on most processors. The lowest was 59.7 %.
  CHECK(rows[0]["accuracy"].get<double>() > 50);
  // Chance is 10 %. The accuracy of a constant answer on 640 dev examples varies by about 1.2 %, and the best of several
  // evaluations counts.
  CHECK(rows[1]["accuracy"].get<double>() < 18);
}
