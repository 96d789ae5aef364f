// A merge refuses files that are not a complete history.
#include <SQLiteCpp/SQLiteCpp.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <thread>

#include "core/util/stop_on_signal.h"
#include "db/history/keeping.h"
#include "db/history/schema.h"
#include "tests/db/ask.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"
#include "tools/ablate/keeping/keeping.h"

using namespace ablate;
using namespace ablate::db;

namespace {

void run_sql(const std::filesystem::path& file, const std::string& sql) {
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
}

void make(const std::filesystem::path& file, int seeds) {
  Store store(file);
  std::vector<nlohmann::json> trials;
  for (int seed = 1; seed <= seeds; ++seed) trials.push_back(trial("softmax", {}, seed));
  put(store, "study", trials);
  for (const auto& one : trials) store.put_attempt(done(one, 60.5));
}

/// Runs `ablate merge` with a user's arguments. Returns the message of its exception.
std::string merge(const std::filesystem::path& into, const std::vector<std::string>& others) {
  CLI::App app;
  int exit_code = -1;
  add_merge(
      app, [&] { return into; }, exit_code);
  std::vector<std::string> words(others.rbegin(), others.rend());
  words.emplace_back("merge");
  const auto message = error_of([&] { app.parse(words); });
  CHECK(exit_code == (message.empty() ? 0 : -1));
  return message;
}

}  // namespace

TEST_CASE("a file that is no complete history of a known schema is refused before anything is written") {
  Folder folder;
  const auto file = folder / "a.db", good = folder / "good.db", other = folder / "other.db";
  make(file, 3);
  make(good, 4);
  const auto before = content(file);
  const auto refused = [&](const std::string& what) {
    const auto message = merge(file, {good.string(), other.string()});
    INFO(message);
    CHECK(has(message, what));
    CHECK(has(message, "other.db"));
    CHECK(content(file) == before);
  };
  refused("no run history to merge: looked for");
  std::filesystem::create_symlink(file, other);
  refused("is the history itself");
  std::filesystem::remove(other);
  std::ofstream(other) << std::string(5000, 'x');
  refused("is no run history");
  std::filesystem::remove(other);
  run_sql(other, "CREATE TABLE mine (x)");
  refused("another program");
  std::filesystem::remove(other);
  std::ofstream(other).close();
  refused("is empty");
  std::filesystem::remove(other);
  make(other, 2);
  run_sql(other, "PRAGMA user_version = 99");
  refused("newer ablate: found schema 99");
  run_sql(other, "PRAGMA user_version = 22");
  refused("too old: found schema 22");
  std::filesystem::remove(other);
  make(other, 60);
  run_sql(other, "PRAGMA wal_checkpoint(TRUNCATE)");
  std::fstream pages(other, std::ios::in | std::ios::out | std::ios::binary);
  pages.seekp(static_cast<std::streamoff>(std::filesystem::file_size(other) / 4096 / 2 * 4096));
  pages.write(std::string(4096, '\xff').data(), 4096);
  pages.close();
  refused("damaged");
  CHECK(merge(file, {good.string()}).empty());
  CHECK(ask(file, "SELECT count(*) AS n FROM attempts") == "n\n7\n");
}

TEST_CASE("a row that violates the schema is reported, and nothing of its file is merged") {
  Folder folder;
  const auto file = folder / "a.db", other = folder / "other.db";
  make(file, 1);
  make(other, 2);
  run_sql(other, "PRAGMA foreign_keys = OFF; UPDATE result SET metric = 77 WHERE attempt = 2 AND metric = 1");
  const auto message = merge(file, {other.string()});
  CHECK(has(message, "other.db cannot be merged: found rows that are not as ablate writes them (NOT NULL"));
  CHECK(ask(file, "SELECT count(*) AS n FROM attempts") == "n\n1\n");
  CHECK(faults(file).empty());
}

