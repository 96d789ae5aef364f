// `ablate export`: a line for each trial.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "db/questions/exports/export_trials.h"
#include "tests/db/ask.h"
#include "tests/db/commands.h"
#include "tools/ablate/keeping/keeping.h"

using namespace ablate;
using namespace ablate::db;

namespace {

using Records = std::vector<std::vector<std::string>>;

/// Parses RFC 4180, section 2: fields in quotes may contain commas, line ends and doubled quotes.
Records parsed(const std::string& text) {
  Records records(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    auto& field = records.back().back();
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
      field += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (quoted || (c != ',' && c != '\n'))
      field += c;
    else if (c == ',')
      records.back().emplace_back();
    else
      records.push_back({""});
  }
  records.pop_back();  // after the last line end
  return records;
}

const std::string kHostile = "two\nlines, \"quotes\", =1+1";

/// A history of two experiments that share a trial, with all kinds of values.
class Exports : public Commands {
 public:
  Exports() {
    Store store(file());
    auto odd = trial("linear", {"1/2", "1/4"}, 3);
    odd["task"]["text"] = kHostile;
    odd["train"]["threads"] = 1;
    put(store, "second", {trial("softmax", {}, 9)});
    put(store, "second", {trial("softmax", {}, 1), odd, trial("softmax", {}, 5)});
    auto attempt = done(odd, 0.1 + 0.2);
    attempt.results["test/nothing"] = std::numeric_limits<double>::quiet_NaN();
    store.put_attempt(attempt);
    store.put_attempt(failed(odd, "later: " + kHostile));  // the earlier, done attempt counts
    store.put_attempt(done(trial("softmax", {}, 9), 50));  // this trial is only in an earlier grid
  }
};

}  // namespace

TEST_CASE("a CSV of trials has the fixed columns, the parameters by path, the metrics by name; nothing is rounded or lost") {
  Exports run;
  const auto rows = parsed(run("export second"));
  CHECK(run.exit_code == 0);
  CHECK(rows.at(0) == std::vector<std::string>{"experiment",     "key",           "attempt",         "outcome",
                                               "reason",         "started",       "wall_s",          "main_metric",
                                               "data_digest",    "attention",     "attention.rates", "seed",
                                               "task",           "task.pool",     "task.text",       "train.learning_rate",
                                               "train.shuffle",  "train.threads", "test/accuracy",   "test/nothing[]",
                                               "train/step_time"});
  REQUIRE(rows.size() == 3);
  const auto key = key_of(trial("softmax", {}, 1));
  CHECK(rows[1] == std::vector<std::string>{"second", key, "1",   "done",    "",     "2023-11-14 22:13:20",
                                            "2.5",    "",  "",    "softmax", "",     "1",
                                            "image",  "2", "",    "0.001",   "true", "",
                                            "85.5",   "",  "14.5"});
  CHECK(rows[2][2] == "3");
  CHECK(rows[2][10] == "1/2,1/4");
  CHECK(rows[2][14] == kHostile);
  CHECK(rows[2][18] == "0.30000000000000004");
  CHECK(rows[2][19] == "nan");
  CHECK(has(run.errors, "1 trial is left out: it has not run"));
  CHECK(has(run.errors, "1 trial is left out: only an earlier grid has it"));
}

TEST_CASE("an export has the digest of a trial's data, and an import stores it") {
  Exports run;
  const auto key = key_of(trial("softmax", {}, 1));
  Store(run.file()).put_parts({{key, {nlohmann::json::object(), {{"data", "d1ge57"}, {"plugins", nlohmann::json::object()}}}}});
  auto rows = parsed(run("export second"));
  CHECK(rows.at(1)[8] == "d1ge57");
  CHECK(rows.at(2)[8] == "");
  run.add = add_import;
  const auto out = run.file().parent_path() / "in.csv";
  std::ofstream(out) << "experiment,seed,data_digest,test/accuracy\nfar,1,d1ge58,50\nfar,2,,51\n";
  run("import " + out.string());
  run.add = add_questions;
  rows = parsed(run("export far"));
  CHECK(rows.at(1)[8] == "d1ge58");
  CHECK(rows.at(2)[8] == "");
}

TEST_CASE("an export of the whole history lists a trial once for each of its experiments, like the views") {
  Exports run;
  const auto all = parsed(run("export"));
  CHECK(all.size() == 5);
  std::string expected = "experiment,key,outcome,accuracy\n", found = expected;
  for (std::size_t i = 1; i < all.size(); ++i) found += all[i][0] + "," + all[i][1] + "," + all[i][3] + "," + all[i][18] + "\n";
  CHECK(found ==
        ask(run.file(),
            "SELECT experiment, key, outcome, \"test/accuracy\" AS accuracy FROM members JOIN trials USING (trial) WHERE "
            "listed ORDER BY experiment, position"));
  CHECK(parsed(run("export second quickstart"))[1][0] == "second");
  CHECK(run("export second quickstart") != run("export quickstart second"));
}

