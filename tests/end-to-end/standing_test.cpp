// Done trials of a study, and why other trials are not done. --prove lets trials stay done after edits that change no number.
#include <sys/stat.h>

#include "tests/end-to-end/edited_plugin.h"

TEST_CASE("--dry-run reports each trial as done, or how it differs from the done trials", "[standing]") {
  Place place;
  const auto before = place.said({"--dry-run"});
  CHECK(says(before, "tiny: 2 trials\nno trial is done: the history has no similar trial\n    1  "));
  CHECK_FALSE(says(before, "not done"));
  CHECK(says(place.said({"--dry-run", "--set", "seeds=1"}), "\n       not done: nothing like it has been run\n"));
  CHECK(says(place.said({}), "2 done, 0 done before"));
  auto said = place.said({"--dry-run"});
  CHECK(says(said, "done, attempt 1\n"));
  CHECK(says(said, "done, attempt 2\n"));
  CHECK_FALSE(says(said, "not done"));
  CHECK(says(place.said({"--dry-run", "--again"}), "done, attempt 2; --again runs it once more\n"));
  CHECK(says(place.said({"--dry-run", "--set", "train.steps=7"}), "differs in train.steps (7, was 6)"));
  place.edit('e');
  CHECK(says(place.said({"--dry-run"}), "not done: like attempt 1, except for the code of softmax (attention)"));
  place.change_history("UPDATE attempt SET outcome = 'failed', reason = 'of old age' WHERE id = 1");
  place.edit('f');
  place.said({"--only", "0000"}, 2);  // no such key: nothing changes
  CHECK(says(place.said({"--dry-run"}), "not done: like attempt 2, except for the code of softmax (attention)"));
}

TEST_CASE("--prove without a history does not create a history", "[standing]") {
  Place place;
  CHECK(says(place.said({"--prove", "1"}, 2), "no run history: looked for " + (place.folder() / "ablate.db").string()));
  CHECK_FALSE(std::filesystem::exists(place.folder() / "ablate.db"));
}

TEST_CASE("--prove keeps the history if repeated trials are equal to the last bit", "[standing]") {
  Place place;
  CHECK(says(place.said({}), "2 done, 0 done before"));
  CHECK(says(place.said({"--prove", "1"}, 2), "there is nothing to prove: 2 of the 2 trials are done"));
  place.edit('e');
  CHECK(says(place.said({"--prove", "1"}),
             "proven by 1 repeated trial, the same to the last bit: 2 done trials of the history stay valid"));
  CHECK(says(place.said({}), "0 done, 2 done before"));
  CHECK(says(place.said({"--dry-run"}), "done, attempt 2"));
  CHECK(place.query("SELECT count(*) AS n FROM trials").at(0).at("n") == 2);
  // The earlier key still names the trial, and `ablate show` suggests today's command.
  const std::string before = place.query("SELECT key FROM trials WHERE trial = 1").at(0).at("key");
  CHECK(says(place.said({"--only", before.substr(0, 12)}), "0 done, 1 done before"));
  const auto shown = [&] { return place.run({"show", "1"}).out; };
  const auto key = [&] {
    const auto text = shown();
    return text.substr(text.find("--only ") + 7, 12);
  };
  CHECK(key() != before.substr(0, 12));
  CHECK(says(place.said({"--dry-run"}), key()));
  INFO(shown());
  CHECK_FALSE(says(shown(), "has changed since"));
  place.edit('g');
  CHECK(says(shown(), "# the code of softmax has changed since, and so has the key: --dry-run shows the new key\n"));
  place.edit('e');
  CHECK(says(place.run({"table", "tiny"}).out, "2 trials ran under earlier code and count because of proof 1 (2"));
  // The history records the proof with the new code and one repeated attempt.
  SQLite::Database database((place.folder() / "ablate.db").string());
  SQLite::Statement proof(database, "SELECT p.now, count(*) FROM proof p JOIN proof_attempt a ON a.proof = p.id GROUP BY p.id");
  REQUIRE(proof.executeStep());
  CHECK(says(proof.getColumn(0).getString(), std::string(64, 'e')));
  CHECK(proof.getColumn(1).getInt() == 1);

  // Changes one bit of one number.
  place.edit('f');
  place.change_history(
      "UPDATE result SET value = value * (1 + 2.3e-16) WHERE metric = (SELECT id FROM metric WHERE name = 'test/loss')");
  const auto differs = place.said({"--prove", "2"}, 1);
  CHECK(says(differs, "attempt 1: test/loss is "));
  CHECK(says(differs, "not proven"));
  CHECK(says(place.said({}), "2 done, 0 done before"));
}