TEST_CASE("a metric with another unit or direction is refused with both definitions, and nothing is merged") {
  Folder folder;
  const auto file = folder / "a.db", other = folder / "other.db";
  make(file, 1);
  make(other, 2);
  for (const auto* change : {"direction = 'min'", "unit = 'share'"}) {
    run_sql(other, fmt::format("UPDATE metric SET unit = '%', direction = 'max' WHERE name = 'test/accuracy';"
                               "UPDATE metric SET {} WHERE name = 'test/accuracy'",
                               change));
    const auto message = merge(file, {other.string()});
    INFO(message);
    CHECK(has(message, "expected [% max], as in " + file.string() + ". Nothing was copied"));
    CHECK((has(message, "metric test/accuracy[% min]") || has(message, "metric test/accuracy[share max]")));
    CHECK(ask(file, "SELECT count(*) AS n FROM attempts") == "n\n1\n");
  }
}

TEST_CASE("a signal ends a merge, and leaves the history unchanged") {
  Folder folder;
  const auto file = folder / "a.db", other = folder / "other.db";
  make(file, 1);
  make(other, 300);
  const OtherHistory opened(other);
  Store store(file);
  const StopOnSignal stop;
  std::raise(SIGINT);
  CHECK_THROWS_AS(store.merge(opened), Interrupted);
  CHECK_THROWS_AS(OtherHistory(other), Interrupted);
  CHECK(ask(file, "SELECT count(*) AS n FROM attempts") == "n\n1\n");
}

TEST_CASE("every table and column of the schema is listed here, so that merges are changed with the schema") {
  Folder folder;
  { const Store store(folder / "a.db"); }
  // If this list changes, change db/history/merge*.cpp, too. A merge does not copy ids, which are numbers of one file, or rows
  // of the tables running, lease and lease_owner, which belong to one machine.
  const std::string travels =
      "alias:basis,key,proof,rests_on,trial artifact:attempt,bytes,kind,name,of_bytes,removed_us "
      "attempt:cpu_s,environment,exit_code,id,main_metric,outcome,output,"
      "peak_resident_bytes,plugin_set,reason,signal,started_us,step,steps,trial,turn,uid,wall_s "
      "audit:audited_s,digest,findings,parameters,suite,task,verdict "
      "basis:hash,id,json checked_length:code_identity,kind,length,place,plugin,suite curve:attempt,metric,step,value "
      "environment:hash,id,json "
      "experiment:description,file,id,listed_us,name,overrides,text "
      "experiment_trial:cell,experiment,listed,position,role,trial "
      "floor:digest,examples,floors,found_s,left_out,metric,seen,task,test_rows,train_lanes,train_rows,train_size,version "
      "key_part:basis,settings,settings_hash,trial lease:fence,key,outcome,slot "
      "lease_owner:heard_us,host,process,slot,space,started,worker,worker_started "
      "metric:description,direction,id,kind,name,of_steps,owner,unit "
      "note:experiment,id,text,written_us "
      "parameter:path,setting,value path:id,name plugin:code_identity,content_hash,id,kind,name,path,version "
      "plugin_of_set:checked_length,failed_checks,length,place,plugin,plugin_set,verdict plugin_set:hash,id "
      "proof:before,environment,id,now,proven_us proof_attempt:attempt,proof "
      "published_value:experiment,metric,source,trial,value resolved:json,trial result:attempt,metric,value "
      "running:host,key,loss,process,started,started_us,step,steps setting:hash,id "
      "sqlite_sequence:name,seq "
      "tag:experiment,tag "
      "trial:configuration,id,key,seed,setting value:id,number,path,text,type "
      "verdict:checked_s,code_identity,failed_checks,kind,plugin,suite,verdict";
  SQLite::Database database((folder / "a.db").string());
  CHECK(database
            .execAndGet(
                "SELECT group_concat(t, ' ') FROM (SELECT t.name || ':' || (SELECT group_concat(name) FROM (SELECT c.name "
                "FROM pragma_table_info(t.name) c ORDER BY c.name)) AS t FROM sqlite_master t WHERE t.type = 'table' "
                "ORDER BY t.name)")
            .getString() == travels);
}
