// [table.NAME] from the TOML file to the table.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

const std::string kGrid = kTiny + "[grid]\nseeds = 2\nattention.plugin = [\"softmax\", \"linear\"]\n";

const std::string kTables = R"(
[table.cost]
rows = ["attention"]
metric = ["test/accuracy", "train/step_time"]
derive = ["steps a second = 1000 / train/step_time"]
contrasts = [["attention=linear", "attention=softmax"]]
decimals = 3
caption = "What it costs"

[table.ratio]
metric = "test/accuracy"
baseline = "attention=softmax"
)";

}  // namespace

TEST_CASE("a study's tables are chosen by name, and the command line's options override them") {
  Workplace place;
  const auto file = place.study(kGrid).string();
  REQUIRE(place.run({"run", file}).exit_code == 0);
  const auto none = place.run({"table", "--table", "cost"});
  CHECK(none.exit_code == 2);
  CHECK(says(none.err, "the study of tiny named no table when it ran last; write [table.cost] into it"));

  // Tables are not part of a key: no trial runs again.
  const auto again = place.run({"run", place.study(kGrid + kTables).string()});
  CHECK(says(again.err, "tiny: 0 done, 4 done before, 0 failed"));
  const auto dry = place.run({"run", place.study(kGrid + kTables).string(), "--dry-run"});
  CHECK(says(dry.out,
             "table cost, which tests only its contrasts, in one column: n = 2: no difference can be significant at 5 % over "
             "2 comparisons"));
  CHECK_FALSE(says(dry.out, "table ratio"));
  const auto named = json::parse(place.run({"table", "tiny", "--table", "cost", "--format", "json"}).out);
  const auto asked =
      json::parse(place
                      .run({"table", "tiny", "--rows", "attention", "--metric", "test/accuracy,train/step_time", "--derive",
                            "steps a second = 1000 / train/step_time", "--contrasts", "attention=linear", "attention=softmax",
                            "--decimals", "3", "--caption", "What it costs", "--format", "json"})
                      .out);
  CHECK(named == asked);
  CHECK(named["metrics"].size() == 3);
  CHECK(named["contrasts"].size() == 2);  // for the two metrics whose better direction is known
  CHECK(says(place.run({"table", "--table", "cost"}).out, "What it costs"));
  CHECK_FALSE(says(place.run({"table", "--table", "cost", "--caption", "Other"}).out, "What it costs"));
  // CSV cannot contain notes, so notes go to stderr, after the rows.
  const auto csv = place.run({"table", "--table", "cost", "--format", "csv"});
  CHECK_FALSE(says(csv.out, "note:"));
  CHECK(says(csv.err, "note:"));
  CHECK(place.shell("$ablate table --table cost --format csv 2>&1").out.find("note:") == csv.out.size());
  // --against replaces the baseline of a table.
  CHECK(says(place.run({"table", "tiny", "--table", "ratio"}).out, "ratio of means to attention=softmax"));
  CHECK(says(place.run({"table", "tiny", "--table", "ratio", "--against", "best"}).out, "difference to the best"));
  const auto wrong = place.run({"table", "tiny", "--table", "costs"});
  CHECK(wrong.exit_code == 2);
  CHECK(says(wrong.err, "no table of tiny has this name (did you mean cost?)"));
}

