// tools/test --soak: a grid that repeatedly loses its jobs and its node has the same table as a local run.
#include "tests/slurm/slow_grid.h"
#include "tests/support/soak.h"

namespace {

/// Returns a study of four slow trials.
std::string study() {
  auto text = slow_study(1200) + "[grid]\nseeds = 4\n";
  return text;
}

/// Runs the grid under Slurm to its end. Meanwhile calls `befall` every 8 s, until it has returned true `most` times.
/// @return number of calls that returned true
int suffer(const std::vector<std::string>& options, const std::function<bool()>& befall, int most) {
  Workplace place;
  place.set("ABLATE_PLUGIN_PATH", kFaulty + "trial");
  use_own_machine(place);
  place.study(study());
  auto words = options;
  words.insert(words.begin(), {"run", "study.toml", "--slurm", "--array", "2", "--shares", "2", "--cpus", "1", "-j", "1"});
  REQUIRE(place.run(words).exit_code == 0);
  int times = 0;
  // Waits for progress between the calls, because the grid would never end otherwise.
  while (times < most && !ends(place, 2, 8)) times += befall() ? 1 : 0;
  const bool ended = ends(place, 2, 300);
  INFO(logs(place));
  REQUIRE(ended);
  REQUIRE(place.run({"merge", "study.shares"}).exit_code == 0);
  CHECK(place.query("SELECT count(*) AS n, count(DISTINCT key) AS keys FROM attempts WHERE outcome = 'done'") ==
        nlohmann::json::parse(R"([{"n": 4, "keys": 4}])"));
  static const auto expected = [] {
    Workplace alone;
    alone.set("ABLATE_PLUGIN_PATH", kFaulty + "trial");
    alone.study(study());
    REQUIRE(alone.run({"run", "study.toml", "-j", "4"}).exit_code == 0);
    return numbers(alone);
  }();
  CHECK(numbers(place) == expected);
  return times;
}

bool make_way() {
  const bool submitted = Cluster::ask("sbatch --wait -p first -c 4 -o /dev/null --wrap true").exit_code == 0;
  return submitted;
}

bool lose_node() {
  if (!says(Cluster::ask("squeue -h -t R -o %T").out, "RUNNING")) return false;
  cluster().tell("kill-node");
  const bool is_down = until([] { return says(Cluster::ask("sinfo -h -o %T").out, "down"); }, 60);
  return cluster().tell("start-node").exit_code == 0 && is_down;
}

}  // namespace

TEST_CASE("jobs that are preempted again and again, and nodes that are lost, cost no trial", "[soak]") {
  const int preemptions = rounds(0, 50), losses = rounds(0, 20);
  if (preemptions == 0 || !is_there()) return;
  int made_way = 0, lost = 0;
  for (int grid = 0; made_way < preemptions && grid < 40; ++grid)
    made_way += suffer({"--partition", grid % 2 == 0 ? "requeued" : "cancelled"}, make_way, preemptions - made_way);
  for (int grid = 0; lost < losses && grid < 40; ++grid) lost += suffer({}, lose_node, losses - lost);
  CHECK(made_way == preemptions);
  CHECK(lost == losses);
}
