// A grid is divided among machines (temporary folders). Its numbers equal one machine's numbers, even if a machine is lost.
#include <signal.h>

#include <chrono>
#include <functional>
#include <thread>

#include "tests/end-to-end/ablate.h"
#include "tests/end-to-end/page_commands.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string kGrid = "[grid]\nattention.plugin = [\"linear\", \"softmax\"]\nseeds = 3\n";

std::string long_study(const std::string& rest) {
  auto text = kTiny + rest;
  text.replace(text.find("steps = 6"), 9, "steps = 2000");
  const std::string name = "name = \"tiny\"\n";
  return text.insert(text.find(name) + name.size(), "checkpoint = 0.05\n");
}

/// Simulates that all further processes of the workplace run on the machine with this name.
void use_machine(Workplace& place, const std::string& machine) {
  const auto folder = place.folder() / machine;
  fs::create_directories(folder);
  place.set("TMPDIR", folder.string());
}

Ended share(Workplace& place, const std::string& machine, const std::string& name, std::vector<std::string> more = {}) {
  use_machine(place, machine);
  more.insert(more.begin(), {"run", "study.toml", "--share", name});
  return place.run(more);
}

/// Returns all numbers of done trials, except numbers that vary from run to run: times, rates and resident memory.
json numbers(Workplace& place) {
  return place.query(
      "SELECT v.key, v.metric, v.value FROM metrics v WHERE v.metric NOT LIKE '%time%' AND v.metric NOT LIKE '%second%' AND "
      "v.metric NOT LIKE '%spread' AND "
      "v.metric NOT LIKE 'memory/peak_resident%' ORDER BY 1, 2");
}

bool until(const std::function<bool()>& holds) {
  for (int tries = 0; tries < 6000; ++tries) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return holds();
}

bool has_checkpoint(const fs::path& folder) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() == ".checkpoint") return true;
  return false;
}

void kill_all_of(const Process& ablate) {
  std::vector<pid_t> all;
  for (const auto worker : children_of(ablate.pid())) {
    for (const auto trial : children_of(worker)) all.push_back(trial);
    all.push_back(worker);
  }
  ablate.send(SIGKILL);
  for (const auto pid : all) kill(pid, SIGKILL);
}

}  // namespace

TEST_CASE("merged shares equal the grid of one machine to the last bit") {
  Workplace alone;
  alone.study(kTiny + kGrid);
  REQUIRE(alone.run({"run", "study.toml"}).exit_code == 0);
  const auto expected = numbers(alone);
  REQUIRE(expected.size() > 20);

  Workplace place;
  place.study(kTiny + kGrid);
  const auto planned = place.run({"run", "study.toml", "--plan", "plan.json", "--shares", "4"});
  INFO(planned.err);
  REQUIRE(planned.exit_code == 0);
  CHECK(says(planned.out, "tiny: 6 trials in 4 shares"));
  CHECK(!place.has_database());
  for (int index = 0; index < 4; ++index) {
    const auto machine = "machine-" + std::to_string(index);
    const auto ended = share(place, machine, std::to_string(index) + "/4", {"--plan", "plan.json"});
    INFO(ended.err);
    CHECK(ended.exit_code == 0);
    CHECK(fs::is_empty(place.folder() / machine));  // all files are in the shared folder
  }
  const auto merged = place.run({"merge", "study.shares"});
  CHECK(merged.exit_code == 0);
  CHECK(place.query("SELECT count(*) AS n FROM attempts")[0]["n"] == 6);
  CHECK(numbers(place) == expected);
  CHECK(says(place.run({"run", "study.toml"}).err, "0 done, 6 done before"));
  CHECK(place.run({"merge", "study.shares"}).exit_code == 0);  // a second merge changes nothing
  CHECK(place.query("SELECT count(*) AS n FROM attempts")[0]["n"] == 6);
}

