// `ablate audit`: findings are stored by the digest of the data, and shown below tables of these data.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

struct Place : Workplace {
  Place() {
    std::filesystem::create_directory(folder() / "plugins");
    std::filesystem::copy(std::string(ABLATE_BUILD_DIR) + "/lib/ablate/plugins/softmax.so", folder() / "plugins/softmax.so");
    std::filesystem::copy(kFaulty + "check/leaky.so", folder() / "plugins/leaky.so");
    set("ABLATE_PLUGIN_PATH", (folder() / "plugins").string());
  }
  std::string said(const std::vector<std::string>& arguments, int exit_code = 0) {
    const auto ended = run(arguments);
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == exit_code);
    return ended.out + ended.err;
  }
  json audited(std::vector<std::string> more = {}, int exit_code = 0) {
    more.insert(more.begin(), {"audit", "leaky", "--format", "json"});
    const auto ended = run(more);
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == exit_code);
    return json::parse(ended.out);
  }
  void rule(const std::string& text) { folder().write("rule.txt", text); }
};

const std::string kStudy = R"(
[experiment]
name = "leaks"
[task]
plugin = "leaky"
[attention]
plugin = "softmax"
[model]
layers = 1
d_model = 8
hidden = 8
[train]
steps = 3
batch = 10
)";

}  // namespace

TEST_CASE("an audit is stored under the digest of the data and shown below tables of these data only", "[audits]") {
  Place place;
  place.rule("none");
  const auto study = place.study(kStudy).string();
  place.said({"run", study});
  CHECK_FALSE(says(place.said({"table"}), "fail an audit"));

  const auto first = place.said({"audit", "leaky"});
  for (const auto* name : {"  passed     read ", "  passed     no near-duplicates ", "  passed     label at a position ",
                           "  passed     label by length ", "  passed     chance "})
    CHECK(says(first, name));
  CHECK(says(first, ", all passed"));
  CHECK_FALSE(says(first, "stored in"));
  // From here on, reading the data ends the process.
  place.set("LEAKY_ABORTS", "1");
  const auto again = place.said({"audit", "leaky"});
  CHECK(again.starts_with(first));
  CHECK(says(again.substr(first.size()), "and stored in ablate.db: --again audits again"));
  const auto kept = place.audited();
  CHECK(kept.at("kept") == true);
  CHECK(kept.at("verdict") == "passed");
  CHECK(kept.at("findings").size() >= 10);
  const auto broken = place.audited({"--again"}, 1);
  CHECK(broken.at("kept") == false);
  CHECK(broken.at("digest") == kept.at("digest"));
  CHECK(says(broken.at("findings").back().at("found"), "signal 6"));
  CHECK(says(place.said({"table"}), "note: the data of leaky fail an audit: read: signal 6"));
  place.set("LEAKY_ABORTS", "");
  CHECK(place.audited({"--again"}).at("verdict") == "passed");
  CHECK_FALSE(says(place.said({"table"}), "fail an audit"));

  place.rule("first");
  const auto other = place.audited({}, 1);
  CHECK(other.at("kept") == false);
  CHECK(other.at("verdict") == "failed");
  CHECK(other.at("digest") != kept.at("digest"));
  CHECK_FALSE(says(place.said({"table"}), "fail an audit"));  // the table's trials used the former data
  place.said({"run", study});
  const auto note = place.said({"table"});
  CHECK(says(note, "note: the data of leaky fail an audit: label at a position: off by "));
  CHECK(says(note, "digit at 0 predicts 1.000 of the targets of dev"));
  CHECK(says(note, "; `ablate audit leaky` shows all findings\n"));
  CHECK_FALSE(says(note, "\n!"));  // only checks of plugins cause marks
  CHECK(place.query("SELECT task, verdict FROM audits ORDER BY verdict").dump() ==
        R"([{"task":"leaky","verdict":"failed"},{"task":"leaky","verdict":"passed"}])");
}

TEST_CASE("an audit without a history creates one and reports it once", "[audits]") {
  Place place;
  place.rule("none");
  CHECK(says(place.said({"audit", "leaky"}), "made ablate.db: findings are stored there"));
  CHECK(place.has_database());
  CHECK_FALSE(says(place.said({"audit", "leaky"}), "made ablate.db"));
}

TEST_CASE("a table's note has the command that shows everything, quoted for a shell", "[audits]") {
  Place place;
  place.rule("first");
  const auto study = place.study(kStudy).string();
  place.said({"run", study, "--set", "task.shift=3", "--db", "my runs.db"});
  place.said({"audit", "leaky", "--set", "shift=3", "--db", "my runs.db"}, 1);
  const auto table = place.said({"table", "--db", "my runs.db"});
  const std::string begin = "; `";
  const auto from = table.find("; `ablate audit leaky") + begin.size();
  REQUIRE(from != std::string::npos + begin.size());
  const auto command = table.substr(from + 7, table.find("` shows all findings") - from - 7);
  CHECK(command == "audit leaky --set shift=3 --db 'my runs.db'");
  const auto ended = place.shell("$ablate " + command);
  CHECK(ended.exit_code == 1);
  CHECK(says(ended.out, "and stored in my runs.db"));
  CHECK(says(ended.out, "  FAILED     label at a position "));
}

