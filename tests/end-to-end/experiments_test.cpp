// Renaming and deleting experiments: at a terminal, and while a grid runs.
#include <chrono>
#include <thread>

#include "tests/db/fixture.h"
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"
#include "tests/support/terminal.h"

namespace {

/// Runs a command at a terminal and types the answer.
Ended at_terminal(Workplace& place, const std::string& command, const std::string& answer) {
  return place.shell("printf '" + answer + "' | script -qec \"$ablate " + command + "\" /dev/null");
}

}  // namespace

TEST_CASE("at a terminal, a deletion shows how many trials it removes and asks; only yes deletes") {
  if (!has_terminals()) return;
  using namespace ablate::db;
  Workplace place;
  {
    Store store(place.folder() / "ablate.db");
    const auto one = trial("softmax", {}, 1);
    put(store, "quick", {one, trial("linear", {}, 1)});
    store.put_attempt(done(one, 50));
  }
  for (const char* answer : {"n\\n", "\\n", "yy\\n", "\\004"}) {
    const auto kept = at_terminal(place, "experiment delete quick", answer);
    INFO(answer << ": " << kept.out << kept.err);
    CHECK(kept.exit_code == 130);
    CHECK(says(kept.out, "This deletes quick with 2 trials and 1 attempt that no other experiment has."));
    CHECK(says(kept.out, "nothing was deleted"));
    CHECK(place.query("SELECT experiment FROM experiments").dump() == R"([{"experiment":"quick"}])");
  }
  const auto gone = at_terminal(place, "experiment delete quick", "y\\n");
  INFO(gone.out << gone.err);
  CHECK(gone.exit_code == 0);
  CHECK(says(gone.out, "a copy of the earlier history is in ablate.backup-"));
  CHECK(place.query("SELECT experiment FROM experiments").empty());
}

TEST_CASE("a running grid allows its experiment to be renamed, but prevents its deletion") {
  Workplace place;
  const auto study = kTiny + "[attention]\nplugin = \"softmax\"\n[grid]\nseeds = 3\n";
  auto grid = place.start({"run", place.study(study).string(), "-j", "1", "--set", "train.steps=600"});
  int tries = 0;
  while (++tries < 3000 && place.query("SELECT key FROM running").size() != 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto refused = place.run({"experiment", "delete", "tiny", "--yes"});
  CHECK(refused.exit_code == 2);
  CHECK(says(refused.err,
             "tiny cannot be deleted: found process " + std::to_string(grid.pid()) + ", which runs 1 of its trials"));
  CHECK(place.run({"experiment", "rename", "tiny", "renamed"}).exit_code == 0);
  const auto ended = grid.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(
      place
          .query("SELECT outcome, count(*) AS n FROM members JOIN trials USING (trial) WHERE experiment = 'renamed' GROUP BY 1")
          .dump() == R"([{"n":3,"outcome":"done"}])");
  CHECK(place.query("SELECT experiment FROM experiments").size() == 1);
}