TEST_CASE("without a plan, every machine makes the same plan; shares run in turn; done shares are not rerun") {
  Workplace place;
  place.study(kTiny + kGrid);
  CHECK(share(place, "a", "0,2/3").exit_code == 0);
  CHECK(share(place, "b", "1/3").exit_code == 0);
  REQUIRE(place.run({"merge", "study.shares"}).exit_code == 0);
  CHECK(place.query("SELECT count(*) AS n, count(DISTINCT key) AS keys FROM attempts") ==
        json::parse(R"([{"n": 6, "keys": 6}])"));
  const auto again = share(place, "c", "0,1,2/3");
  CHECK(again.exit_code == 0);
  CHECK(count_of(again.err, "0 done, 2 done before") == 3);
  const auto other = place.run({"run", "study.toml", "--share", "0/2"});
  CHECK(other.exit_code == 2);
  CHECK(says(other.err, "study.shares/plan.json is another plan"));
  CHECK(says(place.run({"watch", "--shared", "study.shares"}).out, "tiny: 6 of 6 trials done, 0 failed; 3 of 3 shares ended"));
  const auto dry = place.run({"run", "study.toml", "--share", "1/3", "--dry-run"});
  CHECK(dry.exit_code == 0);
  CHECK(says(dry.out, "tiny: 2 trials of 6"));
  // A grid that ran after the plan was made stays the latest grid, although a share ran after it.
  place.study(kTiny + "[attention]\nplugin = \"linear\"\n");
  REQUIRE(place.run({"run", "study.toml"}).exit_code == 0);
  place.study(kTiny + kGrid);
  REQUIRE(share(place, "d", "1/3").exit_code == 0);
  REQUIRE(place.run({"merge", "study.shares"}).exit_code == 0);
  CHECK(place.query("SELECT count(*) AS n FROM members WHERE listed")[0]["n"] == 1);
}

TEST_CASE("a share whose machine is lost resumes elsewhere from its checkpoint, with the same numbers") {
  const auto study = long_study("[attention]\nplugin = \"linear\"\n");
  Workplace alone;
  alone.study(study);
  REQUIRE(alone.run({"run", "study.toml"}).exit_code == 0);

  Workplace place;
  place.study(study);
  use_machine(place, "lost");
  {
    auto running = place.start({"run", "study.toml", "--share", "0/1"});
    REQUIRE(until([&] { return has_checkpoint(place.folder() / "study.shares/share-0.db.checkpoints"); }));
    kill_all_of(running);
    running.wait();
  }
  const auto ended = share(place, "next", "0/1");
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(says(ended.err, "goes on after step"));
  CHECK(!has_checkpoint(place.folder() / "study.shares/share-0.db.checkpoints"));
  REQUIRE(place.run({"merge", "study.shares"}).exit_code == 0);
  CHECK(numbers(place) == numbers(alone));
}

TEST_CASE("a share that is stopped exits with 75, and its trial resumes wherever the share is merged") {
  const auto study = long_study("[attention]\nplugin = \"linear\"\n");
  Workplace place;
  place.study(study);
  use_machine(place, "a");
  auto running = place.start({"run", "study.toml", "--share", "0/1"});
  REQUIRE(until([&] { return has_checkpoint(place.folder() / "study.shares/share-0.db.checkpoints"); }));
  running.send(SIGTERM);
  const auto ended = running.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 75);
  REQUIRE(place.run({"merge", "study.shares"}).exit_code == 0);
  CHECK(place.query("SELECT outcome FROM attempts") == json::parse(R"([{"outcome": "interrupted"}])"));
  const auto here = place.run({"run", "study.toml"});
  CHECK(here.exit_code == 0);
  CHECK(says(here.err, "goes on after step"));
}

TEST_CASE("a damaged share prevents no other share from running and is reported by name") {
  Workplace place;
  place.study(kTiny + kGrid);
  place.folder().write("study.shares/share-0.0123abcd.db", "no database");
  const auto ended = share(place, "a", "0,1/2");
  INFO(ended.err);
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, "study.shares/share-0.0123abcd.db"));
  CHECK(fs::exists(place.folder() / "study.shares/share-1.end"));
  const auto seen = place.run({"watch", "--shared", "study.shares"});
  CHECK(seen.exit_code == 0);
  CHECK(says(seen.out, "3 of 6 trials done"));
  CHECK(says(seen.out, "share-0.0123abcd.db"));
}