TEST_CASE("--prove repeats each setting of the edited plugin, and keeps no trial with another setting", "[standing]") {
  Place place;
  place.study(kStudy + "attention.heads = [2, 1]\n");
  CHECK(says(place.said({"-j", "1"}), "4 done, 0 done before"));
  // Another experiment has trials with 2 and 4 heads at another learning rate. --prove repeats 2 heads, but never 4.
  const std::vector<std::string> other{"--set", "experiment.name=other",
                                       "--set", "train.learning_rate=0.01",
                                       "--set", "seeds=1",
                                       "--set", "attention.heads=[2, 4]",
                                       "-j",    "1"};
  CHECK(says(place.said(other), "2 done, 0 done before"));
  place.edit('e');
  const auto said = place.said({"--prove", "1"});
  CHECK(says(said, "proven by 2 repeated trials, the same to the last bit: 5 done trials of the history stay valid"));
  const auto repeated = place.query(
      "SELECT heads FROM (SELECT \"attention.heads\" AS heads, attempt FROM trials) JOIN "
      "(SELECT value AS attempt FROM proofs, json_each('[' || attempts || ']')) USING (attempt) "
      "ORDER BY heads");
  CHECK(repeated.dump() == R"([{"heads":1},{"heads":2}])");
  CHECK(place.query("SELECT trials FROM proofs").at(0).at("trials") == 5);
  CHECK(says(place.said({}), "0 done, 4 done before"));
  CHECK(says(place.said(other), "1 done, 1 done before"));
}

TEST_CASE("an attempt under a proven key belongs to a separate trial", "[standing]") {
  Place place;
  CHECK(says(place.said({"-j", "1"}), "2 done, 0 done before"));
  place.edit('e');
  place.said({"--prove", "1"});
  CHECK(says(place.said({"--again", "-j", "1"}), "2 done, 0 done before"));
  const auto trials = place.query(
      "SELECT a.attempt, a.trial, p.code_identity AS code FROM attempts a JOIN plugins p USING (attempt) WHERE plugin = "
      "'softmax' "
      "ORDER BY a.attempt");
  REQUIRE(trials.size() == 4);
  for (const auto& one : trials) CHECK((one.at("trial") > 2) == (one.at("code") == std::string(64, 'e')));
  // The new attempts replace the first attempts in the table and for the next run.
  const auto listed = [&] {
    return place.query("SELECT count(*) AS n, min(trial) AS first FROM members WHERE listed").at(0).dump();
  };
  CHECK(listed() == R"({"first":3,"n":2})");
  CHECK(says(place.said({"--dry-run"}), "done, attempt 3\n"));
  CHECK(says(place.said({}), "0 done, 2 done before"));
  CHECK(listed() == R"({"first":3,"n":2})");
  // The code of the new attempts is recorded, too: a later edit is compared with this code.
  place.edit('f');
  CHECK(says(place.said({"--dry-run"}), "not done: like attempt 3, except for the code of softmax (attention)"));
  // By the proof, attempts of the first code still count for the second code.
  place.change_history("UPDATE attempt SET outcome = 'failed', reason = 'of old age' WHERE id > 2");
  place.edit('e');
  CHECK(says(place.said({"--dry-run"}), "done, attempt 1\n"));
  CHECK(says(place.said({}), "0 done, 2 done before"));
  CHECK(listed() == R"({"first":1,"n":2})");
}

TEST_CASE("--unprove deletes a proof and lists the existing proofs", "[standing]") {
  Place place;
  CHECK(says(place.said({"-j", "1"}), "2 done, 0 done before"));
  const auto unprove = [&](const std::string& number, int exit_code) {
    const auto ended = place.run({"run", "--unprove", number});
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == exit_code);
    return ended.err;
  };
  CHECK(says(unprove("1", 2), "found no proof 1 in this history, which has none"));
  place.edit('e');
  CHECK(says(place.said({"--prove", "1"}), "proof 1, deleted by: ablate run --unprove 1\n"));
  CHECK(says(place.run({"table", "tiny"}).out, "because of proof 1 ("));
  CHECK(says(place.said({}), "0 done, 2 done before"));
  CHECK(says(unprove("7", 2), "found no proof 7 in this history, expected one of 1"));
  CHECK(says(unprove("1", 0), "proof 1 is deleted: 2 trials are no longer done under the new code"));
  CHECK(place.query("SELECT * FROM proofs").empty());
  CHECK_FALSE(says(place.run({"table", "tiny"}).out, "because of proof 1 ("));
  CHECK(place.query("SELECT count(*) AS n FROM attempts").at(0).at("n") == 2);
  CHECK(says(place.said({"-j", "1"}), "2 done, 0 done before"));
  // If no proof has the given number, the command does not migrate the history.
  place.change_history("UPDATE attempt SET outcome = outcome; PRAGMA user_version = 23");
  CHECK(says(unprove("7", 2), "was written by an older ablate: found schema 23, expected 25"));
  CHECK(says(unprove("7", 2), "found schema 23"));
}

