// A grid's processes are killed at random moments, and the grid runs again until it is done. Its trials and numbers equal the
// trials and numbers of an undisturbed run.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <random>
#include <thread>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"
#include "tests/support/soak.h"

using nlohmann::json;

namespace {

const std::string kGrid = kTiny + R"(
[attention]
plugin = "linear"
[grid]
train.steps = [150, 300, 600]
seeds = 2
)";

/// @param seconds the value of [experiment] checkpoint, which is not part of a key
std::string grid_with_checkpoint(const std::string& seconds) {
  auto text = kGrid;
  const std::string name = "name = \"tiny\"\n";
  return text.insert(text.find(name) + name.size(), "checkpoint = " + seconds + "\n");
}

/// Returns the numbers that all runs of a trial share, one row in each line: losses and accuracies, in metrics and curves.
std::vector<std::string> numbers(Workplace& place) {
  std::vector<std::string> all;
  for (const std::string columns : {"v.key, v.metric, v.value FROM metrics", "v.key, v.metric, v.step, v.value FROM curves"})
    for (const auto& row : place.query("SELECT " + columns +
                                       " v JOIN attempts a USING (attempt) WHERE a.outcome = 'done' AND "
                                       "(v.metric LIKE '%/loss' OR v.metric LIKE '%/accuracy')"))
      all.push_back(row.dump());
  std::sort(all.begin(), all.end());
  return all;
}

std::string first_difference(const std::vector<std::string>& found, const std::vector<std::string>& expected) {
  for (std::size_t i = 0; i < std::max(found.size(), expected.size()); ++i)
    if (i >= found.size() || i >= expected.size() || found[i] != expected[i])
      return (i < found.size() ? found[i] : "nothing") + ", expected " + (i < expected.size() ? expected[i] : "nothing");
  return "";
}

/// Returns the table for a paper, with all digits that a table can show.
std::string table(Workplace& place) {
  return place.run({"table", "tiny", "--metric", "test/accuracy,test/loss,dev/loss", "--decimals", "8", "--format", "csv"}).out;
}

/// Returns a process and all its descendants that run now.
std::vector<pid_t> with_children(pid_t first) {
  std::vector<pid_t> all{first};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto child : children_of(all[i])) all.push_back(child);
  return all;
}

bool all_end(const std::vector<pid_t>& processes) {
  for (int tries = 0; tries < 6000; ++tries) {
    if (std::none_of(processes.begin(), processes.end(), is_alive)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("a grid that is killed again and again has the numbers of an undisturbed grid") {
  Workplace quiet;
  REQUIRE(quiet.run({"run", quiet.study(kGrid).string(), "-j", "2"}).exit_code == 0);
  const auto expected = numbers(quiet);
  REQUIRE(expected.size() > 6 * 20);
  const auto expected_table = table(quiet);
  REQUIRE(count_of(expected_table, "\n") > 3);

  std::mt19937 random(20261123);
  for (int round = 0; round < rounds(2, 100); ++round) {
    Workplace place;
    const auto study = place.study(grid_with_checkpoint(round % 2 == 0 ? "0" : "0.1")).string();
    std::size_t reported = 0;
    for (int kills = 0; kills < 3; ++kills) {
      // The second time, two schedulers share the grid, and the killed processes belong to the first scheduler.
      auto running = place.start({"run", study, "-j", "2"});
      std::future<Ended> beside;
      if (kills == 1) beside = std::async(std::launch::async, [&] { return place.run({"run", study, "-j", "1"}); });
      std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution<int>(20, 2500)(random)));
      const auto processes = with_children(running.pid());
      // A quarter of the kills hit all processes. Half of the other kills hit the scheduler, by SIGKILL or a signal
      // that it can handle. The rest hit a random process.
      const bool all = random() % 4 == 0;
      const bool scheduler = !all && random() % 2 == 0;
      const auto hit = scheduler ? processes.front() : processes[random() % processes.size()];
      const auto sent = scheduler && random() % 2 == 0 ? SIGTERM : SIGKILL;
      INFO("round " << round << ", kill " << kills << ": signal " << sent << " for "
                    << (all                        ? "all"
                        : hit == processes.front() ? "the scheduler"
                                                   : "another process")
                    << " beside " << processes.size() - 1);
      for (const auto one : all ? processes : std::vector<pid_t>{hit}) kill(one, sent);
      const auto ended = running.wait();
      INFO(ended.err);
      CHECK(all_end(processes));
      if (beside.valid()) {
        const auto other = beside.get();
        INFO(other.err);
        CHECK((other.exit_code == 0 || other.exit_code == 1));
        reported += count_of(other.err, "] done");
      }
      reported += count_of(ended.err, "] done");
      if (place.has_database() && reported > 0)
        CHECK(place.query("SELECT count(*) AS n FROM attempts WHERE outcome = 'done'")[0]["n"].get<std::size_t>() >= reported);
    }
    const auto ended = place.run({"run", study, "-j", "2", "--retry", "failed"});  // a trial's own process may have been killed
    INFO(ended.err);
    CHECK(ended.exit_code == 0);
    CHECK(place.query("SELECT count(*) AS n FROM attempts WHERE outcome = 'done'")[0]["n"] == 6);
    CHECK(first_difference(numbers(place), expected) == "");
    CHECK(table(place) == expected_table);
    CHECK(place.run({"db", "check"}).exit_code == 0);
  }
}
