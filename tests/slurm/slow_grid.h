// Grids for a Slurm on one machine, and their checks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/slurm/cluster.h"
#include "tests/support/skip.h"

/// Jobs of the partition `first` preempt jobs of `requeued`, which are requeued, and jobs of `cancelled`, which are cancelled.
inline const std::vector<std::string> kLines = {
    "MaxArraySize=20",
    "PreemptType=preempt/partition_prio",
    "PreemptMode=REQUEUE",
    "JobRequeue=1",
    "PartitionName=usual Nodes=localhost Default=YES MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF",
    "PartitionName=requeued Nodes=localhost MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE",
    "PartitionName=cancelled Nodes=localhost MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=CANCEL",
    "PartitionName=first Nodes=localhost MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF"};

/// Returns the cluster that all test cases share, because its start and end take seconds.
inline Cluster& cluster() {
  static Cluster one(kLines);
  return one;
}

/// Returns false and skips the case if no Slurm can run here.
inline bool is_there() {
  if (const auto lack = Cluster::lacks(); !lack.empty()) return skip(lack), false;
  if (!Cluster::has_package()) return skip_without_package("slurm-wlm"), false;
  if (!cluster().is_there() && !cluster().why().empty()) FAIL("Slurm did not start: " << cluster().why());
  return cluster().is_there();
}

/// Returns a study of one trial. A step takes 10 ms on any processor, and almost no processor time.
inline std::string slow_study(int steps) {
  auto text = kTiny + "[attention]\nplugin = \"faulty\"\nfault = \"slow\"\n";
  text.replace(text.find("steps = 6"), 9, "steps = " + std::to_string(steps) + "\nevaluate_every = " + std::to_string(steps));
  const std::string name = "name = \"tiny\"\n";
  return text.insert(text.find(name) + name.size(), "checkpoint = 0.5\n");
}

inline nlohmann::json numbers(Workplace& place) {
  return place.query(
      "SELECT v.key, v.metric, v.value FROM metrics v WHERE v.metric NOT LIKE '%time%' AND v.metric NOT LIKE '%second%' AND "
      "v.metric NOT LIKE '%spread' AND v.metric NOT LIKE 'memory/peak_resident%' ORDER BY 1, 2");
}

inline bool is_queued(Workplace& place) {
  return says(Cluster::ask("squeue -h -t PD,R,CG -o %Z").out, place.folder().path().string());
}

inline std::string standing(Workplace& place) { return place.run({"watch", "--shared", "study.shares", "--once"}).out; }

/// True if all shares end within `seconds`, and no job of the grid is left then.
inline bool ends(Workplace& place, int shares, double seconds) {
  return until(
      [&] {
        for (int index = 0; index < shares; ++index)
          if (!std::filesystem::exists(place.folder() / ("study.shares/share-" + std::to_string(index) + ".end"))) return false;
        return !is_queued(place);
      },
      seconds);
}

inline std::string logs(Workplace& place) {
  std::string all;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(place.folder() / "study.shares/logs", none))
    all += entry.path().filename().string() + ":\n" + read_text(entry.path());
  return all;
}

inline void use_own_machine(Workplace& place) {
  std::filesystem::create_directories(place.folder() / "disk");
  place.set("TMPDIR", (place.folder() / "disk").string());
}

/// A grid of slow trials under Slurm, with one share and one task for each trial. The same grid also runs without Slurm.
class SlowGrid {
 public:
  SlowGrid(int steps, std::vector<std::string> options, int trials = 1)
      : trials_(trials), running_(begun(alone_, steps, trials)) {
    write(place, steps, trials);
    use_own_machine(place);
    const auto all = std::to_string(trials);
    options.insert(options.begin(), {"run", "study.toml", "--slurm", "--array", all, "--shares", all});
    const auto submitted = place.run(options);
    INFO(submitted.err);
    REQUIRE(submitted.exit_code == 0);
    const auto at = submitted.err.find("submitted job ") + 14;
    job = submitted.err.substr(at, submitted.err.find(':', at) - at);
  }

  bool has_checkpoint() {
    return until(
        [&] {
          std::error_code none;
          for (const auto& entry :
               std::filesystem::directory_iterator(place.folder() / "study.shares/share-0.db.checkpoints", none))
            if (entry.path().extension() == ".checkpoint") return true;
          return false;
        },
        90);
  }

  /// Checks that the grid continued from its checkpoint and has the same numbers as the grid without Slurm.
  void expect_as_alone() {
    const bool ended = ends(place, trials_, 240);
    INFO(logs(place));
    REQUIRE(ended);
    CHECK(says(logs(place), "goes on after step"));
    REQUIRE(place.run({"merge", "study.shares"}).exit_code == 0);
    CHECK(place.query("SELECT count(*) AS n FROM attempts WHERE outcome = 'done'")[0]["n"] == trials_);
    REQUIRE(running_.wait().exit_code == 0);
    const auto expected = numbers(alone_);
    CHECK(expected.size() > 4);
    CHECK(numbers(place) == expected);
  }

  Workplace place;
  std::string job;

 private:
  static void write(Workplace& where, int steps, int trials) {
    where.set("ABLATE_PLUGIN_PATH", kFaulty + "trial");
    where.study(slow_study(steps) + "[grid]\nseeds = " + std::to_string(trials) + "\n");
  }
  static Process begun(Workplace& where, int steps, int trials) {
    write(where, steps, trials);
    return where.start({"run", "study.toml"});
  }

  Workplace alone_;
  int trials_;
  Process running_;
};
