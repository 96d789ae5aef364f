// Leases in SQLite: a result is recorded once, under its own fence, even if other processes write.
#include "db/history/leases.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/byte_locks.h"
#include "db/history/experiments.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;
using What = LeaseAnswer::What;

namespace {

std::int64_t number(const std::filesystem::path& file, const std::string& sql) {
  return SQLite::Database(file.string()).execAndGet(sql).getInt64();
}

std::string text(const std::filesystem::path& file, const std::string& sql) {
  return SQLite::Database(file.string()).execAndGet(sql).getString();
}

std::vector<nlohmann::json> trials_of(int count) {
  std::vector<nlohmann::json> all;
  for (int seed = 1; seed <= count; ++seed) all.push_back(trial("softmax", {}, seed));
  return all;
}

const auto kA = trial("softmax", {}, 1), kB = trial("softmax", {}, 2);

/// A history that two schedulers share.
struct Shared {
  Folder folder;
  std::filesystem::path file = folder / "h.db";
  Store one{file}, two{file};
  std::int64_t first = 0, second = 0;
  bool first_lives = true;

  Shared() {
    put(one, "study", {kA, kB});
    const auto lives = [](const LeaseOwner&, bool) { return false; };
    first = one.add_owner([](std::int64_t) { return true; }, lives);
    second = two.add_owner([](std::int64_t) { return true; }, lives);
  }
  LeaseAnswer ask(Store& store, std::int64_t slot, const nlohmann::json& trial = kA, bool again = false,
                  std::int64_t since = 0) {
    return store.take_lease(key_of(trial), slot, since, again,
                            [&](const LeaseOwner& owner) { return owner.slot == first && !first_lives; });
  }
  Attempt result(std::int64_t fence, const std::string& outcome = "done") const {
    auto attempt = outcome == "done" ? done(kA, 80) : failed(kA, "loss is nan", outcome);
    attempt.main_metric = "test/accuracy";
    attempt.fence = fence;
    return attempt;
  }
  std::int64_t done_attempts() const { return number(file, "SELECT count(*) FROM attempts WHERE outcome = 'done'"); }
};

}  // namespace

TEST_CASE("a trial that runs elsewhere is not leased; a done trial is leased only with `again`, under a newer fence") {
  Shared at;
  const auto mine = at.ask(at.one, at.first);
  REQUIRE(mine.what == What::kMine);
  CHECK(at.ask(at.two, at.second).what == What::kElsewhere);
  CHECK(at.ask(at.two, at.second, kA, true).what == What::kElsewhere);
  const auto other = at.ask(at.two, at.second, kB);
  CHECK(other.what == What::kMine);
  CHECK(other.fence > mine.fence);
  CHECK(at.one.leases().held.size() == 2);
  CHECK(at.one.put_leased(at.result(mine.fence)));
  CHECK(at.one.leases().held.size() == 1);
  CHECK(at.ask(at.two, at.second).what == What::kDone);
  const auto again = at.ask(at.two, at.second, kA, true);
  CHECK(again.what == What::kMine);
  CHECK(again.fence > other.fence);
}

TEST_CASE("a trial that its scheduler released, or whose scheduler exited, is free for all schedulers") {
  Shared at;
  const auto mine = at.ask(at.one, at.first);
  at.one.give_back(key_of(kA), mine.fence + 1);  // has no effect: this fence belongs to another lease
  CHECK(at.ask(at.two, at.second).what == What::kElsewhere);
  at.one.give_back(key_of(kA), mine.fence);
  const auto theirs = at.ask(at.two, at.second);
  CHECK(theirs.what == What::kMine);
  bool last = false;
  at.two.remove_owner(at.second, [&] { last = true; });
  CHECK_FALSE(last);
  CHECK(at.ask(at.one, at.first).what == What::kMine);
  at.one.remove_owner(at.first, [&] { last = true; });
  CHECK(last);
  CHECK(at.one.leases().held.empty());
}