TEST_CASE("export, show, attempts and query write infinity as inf") {
  Exports run;
  const auto endless = trial("endless", {}, 1);
  Store store(run.file());
  put(store, "endless", {endless});
  auto attempt = done(endless, -INFINITY);  // its step time is infinite
  attempt.results["dev/accuracy"] = NAN;
  store.put_attempt(attempt);
  const auto row = parsed(run("export endless")).at(1);
  CHECK((std::vector<std::string>{row.end() - 3, row.end()} == std::vector<std::string>{"nan", "-inf", "inf"}));
  const auto json = nlohmann::json::parse(run("export endless --format jsonl"))["metrics"];
  CHECK(json["dev/accuracy"].is_null());
  CHECK(json["test/accuracy"] == "-inf");
  CHECK(has(run("attempts endless"), "-inf"));
  CHECK(nlohmann::json::parse(run("attempts endless --format json"))[0]["value"] == "-inf");
  CHECK(has(run("show " + row[2]), "test/accuracy    -inf"));
  CHECK(run.words({"query", "SELECT \"train/step_time\" AS x FROM trials WHERE attention = 'endless'", "--format", "json"}) ==
        "[\n  {\"x\": \"inf\"}\n]\n");
}

TEST_CASE("JSON lines have values with their types, null for NaN, and the plugins' code") {
  Exports run;
  std::istringstream lines(run("export quickstart second --format jsonl"));
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
  REQUIRE(rows.size() == 4);
  CHECK(rows[0]["plugins"] == nlohmann::json::parse(R"([{"kind": "attention", "id": "softmax", "version": "1.0.0",
                                                         "code_identity": "c0de"}])"));
  CHECK(rows[1]["outcome"] == "failed");
  CHECK(rows[1]["reason"] == "signal 11 (Segmentation fault)");
  CHECK(rows[1]["metrics"] == nlohmann::json::object());
  CHECK(rows[3]["parameters"]["train.shuffle"] == true);
  CHECK(rows[3]["parameters"]["seed"] == 3);
  CHECK(rows[3]["parameters"]["task.text"] == kHostile);
  CHECK(rows[3]["metrics"]["test/nothing"].is_null());
  CHECK(rows[3]["metrics"]["test/accuracy"] == 0.1 + 0.2);
  CHECK_FALSE(rows[0]["parameters"].contains("attention.rates"));
}

TEST_CASE("an export writes a whole file; an unknown name, and a file of another program, are refused") {
  Exports run;
  const auto to = run.file().parent_path() / "out.csv";
  const auto whole = run("export");
  CHECK(run("export --out " + to.string()).empty());
  CHECK(content(to) == whole);
  CHECK(run("export second --out " + to.string()).empty());  // replaces the file that ablate wrote
  std::ofstream(to) << "mine";
  CHECK(has(run("export --out " + to.string()), "did not write"));
  CHECK(content(to) == "mine");
  CHECK(has(run("export quickstrat --out " + to.string() + " --force"), "did you mean quickstart?"));
  CHECK(content(to) == "mine");
  CHECK(has(run("export second second"), "second is named twice"));
  CHECK(has(run("export --format json"), "no format \"json\" of export (did you mean jsonl?)"));
}

TEST_CASE("a history without a run exports only the header, and reports that") {
  Commands run;
  std::filesystem::remove(run.file());
  Store store(run.file());
  CHECK(run("export") == "experiment,key,attempt,outcome,reason,started,wall_s,main_metric,data_digest\n");
  CHECK(has(run.errors, "no trial has run yet"));
  put(store, "study", {trial("softmax", {}, 1)});
  CHECK(run("export --format jsonl").empty());
  CHECK(has(run.errors, "1 trial is left out: it has not run"));
}

TEST_CASE("an export of many trials writes its rows one at a time") {
  Folder folder;
  Store store(folder / "a.db");
  std::vector<nlohmann::json> trials;
  for (int seed = 0; seed < 2000; ++seed) trials.push_back(trial("softmax", {}, seed));
  put(store, "study", trials);
  store.together([&] {
    for (const auto& one : trials) store.put_attempt(done(one, 50));
  });
  std::size_t pieces = 0, largest = 0, bytes = 0;
  const auto exported = export_trials(Reader(folder / "a.db"), {}, ExportFormat::kCsv, [&](std::string_view piece) {
    ++pieces, largest = std::max(largest, piece.size()), bytes += piece.size();
  });
  CHECK(exported.trials == 2000);
  CHECK(pieces == 2001);
  CHECK(largest < 300);
  CHECK(bytes > 2000 * 100);
}
