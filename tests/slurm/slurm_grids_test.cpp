// Grids under a real Slurm on one machine. Their table equals the table of a local run, even if jobs are preempted or lost.
#include "tests/end-to-end/page_commands.h"
#include "tests/slurm/slow_grid.h"

using nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("fifty shares in an array of twenty tasks have the results of a grid on one machine") {
  if (!is_there()) return;
  const std::string grid = "[grid]\nattention.plugin = [\"linear\", \"softmax\"]\nseeds = 25\n";
  Workplace place;
  use_own_machine(place);
  place.study(kTiny + grid);
  const auto submitted = place.run({"run", "study.toml", "--slurm", "--array", "50", "--shares", "50", "--cpus", "1"});
  INFO(submitted.err);
  REQUIRE(submitted.exit_code == 0);
  CHECK(says(submitted.err, "note: 20 tasks instead of 50: MaxArraySize"));
  CHECK(says(submitted.out, "tiny: 50 trials in 50 shares"));
  const auto again = place.run({"run", "study.toml", "--slurm", "--array", "50"});
  CHECK(says(again.err, "nothing to submit: "));
  CHECK(says(standing(place), "queued"));
  const bool ended = ends(place, 50, 240);
  INFO(logs(place) << standing(place));
  REQUIRE(ended);
  CHECK(says(standing(place), "tiny: 50 of 50 trials done, 0 failed; 50 of 50 shares ended\narray tasks: 20 done"));
  REQUIRE(place.run({"merge", "study.shares"}).exit_code == 0);
  CHECK(place.query("SELECT count(*) AS n, count(DISTINCT key) AS keys FROM attempts") ==
        json::parse(R"([{"n": 50, "keys": 50}])"));
  Workplace alone;
  alone.study(kTiny + grid);
  REQUIRE(alone.run({"run", "study.toml"}).exit_code == 0);
  CHECK(numbers(place) == numbers(alone));
  CHECK(fs::is_empty(place.folder() / "disk"));
  CHECK(says(place.run({"run", "study.toml", "--slurm"}).err, "nothing to submit: 50 of 50 shares ended"));
}

TEST_CASE("docs/clusters.md, with Slurm, works exactly as printed") {
  if (!is_there()) return;
  Workplace place;
  use_own_machine(place);
  place.study(std::string(kTiny).replace(kTiny.find("tiny"), 4, "study") +
              "[grid]\nattention.plugin = [\"linear\", \"softmax\"]\nseeds = 5\n");
  const auto commands = commands_in(ABLATE_SOURCE_DIR "/docs/clusters.md", "slurm");
  const auto at = commands.find("ablate merge");
  REQUIRE(at != std::string::npos);
  const std::string path = "PATH=" + kBin + ":$PATH; set -e\n";
  const auto submitted = place.shell(path + commands.substr(0, at));
  INFO(submitted.err);
  REQUIRE(submitted.exit_code == 0);
  CHECK(says(submitted.out, "study: 0 of 10 trials done"));
  REQUIRE(ends(place, 10, 120));
  const auto table = place.shell(path + commands.substr(at));
  INFO(table.err);
  CHECK(table.exit_code == 0);
  CHECK(says(table.out, "softmax"));
}

TEST_CASE("a preempted job goes on: Slurm requeues it, or it is submitted again if Slurm cancels it") {
  if (!is_there()) return;
  SlowGrid requeued(1500, {"--partition", "requeued", "--cpus", "1"}),
      cancelled(1500, {"--partition", "cancelled", "--cpus", "1"});
  REQUIRE(requeued.has_checkpoint());
  REQUIRE(cancelled.has_checkpoint());
  REQUIRE(Cluster::ask("sbatch -p first -c 4 -o /dev/null --wrap 'sleep 1'").exit_code == 0);
  requeued.expect_as_alone();
  CHECK(says(logs(requeued.place), "PREEMPTION"));
  CHECK(!says(logs(requeued.place), "submitted again as job"));
  cancelled.expect_as_alone();
  CHECK(says(logs(cancelled.place), "submitted again as job"));
}

TEST_CASE("a lost node costs only the work since the checkpoint") {
  if (!is_there()) return;
  SlowGrid grid(1500, {});
  REQUIRE(grid.has_checkpoint());
  cluster().tell("kill-node");
  fs::remove_all(grid.place.folder() / "disk");  // the disk of the node is lost, too
  fs::create_directories(grid.place.folder() / "disk");
  REQUIRE(until([] { return says(Cluster::ask("sinfo -h -o %T").out, "down"); }, 60));
  CHECK(cluster().tell("start-node").exit_code == 0);
  grid.expect_as_alone();
}

TEST_CASE("the shortest time limit, an administrator's requeue and a user's cancel end as planned") {
  if (!is_there()) return;
  // One of the two tasks has the array's own job number in Slurm. The limit must requeue each task separately.
  SlowGrid limited(4500, {"--time", "1", "--cpus", "1"}, 2);
  {
    SlowGrid grid(1500, {"--cpus", "1"});
    REQUIRE(grid.has_checkpoint());
    REQUIRE(Cluster::ask("scontrol requeue " + grid.job + "_0").exit_code == 0);
    REQUIRE(until([&] { return says(logs(grid.place), "goes on after step"); }, 90));
    REQUIRE(Cluster::ask("scancel " + grid.job).exit_code == 0);
    REQUIRE(until([&] { return !is_queued(grid.place); }, 60));
    CHECK(!says(logs(grid.place), "submitted again"));
    CHECK(says(standing(grid.place), "array tasks: 1 cancelled"));
    const auto again = grid.place.run({"run", "study.toml", "--slurm", "--array", "1"});
    INFO(again.err);
    CHECK(says(again.err, "1 task for 1 share"));
    grid.expect_as_alone();
  }
  limited.expect_as_alone();
  CHECK(says(logs(limited.place), "the job's time is over in"));
  CHECK(!says(logs(limited.place), "DUE TO TIME LIMIT"));
}