TEST_CASE("--unprove accepts no study and creates no history", "[standing]") {
  Place place;
  CHECK(says(place.said({"--unprove", "1"}, 2), "excludes"));
  const auto none = place.run({"run", "--unprove", "1"});
  CHECK(none.exit_code == 2);
  CHECK(says(none.err, "ablate.db"));
  CHECK_FALSE(place.has_database());
  const auto neither = place.run({"run"});
  CHECK(neither.exit_code == 2);
  CHECK(says(neither.err, "STUDY is required"));
}

TEST_CASE("--prove refuses trials that ran in another environment", "[standing]") {
  Place place;
  place.said({});
  place.edit('e');
  place.change_history("UPDATE environment SET json = json_set(json, '$.processor', 'another')");
  const auto said = place.said({"--prove", "1"}, 2);
  CHECK(says(said, "was in another environment"));
  CHECK(says(said, "processor: it was \"another\""));
  CHECK(says(place.said({}), "2 done, 0 done before"));
}

TEST_CASE("a finished study loads no data and starts no worker", "[standing]") {
  Place place;
  place.said({});
  place.set("ABLATE_WORKER", "/bin/false");
  CHECK(says(place.said({}), "0 done, 2 done before"));
  CHECK(says(place.said({"--dry-run"}), "done, attempt 1"));
  place.said({"--set", "train.steps=7"}, 2);  // needs a worker
}

TEST_CASE("trials that are done with one file are not done if another file is now found first", "[standing]") {
  DataPlace place;
  place.folder().write("set", "one");
  CHECK(says(place.said({}), "1 done, 0 done before"));
  CHECK(says(place.said({}), "0 done, 1 done before"));
  SECTION("in another ABLATE_DATA folder") {
    std::filesystem::create_directory(place.folder() / "root");
    place.folder().write("root/set", "two");
    place.set("ABLATE_DATA", (place.folder() / "root").string());
  }
  SECTION("in the same folder, which had no such file") {
    std::filesystem::create_directory(place.folder() / "root");
    place.set("ABLATE_DATA", (place.folder() / "root").string());
    CHECK(says(place.said({}), "0 done, 1 done before"));
    place.folder().write("root/set", "two");
  }
  CHECK(says(place.said({"--dry-run"}), "except for the data"));
  CHECK(says(place.said({}), "1 done, 0 done before"));
}

TEST_CASE("if data are replaced while they are read, the next load gives another key", "[standing]") {
  DataPlace place;
  place.folder().write("set", "one");
  const std::vector<std::string> replacing{"--dry-run", "--set", "task.where=load", "--set", "task.how=replace"};
  const auto key = [&] {
    const auto said = place.said(replacing);
    return said.substr(0, said.find("not done"));
  };
  // Each load reads the file that the previous load wrote.
  const auto first = key();
  CHECK(key() != first);
}

TEST_CASE("--prove does not treat a task's metric as a measurement, whatever its unit", "[standing]") {
  DataPlace place;
  place.folder().write("set", "one");
  const std::vector<std::string> judged{"--set", "task.how=judge-one"};
  place.said(judged);
  place.edit('e');
  place.change_history("UPDATE result SET value = 2 WHERE metric = (SELECT id FROM metric WHERE name = 'test/depth')");
  auto proving = judged;
  proving.insert(proving.end(), {"--prove", "1"});
  CHECK(says(place.said(proving, 1), "attempt 1: test/depth is 1, was 2"));
}

TEST_CASE("a pipe in place of data is refused at once", "[standing]") {
  DataPlace place;
  REQUIRE(mkfifo((place.folder() / "set").c_str(), 0600) == 0);
  const auto said = place.said({}, 2);
  CHECK(says(said, (place.folder() / "set").string() + ": found a pipe, a socket or a device, expected a file or a folder"));
  CHECK_FALSE(place.has_database());
}