TEST_CASE("a late result is stored as an interrupted attempt with the result in its reason, and counts nowhere") {
  Shared at;
  const auto mine = at.ask(at.one, at.first);
  at.first_lives = false;
  const auto theirs = at.ask(at.two, at.second);
  REQUIRE(theirs.what == What::kMine);
  const auto write_late = [&] { CHECK_FALSE(at.one.put_leased(at.result(mine.fence))); };
  const bool first = GENERATE(true, false);
  if (first) write_late();
  CHECK(at.two.put_leased(at.result(theirs.fence)));
  if (!first) write_late();
  CHECK(at.done_attempts() == 1);
  CHECK(text(at.file, "SELECT reason FROM attempts WHERE outcome = 'interrupted'") ==
        "came late: another scheduler had taken the trial over (fence 1, now 2); it was done, test/accuracy 80.000000");
  CHECK(number(at.file, "SELECT count(*) FROM metrics JOIN attempts USING (attempt) WHERE outcome = 'interrupted'") == 0);
}

TEST_CASE("a fence records one result, even if it is written several times") {
  Shared at;
  const auto mine = at.ask(at.one, at.first);
  CHECK(at.one.put_leased(at.result(mine.fence)));
  CHECK_FALSE(at.one.put_leased(at.result(mine.fence)));
  CHECK(at.done_attempts() == 1);
}

TEST_CASE("a trial that failed elsewhere is not leased, except if it failed before this run or was interrupted") {
  Shared at;
  const auto mine = at.ask(at.one, at.first);
  const auto [outcome, is_free] = GENERATE(table<std::string, bool>({{"failed", false},
                                                                     {"timeout", false},
                                                                     {"stalled", false},
                                                                     {"oom", false},
                                                                     {"refused", true},
                                                                     {"interrupted", true},
                                                                     {"lost", true}}));
  CHECK(at.one.put_leased(at.result(mine.fence, outcome)));
  CHECK(at.ask(at.two, at.second).what == (is_free ? What::kMine : What::kFailed));
  CHECK(at.ask(at.two, at.second, kA, false, mine.fence).what == (is_free ? What::kElsewhere : What::kMine));
}

TEST_CASE("a trial that its scheduler will retry is free for all schedulers until the retry, under a new fence") {
  Shared at;
  const auto mine = at.ask(at.one, at.first);
  auto attempt = at.result(mine.fence, "oom");
  attempt.is_tried_again = true;
  CHECK(at.one.put_leased(attempt));
  CHECK_FALSE(at.one.put_leased(attempt));  // a fence records only one attempt
  CHECK(at.one.leases().held.empty());
  const auto theirs = at.ask(at.two, at.second);
  REQUIRE(theirs.what == What::kMine);
  CHECK(theirs.fence > mine.fence);
  CHECK(mine.past.outcomes.empty());
  CHECK(theirs.past.outcomes == std::vector<std::string>{"oom", "interrupted"});  // the late result is "interrupted"
  CHECK(at.ask(at.one, at.first).what == What::kElsewhere);
  CHECK(at.two.put_leased(at.result(theirs.fence, "oom")));
  CHECK(at.ask(at.one, at.first).what == What::kFailed);
}

TEST_CASE("a scheduler may lease a trial again after its own failure") {
  Shared at;
  const auto mine = at.ask(at.one, at.first);
  CHECK(at.one.put_leased(at.result(mine.fence, "failed")));
  CHECK(at.ask(at.one, at.first).what == What::kMine);
}

