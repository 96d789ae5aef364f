// Outcomes of attempts in histories and in tables.
#include <SQLiteCpp/SQLiteCpp.h>

#include "core/records/outcome.h"
#include "db/history/lineage.h"
#include "db/history/past_tries.h"
#include "db/questions/attempts/list_attempts.h"
#include "db/questions/attempts/list_experiments.h"
#include "db/questions/tables/make_table.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("a history stores and shows every outcome") {
  Folder folder;
  const auto file = folder / "new.db";
  Store store(file);
  std::vector<nlohmann::json> trials;
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) trials.push_back(trial("linear", {}, static_cast<int>(i)));
  put(store, "all", trials);
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
    const auto name = std::string(kOutcomes[i].name);
    store.put_attempt(i == 0 ? done(trials[i], 80) : failed(trials[i], "why " + name, name));
  }
  const Reader reader(file);
  const auto list = list_attempts(reader, {.experiment = "", .failed = true});
  CHECK(list.total == static_cast<std::int64_t>(kOutcomes.size()) - 1);
  const auto failures = last_failures(reader, {key_of(trials[0]), key_of(trials[2]), key_of(trials[4]), key_of(trials[7])});
  CHECK(failures.size() == 3);  // the first trial is done
  CHECK(failures.at(key_of(trials[2])) == "attempt 3 timed out: why timeout");
  CHECK(failures.at(key_of(trials[4])) == "attempt 5 ran out of memory: why oom");
  CHECK(failures.at(key_of(trials[7])) == "attempt 8 was lost with its worker: why lost");
}

namespace {

/// Stores an experiment with 20 trials (seeds 0 to 19), and returns the trials.
std::vector<nlohmann::json> twenty_trials(Store& store) {
  std::vector<nlohmann::json> trials;
  for (int seed = 0; seed < 20; ++seed) trials.push_back(trial("linear", {}, seed));
  put(store, "all", trials);
  return trials;
}

}  // namespace

TEST_CASE("the latest done attempts are the same for one key and for many keys at once") {
  Folder folder;
  const auto file = folder / "new.db";
  Store store(file);
  const auto trials = twenty_trials(store);
  for (const auto& one : trials) store.put_attempt(failed(one, "why", "failed"));
  for (const int seed : {3, 4, 3}) store.put_attempt(done(trials[static_cast<std::size_t>(seed)], 80));  // attempts 21 to 23
  store.put_attempt(failed(trials[4], "why", "failed"));
  store.put_proof({.before = {{"runtime", 3}},
                   .now = {{"runtime", 4}},
                   .environment = {{"host", "here"}},
                   .aliases = {{"new", 4, {{"runtime", 4}}}, {"newer", 5, {{"runtime", 4}}}}});
  auto again = done(trials[4], 80);
  again.key = "newer", again.started_us += 10;
  store.put_attempt(again);  // attempt 25
  std::vector<std::string> keys{"new", "newer", "none"};
  for (const auto& one : trials) keys.push_back(key_of(one));
  const Reader reader(file);
  const auto text = [](const std::map<std::string, std::int64_t>& done) { return nlohmann::json(done).dump(); };
  const nlohmann::json expected{{key_of(trials[3]), 23}, {key_of(trials[4]), 22}, {"new", 23}, {"newer", 25}};
  CHECK(text(done_attempts(reader, keys)) == expected.dump());
  std::map<std::string, std::int64_t> each;
  for (const auto& key : keys) each.merge(done_attempts(reader, {key}));
  CHECK(text(each) == expected.dump());
}

TEST_CASE("last failures, and latest done attempts with some settings, are the same for one key and for many keys at once") {
  Folder folder;
  const auto file = folder / "new.db";
  Store store(file);
  const auto trials = twenty_trials(store);
  const auto settings_of = [](int seed) { return nlohmann::json{{"seed", seed % 7}}; };  // several trials have equal settings
  for (int seed = 0; seed < 20; ++seed)
    store.put_parts(
        {{key_of(trials[static_cast<std::size_t>(seed)]), {settings_of(seed), {{"plugins", nlohmann::json::object()}}}}});
  for (int seed = 0; seed < 20; ++seed) {  // attempts 1 to 20, in order
    auto one = done(trials[static_cast<std::size_t>(seed)], 80);
    one.started_us += seed;
    store.put_attempt(one);
  }
  for (const auto& one : trials) store.put_attempt(failed(one, "first", "failed"));  // attempts 21 to 40
  for (const int seed : {3, 4}) store.put_attempt(failed(trials[static_cast<std::size_t>(seed)], "second", "failed"));
  const Reader reader(file);
  std::vector<std::string> keys{"none"};
  for (const auto& one : trials) keys.push_back(key_of(one));
  const auto failures = last_failures(reader, keys);
  CHECK(failures.size() == 20);
  CHECK(failures.at(key_of(trials[3])) == "attempt 41 failed: second");
  CHECK(failures.at(key_of(trials[5])) == "attempt 26 failed: first");
  std::unordered_map<std::string, std::string> each;
  for (const auto& key : keys) each.merge(last_failures(reader, {key}));
  CHECK((each == failures));

  std::vector<std::int64_t> hashes{1};  // a hash that no trial has
  for (int seed = 0; seed < 7; ++seed) hashes.push_back(hash_of_settings(settings_of(seed).dump()));
  const auto all = latest_done_with(reader, hashes);
  CHECK(all.size() == 7);
  CHECK(all.at(hashes[1]).attempt == 15);  // the last of seeds 0, 7 and 14
  for (const auto hash : hashes) {
    const auto one = latest_done_with(reader, {hash});
    CHECK(one.size() == all.count(hash));
    if (!one.empty()) CHECK(one.at(hash).attempt == all.at(hash).attempt);
  }
}

TEST_CASE("for keys that are not done, a history lists the outcomes of their attempts, the latest outcome last") {
  Folder folder;
  Store store(folder / "tries.db");
  const auto never = trial("linear", {}, 1), twice = trial("linear", {}, 2), at_last = trial("linear", {}, 3),
             other = trial("linear", {}, 4);
  put(store, "one", {never, twice, at_last, other});
  store.put_attempt(failed(twice, "a", "oom"));
  auto again = failed(twice, "b", "interrupted");
  again.started_us += 1, again.peak_resident_bytes = 128 << 20;
  store.put_attempt(again);
  store.put_attempt(failed(at_last, "c"));
  store.put_attempt(done(at_last, 80));
  store.put_attempt(failed(other, "d"));
  const auto tries = store.tries({key_of(never), key_of(twice), key_of(at_last)});
  REQUIRE(tries.size() == 1);
  CHECK(tries.at(key_of(twice)).outcomes == std::vector<std::string>{"oom", "interrupted"});
  CHECK(tries.at(key_of(twice)).peak_bytes == 128 << 20);
}