TEST_CASE("an audit of a study finds floors for the task settings of its trials, and tables show them", "[audits]") {
  Place place;
  place.rule("none");
  const auto study = place.study(kStudy + "test_batches = 4\n[grid]\ntask.shift = [0, 3]\n").string();
  place.said({"run", study, "--set", "train.steps=4", "--db", "my runs.db"});
  const auto before = place.said({"table", "--rows", "task.shift", "--db", "my runs.db"});
  CHECK(says(before,
             "note: test/accuracy is a proportion of at most 40 test examples; the 95 % error of this proportion alone is ± "));
  // Runs the command that the note names.
  const std::string begin = "on these test examples are not known: `ablate ";
  REQUIRE(says(before, begin));
  const auto from = before.find(begin) + begin.size();
  const auto command = before.substr(from, before.find("` finds them", from) - from);
  const auto ended = place.shell("$ablate " + command);
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(says(ended.out, "floors of test/accuracy on 40 test examples, from the 40 of "));
  CHECK(says(ended.out, "  label at one position "));
  CHECK_FALSE(says(ended.out, "stored in"));

  const auto table = place.said({"table", "--rows", "task.shift", "--db", "my runs.db"});
  CHECK(says(table, "note: floors of test/accuracy"));
  CHECK(says(table, " from the 40 of "));
  CHECK(says(table, " within the floor's interval ["));
  CHECK(says(table,
             "note: test/accuracy is a proportion of 40 test examples; the 95 % error of this proportion alone is up to ± "));
  CHECK_FALSE(says(table, "not known"));
  CHECK(place
            .shell("$ablate query 'SELECT count(*), min(examples), min(test_rows), min(train_rows), min(seen) FROM floors' "
                   "--format csv --db 'my runs.db'")
            .out == "count(*),min(examples),min(test_rows),min(train_rows),min(seen)\n2,40,40,40,40\n");

  // The floors come from the history: reading the data would end the process.
  place.set("LEAKY_ABORTS", "1");
  const auto again = place.shell("$ablate " + command);
  CHECK(again.exit_code == 0);
  CHECK(says(again.out, " training examples that trials see:\n  largest class "));
  CHECK(says(again.out, "and stored in my runs.db"));
  place.set("LEAKY_ABORTS", "");
  // There is one row for each data set, task and part of the test split, however often floors are computed.
  const auto kept = [&](const std::string& what) {
    return place.shell("$ablate query 'SELECT " + what + " FROM floors' --format csv --db 'my runs.db' | tail -1").out;
  };
  CHECK(kept("count(*)") == "2\n");
  CHECK(place.shell("$ablate " + command + " --again").exit_code == 0);
  CHECK(kept("count(*)") == "2\n");
  // An audit of one task finds its floors on the whole test split.
  CHECK(place.audited({"--db", "my runs.db"}).at("floors").at(0).at("rows") == 0);
  CHECK(kept("count(*)") == "3\n");
  CHECK(kept("count(DISTINCT digest || task || test_rows || train_rows)") == "3\n");
  const auto both = place.run({"audit", study, "--format", "json", "--db", "my runs.db"});
  CHECK(json::parse(both.out).size() == 2);
}

TEST_CASE("a request that cannot be audited is refused in one line and writes nothing", "[audits]") {
  Place place;
  CHECK(says(place.said({"audit", "leaky"}, 2), "rule.txt"));  // the file does not exist
  place.rule("second");
  CHECK(says(place.said({"audit", "leaky"}, 2), "ablate: task leaky: expected none or first"));
  place.rule("none");
  CHECK(says(place.said({"audit", "leakt"}, 2), "did you mean leaky?"));
  CHECK(says(place.said({"audit", "softmax"}, 2), "softmax is a plugin of the kind attention, expected a task"));
  CHECK(says(place.said({"audit", "leaky", "--set", "shif=1"}, 2), "did you mean shift?"));
  CHECK(says(place.said({"audit", "leaky", "--set", "shift=10"}, 2), "--set shift=10: expected an integer in [0, 9]"));
  CHECK(says(place.said({"audit"}, 2), "TASK is required"));
  CHECK_FALSE(place.has_database());
  CHECK(says(place.said({"check", "leaky", "--only", "one rule"}, 2),
             "--only 'one rule': expected a check of the contract; `ablate audit leaky` runs this check"));
}