TEST_CASE("two studies with the same name in two folders have separate histories on a machine") {
  Workplace first, second;
  TemporaryFolder machine;
  for (auto* place : {&first, &second}) {
    place->study(long_study("[attention]\nplugin = \"linear\"\n"));
    place->set("TMPDIR", machine.path().string());
  }
  auto one = first.start({"run", "study.toml", "--share", "0/1"}),
       other = second.start({"run", "study.toml", "--share", "0/1"});
  CHECK(one.wait().exit_code == 0);
  CHECK(other.wait().exit_code == 0);
  for (auto* place : {&first, &second}) {
    REQUIRE(place->run({"merge", "study.shares"}).exit_code == 0);
    CHECK(place->query("SELECT count(*) AS n FROM attempts")[0]["n"] == 1);
  }
  CHECK(fs::is_empty(machine.path()));
}

TEST_CASE("docs/clusters.md, with GNU parallel, works exactly as printed") {
  if (!fs::exists("/usr/bin/parallel")) return skip_without_package("parallel");
  Workplace place;
  place.study(kTiny + kGrid);
  use_machine(place, "a");
  const auto ended =
      place.shell("PATH=" + kBin + ":$PATH; set -e\n" + commands_in(ABLATE_SOURCE_DIR "/docs/clusters.md", "parallel"));
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(place.query("SELECT count(*) AS n FROM attempts")[0]["n"] == 6);
}

TEST_CASE("a share with a failed trial exits with 1; errors in a share or a plan are reported, and nothing runs") {
  Workplace place;
  place.study(kTiny + kGrid);
  const auto refused = [&](std::vector<std::string> words, const std::string& why, int code = 2) {
    words.insert(words.begin(), {"run", "study.toml"});
    const auto ended = place.run(words);
    INFO(ended.err);
    CHECK(ended.exit_code == code);
    CHECK(says(ended.err, why));
    CHECK(!fs::exists(place.folder() / "study.shares"));
  };
  refused({"--share", "3/3"}, "found 3/3, expected I/N");
  refused({"--shares", "3"}, "--plan");
  refused({"--plan", "plan.json"}, "--shares N, to write the plan, or --share I/N");
  refused({"--share", "0/3", "--again"}, "--again");
  refused({"--shares", "3", "--plan", "nowhere/plan.json"}, "--plan nowhere/plan.json: cannot be written");
  const auto plan_over = [&](const std::string& file) {
    refused({"--shares", "3", "--plan", file}, "--plan " + file + ": found");
  };
  const auto text = read_text(place.folder() / "study.toml");
  plan_over("study.toml");
  CHECK(read_text(place.folder() / "study.toml") == text);
  plan_over(".");
  refused({"--share", "0/3", "--plan", "none.json"}, "none.json");
  refused({"--partition", "gpu"}, "--slurm");
  refused({"--share", "0/3", "--db", "study.shares/mine.db"}, "found a file in the shared folder");
  for (const auto* shares : {"2", "3"})  // a generated plan is replaced, an edited plan is not
    REQUIRE(place.run({"run", "study.toml", "--plan", "plan.json", "--shares", shares}).exit_code == 0);
  REQUIRE(place.shell("echo >> plan.json").exit_code == 0);
  plan_over("plan.json");
  refused({"--share", "0/4", "--plan", "plan.json"}, "plan.json has 3 shares, expected --share I/3");
  refused({"--share", "0/3", "--plan", "plan.json", "--set", "seeds=2"}, "does not belong to this study as it is now");
  place.study(kTiny + "[attention]\nplugin = \"linear\"\n");
  const auto failed = place.run({"run", "study.toml", "--share", "0/1", "--timeout", "0.001"});
  INFO(failed.err);
  CHECK(failed.exit_code == 1);
  CHECK(says(failed.err, "--db study.shares/share-0."));
  place.set("PATH", place.folder().path().string());
  const auto without = place.run({"run", "study.toml", "--slurm"});
  CHECK(without.exit_code == 2);
  CHECK(says(without.err, "found no program scontrol; --slurm needs sbatch, squeue and scontrol in the PATH. Without Slurm, "));
}