TEST_CASE("a slot is used once; a locked slot is skipped, and a scheduler may refuse to start beside others") {
  Folder folder;
  const auto file = folder / "h.db";
  Store store(file);
  std::vector<std::int64_t> tried;
  const auto from_third = [&](std::int64_t slot) {
    tried.push_back(slot);
    return slot >= 3;
  };
  const auto dead = [](const LeaseOwner&, bool) { return true; };
  CHECK(store.add_owner(from_third, dead) == 3);
  CHECK(tried == std::vector<std::int64_t>{1, 2, 3});
  std::vector<std::pair<std::int64_t, bool>> met;
  const auto meet = [&](const LeaseOwner& other, bool heard) {
    met.emplace_back(other.slot, heard);
    return true;
  };
  CHECK(store.add_owner(from_third, meet) == 4);
  CHECK(met == std::vector<std::pair<std::int64_t, bool>>{{3, true}});
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("UPDATE lease_owner SET heard_us = heard_us - 61000000");
  met.clear();
  CHECK(store.add_owner(from_third, meet) == 5);
  CHECK(met == std::vector<std::pair<std::int64_t, bool>>{{4, false}});  // owner 3 held no lease, and is forgotten
  CHECK_THROWS_AS(store.add_owner(from_third, [](const LeaseOwner&, bool) -> bool { throw Error("refused"); }), Error);
  CHECK(number(file, "SELECT count(*) FROM lease_owner") == 1);
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("UPDATE lease_owner SET heard_us = heard_us - 61000000");
  store.put_running({});
  met.clear();
  store.add_owner(from_third, meet);
  CHECK(met.front().second);  // the heartbeat shows that the owner lives
}

TEST_CASE("a deletion removes leases that have ended, and leaves active leases") {
  Shared at;
  const auto mine = at.ask(at.one, at.first);
  at.ask(at.one, at.first, kB);
  CHECK(at.one.put_leased(at.result(mine.fence)));
  Store(at.file).put_running({});
  delete_experiment(at.file, "study", deletion_of(Reader(at.file), "study"), true, at.folder / "backup.db");
  CHECK(number(at.file, "SELECT count(*) FROM lease") == 1);
  CHECK(text(at.file, "SELECT key FROM lease") == key_of(kB));
}

namespace {

constexpr int kProcesses = 8, kTrials = 150;

/// A scheduler that leases, "runs" and records trials until all are done. It dies during lease number `last` (at most 14).
/// At least one of eight schedulers dies: if none died, one of them would lease 19 or more of the 150 trials.
void hammer(const std::filesystem::path& file, const std::vector<nlohmann::json>& trials, int last) {
  Store store(file);
  const auto locks = locks_beside(file);
  const auto before = store.leases().newest;
  const auto slot = store.add_owner([&](std::int64_t wished) { return locks->take(wished); },
                                    [&](const LeaseOwner& other, bool) { return !locks->is_held(other.slot); });
  for (bool any = true; any;) {
    any = false;
    for (const auto& trial : trials) {
      const auto answer = store.take_lease(key_of(trial), slot, before, false,
                                           [&](const LeaseOwner& owner) { return !locks->is_held(owner.slot); });
      any = any || answer.what != What::kDone;
      if (answer.what != What::kMine) continue;
      if (--last == 0) raise(SIGKILL);
      auto attempt = done(trial, 50);
      attempt.fence = answer.fence;
      attempt.output = std::to_string(answer.fence);
      store.put_leased(attempt);
    }
  }
  store.remove_owner(slot, [&] { locks->remove(); });
}

}  // namespace

TEST_CASE("eight processes that die now and then record each trial once, each under its own fence") {
  Folder folder;
  const auto file = folder / "h.db";
  const auto trials = trials_of(kTrials);
  {
    Store store(file);
    put(store, "study", trials);
  }
  int started = 0;
  const auto start = [&] {
    const int last = 5 + started++ % 10;
    const pid_t child = fork();
    if (child != 0) return child;
    try {
      hammer(file, trials, last);
      _exit(0);
    } catch (const std::exception& error) {
      fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
  };
  int running = 0, killed = 0;
  for (; running < kProcesses; ++running) REQUIRE(start() > 0);
  while (running > 0) {
    int status = 0;
    REQUIRE(wait(&status) > 0);
    --running;
    if (WIFSIGNALED(status)) {
      ++killed;
      REQUIRE(start() > 0);
      ++running;
    } else {
      CHECK(WEXITSTATUS(status) == 0);
    }
  }
  CHECK(killed > 0);
  CHECK(number(file, "SELECT count(*) FROM attempts") == kTrials);
  CHECK(number(file, "SELECT count(DISTINCT key) FROM attempts WHERE outcome = 'done'") == kTrials);
  CHECK(number(file, "SELECT count(DISTINCT output) FROM attempts") == kTrials);
  CHECK(number(file, "SELECT count(*) FROM lease WHERE outcome IS NULL") == 0);
}