TEST_CASE("errors in a study's table are reported at their line, before anything runs") {
  Workplace place;
  const auto refusal = [&](const std::string& table) {
    const auto ended = place.run({"run", place.study(kGrid + table).string()});
    CHECK(ended.exit_code == 2);
    return ended.err;
  };
  CHECK(says(refusal("[table]\nrows = [\"attention\"]\n"), "study.toml:24:1: rows is in [table], which has no name"));
  CHECK(says(refusal("[table.a]\nrow = [\"attention\"]\n"),
             "study.toml:24:1: unknown key row in [table.a] (did you mean rows?)"));
  CHECK(says(refusal("[table.a]\nrows = [\"attention\", \"attention.rats\"]\n"),
             "study.toml:24:22: rows: no trial of this study"));
  CHECK(says(refusal("[table.a]\ncols = [\"task.maxdepth\"]\n"), "did you mean task.max_depth?"));
  CHECK(says(refusal("[table.a]\npublished = false\n"), "published = false: expected true"));
  CHECK(says(refusal("[table.a]\npublished = 1\n"), "published: expected true"));
  CHECK(says(refusal("[table.a]\nrows = true\n"), "rows = true: expected PATH"));
  CHECK(says(refusal("[table.a]\nrows = []\n"), "rows = []: expected at least one value"));
  CHECK(says(refusal("[table.a]\nrows = [[\"attention\"], [\"task\", \"seed\"]]\n"), "rows: found a list within the list"));
  CHECK(says(refusal("[table.a]\nmetric = \"test/accuracy,test/loss\"\n"), "found a comma, expected a list"));
  CHECK(says(refusal("[table.a]\ncontrasts = [\"attention=linear\", \"attention=softmax\"]\n"), "expected a list of pairs"));
  CHECK(says(refusal("[table.a]\ndecimals = 99\n"), "decimals = 99: found 99"));
  CHECK(says(refusal("[table.a]\ndecimals = [1, 2]\n"), "decimals: found 2 values, expected one"));
  CHECK(says(refusal("[table.a]\nbaseline = \"attention=linear\"\nagainst = \"best\"\n"), "cannot be in one table"));
  const std::string rows = "[table.a]\nrows = [\"attention\"]\nmetric = [\"test/accuracy\"]\n";
  CHECK(says(refusal("[table.a]\nmetric = [\"test/loss\", \"test/acuracy\"]\n"),
             "study.toml:24:24: metric: no trial has a metric test/acuracy (did you mean test/accuracy?)"));
  CHECK(says(refusal("[table.a]\nmetric = \"accuracy\"\n"), "(did you mean test/accuracy?)"));
  CHECK(says(refusal("[table.a]\nmetric = \"blue\"\n"), "expected a metric with its domain, as test/accuracy"));
  CHECK(says(
      refusal(rows +
              "contrasts = [[\"attention=linear\", \"attention=softmax\"],\n[\"attention=linea\", \"attention=softmax\"]]\n"),
      "study.toml:27:2: contrasts attention=linea: found no row that has it, expected one of attention=linear, "
      "attention=softmax (did you mean attention=linear?)"));
  for (const std::string pair :
       {"\"attention=linear\", \"attention=linear\"", "\"attention=linear\", \"attention.plugin=linear\""})
    CHECK(says(refusal(rows + "contrasts = [[" + pair + "]]\n"), "study.toml:26:15: contrasts 'attention=linear'"));
  CHECK(says(refusal("[table.a]\ncontrasts = [[\"attention=local\", \"attention=softmax\"]]\n"), "found no row that has it"));
  CHECK(says(refusal("[table.a]\nagainst = \"attention=sofmax\"\n"), "did you mean attention=softmax?"));
  CHECK(says(refusal("[table.a]\nbaseline = \"attention.heads=2\"\n"), "found the parameter attention.heads"));
  CHECK(says(refusal(rows + "sort = \"test/acuracy\"\n"), "expected a metric of the table or a parameter of its rows"));
  CHECK(says(refusal("[table.a]\nderive = \"2 * test/accuracy\"\n"),
             "study.toml:24:10: derive = 2 * test/accuracy: expected NAME = EXPRESSION"));
  CHECK(says(refusal("[table.a]\nderive = \"x[max = 2 * test/accuracy\"\n"), "x[max has a bracket in its name"));
  CHECK(says(refusal("[table.a]\nderive = \"x[% best] = 2 * test/accuracy\"\n"), "x has [% best] behind it"));
  CHECK(says(refusal(rows + "derive = \"x = 2 * test/loss\"\n"), "found test/loss, expected one of the table's metrics"));
  CHECK(says(refusal("[table.a]\nrename = { a = 1 }\n"), "rename: expected a text, a number, true, or a list"));
  CHECK(says(refusal("[table.a]\nderive = [\"x = 1 / 0\"]\n"), "1 / 0 names no metric"));
  CHECK(says(refusal("[table.a]\nderive = [\"x = 2 * test/loss\", \"x = test/loss\"]\n"), "has a metric of this name"));
  CHECK(says(refusal("[table.a]\nsort = \"nope\"\n"), "found nope, expected a metric of the table"));
  CHECK(
      says(refusal("[table.a]\nwhere = [\"attnt=softmax\"]\n"), "24:10: where: no trial of this study has a parameter attnt"));
  CHECK(says(refusal("[table.a]\nwhere = [\"seed\"]\n"), "where seed: expected PATH=VALUE"));
  CHECK(says(refusal("[table.a]\nwhere = [\"seed>>2\"]\n"), "found >2 after <, <=, > or >="));
  CHECK(says(refusal("[table.a]\ncols = [\"seed\", \"seed\"]\n"), "24:17: cols: seed is in cols already"));
  CHECK(says(refusal("[table.a]\nrows = [\"seed\"]\ncols = [\"seed\"]\n"), "25:9: cols: seed is in rows already"));
  CHECK(says(refusal(rows + "[table.b]\nmetric = [\"test/loss\", \"test/loss\"]\n"), "metric: test/loss is in metric already"));
  CHECK(says(refusal("[table.a]\nrename = [\"a\"]\n"), "24:11: rename = a: found a, expected NAME=TEXT"));
  CHECK(says(refusal("[table.a]\ntest = \"t\"\n"), "test: found neither --against nor --contrasts"));
  CHECK(place.run({"run", place.study(kGrid + rows + "sort = \"accuracy\"\n").string(), "--dry-run"}).exit_code == 2);
  CHECK_FALSE(place.has_database());
  // Parts that only a history can check do not stop a run: conditions, a plugin's own metrics, groups, shares of layers.
  for (const std::string right :
       {"where = [\"attention=linear\"]\nagainst = \"attention=linear\"\n",
        "metric = [\"test/rmse\", \"test/accuracy@pairs\"]\n",
        "metric = [\"test/accuracy\"]\nderive = [\"x[%] = 2 * test/accuracy\", \"y = x / 2\"]\nsort = \"y\"\n",
        "rows = [\"share(linear)\"]\nbaseline = \"share(linear)=1\"\n",
        "cols = [\"attention\"]\nbaseline = \"attention=linear\"\n",
        "contrasts = [[\"attention=linear\", \"attention=softmax\"]]\n"}) {
    const auto ended = place.run({"run", place.study(kGrid + "[table.a]\n" + right).string(), "--dry-run"});
    INFO(right << ended.err);
    CHECK(ended.exit_code == 0);
  }
}
