// A grid from the TOML file to the table.
#include <chrono>
#include <set>
#include <thread>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

const std::string kGrid = kTiny + R"(
[grid]
seeds = 2
rows = [
  { attention.plugin = "softmax" },
  { attention.plugin = "adamra", attention.compression.plugin = "segment-mean", attention.rates = ["1/2", 0.25] },
]
)";

json losses(Workplace& place) {
  return place.query(
      "SELECT key, \"train/loss\", \"dev/loss\", \"test/loss\", \"test/accuracy\", \"memory/peak_tensor\" FROM trials ORDER BY "
      "key");
}

/// Returns the worker processes with this environment variable, which separates them from workers of other tests.
std::set<std::string> workers_with(const std::string& variable) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path() / "exe", gone) != kBin + "ablate-worker") continue;
    if (says(read_text(entry.path() / "environ"), variable)) found.insert(entry.path().filename());
  }
  return found;
}

}  // namespace

TEST_CASE("a grid runs, is stored, and is never run twice", "[skip]") {
  Workplace place;
  const auto study = place.study(kGrid).string();
  const auto first = place.run({"run", study});
  REQUIRE(first.exit_code == 0);
  CHECK(says(first.err, "tiny: 4 done, 0 done before, 0 failed"));
  CHECK(place.query("SELECT count(*) AS n FROM attempts")[0]["n"] == 4);

  const auto again = place.run({"run", study});
  CHECK(again.exit_code == 0);
  CHECK(says(again.err, "tiny: 0 done, 4 done before, 0 failed"));
  CHECK(place.query("SELECT count(*) AS n FROM attempts")[0]["n"] == 4);

  // Another experiment with the same trials does not run them again.
  const auto other = place.run({"run", study, "--set", "experiment.name=other", "--set", "seeds=3"});
  CHECK(says(other.err, "2 done, 4 done before"));

  const auto table =
      place.run({"table", "tiny", "--rows", "attention,attention.rates", "--metric", "test/accuracy,train/loss"});
  REQUIRE(table.exit_code == 0);
  CHECK(says(table.out, "adamra"));
  CHECK(says(table.out, "1/2,1/4"));
  CHECK(says(table.out, "±"));
  const auto shown = place.run({"show", "1"});
  CHECK(shown.exit_code == 0);
  for (const char* part : {"train/step_time", "memory/peak_resident", "listops", "2.11.0"}) CHECK(says(shown.out, part));
}

TEST_CASE("the number of trials at a time changes no bit of a result") {
  Workplace one, two;
  REQUIRE(one.run({"run", one.study(kGrid).string(), "-j", "1"}).exit_code == 0);
  REQUIRE(two.run({"run", two.study(kGrid).string(), "-j", "3"}).exit_code == 0);
  const auto a = losses(one), b = losses(two);
  REQUIRE(a.size() == 4);
  CHECK(a == b);
}

TEST_CASE("an interrupted grid exits with 130 and resumes where it stopped") {
  Workplace place;
  // The first trial is short, the second long: the signal arrives between their ends.
  const auto study = place.study(kTiny + "[attention]\nplugin = \"linear\"\n[grid]\ntrain.steps = [3, 200000]\n").string();
  auto running = place.start({"run", study, "-j", "1"});
  for (int i = 0; i < 600 && !says(running.printed(), "[1/2] done"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  running.send(SIGINT);
  const auto ended = running.wait();
  CHECK(ended.exit_code == 130);
  CHECK(says(ended.err, "interrupted"));
  CHECK(place.query("SELECT outcome FROM attempts ORDER BY outcome") ==
        json({{{"outcome", "done"}}, {{"outcome", "interrupted"}}}));
  const auto next =
      place.run({"run", place.study(kTiny + "[attention]\nplugin = \"linear\"\n[grid]\ntrain.steps = [3, 4]\n").string()});
  CHECK(next.exit_code == 0);
  CHECK(says(next.err, "1 done, 1 done before"));
}

TEST_CASE("a killed scheduler leaves an intact database and no process") {
  Workplace place;
  place.set("ABLATE_TEST_PLACE", (place.folder() / "").string());
  const auto workers = [&] { return workers_with("ABLATE_TEST_PLACE=" + (place.folder() / "").string()); };
  const auto study = place.study(kTiny + "[attention]\nplugin = \"linear\"\n[grid]\ntrain.steps = [3, 2000000]\n").string();
  auto running = place.start({"run", study, "-j", "1"});
  for (int i = 0; i < 600 && !says(running.printed(), "[1/2] done"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK_FALSE(workers().empty());
  running.send(SIGKILL);  // a trial that was reported as done is in the history
  CHECK(running.wait().exit_code == 128 + SIGKILL);
  CHECK(place.query("SELECT outcome FROM attempts") == json{{{"outcome", "done"}}});
  // Workers end by themselves as soon as they notice that their scheduler is gone.
  for (int i = 0; i < 1200 && !workers().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(workers() == std::set<std::string>{});
}

TEST_CASE("the order and spelling of a study's base values and axes do not change the key") {
  Workplace place;
  REQUIRE(
      place
          .run({"run",
                place
                    .study(
                        kTiny +
                        "[attention]\nplugin = \"adamra\"\ncompression.plugin = \"segment-mean\"\nrates = [\"1/2\", \"1/4\"]\n")
                    .string()})
          .exit_code == 0);
  const auto again = place.run({"run", place
                                           .study(kTiny + "[attention]\nrates = [0.5, 0.25] # the same\nplugin = "
                                                          "\"adamra\"\ncompression.plugin = \"segment-mean\"\nsubheads = 2\n")
                                           .string()});
  CHECK(says(again.err, "0 done, 1 done before"));
}
