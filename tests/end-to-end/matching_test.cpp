// [grid.match] from the TOML file to the table.
#include <cmath>
#include <fstream>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

const std::string kMatch = "[grid.match]\nparameters = \"attention=softmax\"\nwidth = \"model.hidden\"\n";

std::string study_of(const std::string& name, const std::string& rows) {
  auto text = kTiny;
  const auto put = [&](const std::string& from, const std::string& to) { text.replace(text.find(from), from.size(), to); };
  put("hidden = 8", "hidden = 96");
  put("name = \"tiny\"", "name = \"" + name + "\"");
  return text + "[attention]\ncompression.plugin = \"segment-mean\"\n[grid]\nseeds = 2\nrows = [" + rows + "]\n" + kMatch;
}

/// Rows of a study: softmax; AdaMRA, which matches softmax if model.hidden is smaller; a deep AdaMRA, which
/// matches softmax at no width.
const std::string kSoftmax = "{ attention.plugin = \"softmax\" }", kAdamra = "{ attention.plugin = \"adamra\" }",
                  kDeep = "{ attention.plugin = \"adamra\", model.layers = 6 }";

std::string bytes_of(const json& mebibytes) { return std::to_string(std::llround(mebibytes.get<double>() * 1024 * 1024)); }

json parameters(Workplace& place) {
  return place.query(
      "SELECT attention, \"model.layers\" AS layers, \"model.hidden\" AS hidden, min(\"model/parameters\") AS least, "
      "max(\"model/parameters\") AS most, count(*) AS n FROM trials GROUP BY 1, 2, 3 ORDER BY layers, attention DESC");
}

}  // namespace

TEST_CASE("rows of a study have as many parameters as their reference, and the table says so") {
  Workplace place;
  const auto file = place.study(study_of("near", kSoftmax + ", " + kAdamra)).string();
  const auto planned = place.run({"run", file, "--dry-run"});
  INFO(planned.err);
  CHECK(says(planned.out, "parameters as of attention=softmax, by model.hidden:\n  attention=adamra: model.hidden = "));
  CHECK_FALSE(says(planned.out, "the nearest"));
  CHECK_FALSE(place.has_database());
  REQUIRE(place.run({"run", file}).exit_code == 0);
  const auto found = parameters(place);
  INFO(found.dump());
  REQUIRE(found.size() == 2);
  CHECK(found[0]["hidden"] == 96);
  CHECK(found[1]["hidden"] < 96);
  for (const auto& row : found) {
    CHECK(row["least"] == row["most"]);
    CHECK(row["n"] == 2);
  }
  const double softmax = found[0]["most"], adamra = found[1]["most"];
  CHECK(std::abs(adamra - softmax) <= 0.02 * softmax);
  // The dry run's count equals the trial's record.
  CHECK(says(planned.out,
             std::to_string(static_cast<int>(adamra)) + " parameters beside " + std::to_string(static_cast<int>(softmax))));
  const auto again = place.run({"run", file});
  CHECK(says(again.err, "near: 0 done, 4 done before, 0 failed"));
  // A study with the width written out has the same trials.
  auto written =
      study_of("written", kSoftmax + ", { attention.plugin = \"adamra\", model.hidden = " + found[1]["hidden"].dump() + " }");
  written.resize(written.find(kMatch));
  CHECK(says(place.run({"run", place.study(written).string()}).err, "written: 0 done, 4 done before, 0 failed"));
  const std::string note = "parameters matched within 2 % to attention=softmax, by model.hidden\n";
  CHECK(says(place.run({"table", "near"}).out, note));
  CHECK_FALSE(says(place.run({"table", "written"}).out, "within 2 %"));
  // The note is computed from the recorded trials, not from the plan.
  CHECK(says(place.run({"table", "near", "--where", "attention=adamra"}).out, note));
}

TEST_CASE("a row that no width matches closely enough is named, with its distance") {
  Workplace place;
  const auto file = place.study(study_of("far", kSoftmax + ", " + kAdamra + ", " + kDeep)).string();
  const auto planned = place.run({"run", file, "--dry-run"});
  INFO(planned.err);
  CHECK(says(planned.out, "attention=adamra model.layers=6: model.hidden = 1, "));
  CHECK(count_of(planned.out, "%), the nearest\n") == 1);
  const auto ran = place.run({"run", file});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(count_of(ran.err, "warning: grid.match: ") == 1);
  CHECK(says(ran.err, "warning: grid.match: attention=adamra model.layers=6: model.hidden = 1, "));
  const auto found = parameters(place);
  INFO(found.dump());
  REQUIRE(found.size() == 3);
  const double softmax = found[0]["most"], deep = found[2]["most"];
  CHECK(deep > 1.02 * softmax);
  const auto table = place.run({"table", "far"}).out;
  INFO(table);
  CHECK(says(table, "parameters matched within 2 % to attention=softmax, by model.hidden, except: attention=adamra"));
  CHECK(says(table, "model.layers=6 "));
  CHECK(says(table,
             " (" + std::to_string(static_cast<int>(deep)) + " instead of " + std::to_string(static_cast<int>(softmax)) + ")"));
  CHECK(count_of(table, " instead of ") == 1);
}

TEST_CASE("bytes of state are matched, and trials record the same bytes") {
  Workplace place;
  std::ofstream(place.folder() / "text") << std::string(4000, 'a') << std::string(4000, 'b');
  const auto file = place
                        .study(
                            "[experiment]\nname = \"state\"\n[task]\nplugin = \"lm\"\ndata = \"text\"\nlength = "
                            "16\n[model]\nlayers = 1\nd_model "
                            "= 64\nhidden = 8\npositions = \"none\"\n[train]\nsteps = 3\nbatch = 4\n[grid]\nrows = [{ "
                            "attention.plugin = \"linear\", attention.heads "
                            "= 1 }, { attention.plugin = \"linear\", attention.heads = 2 }]\n[grid.match]\nstate_bytes = "
                            "\"attention.heads=1\"\n"
                            "width = \"model.d_model\"\n")
                        .string();
  const auto ran = place.run({"run", file});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const auto rows =
      place.query("SELECT \"model.d_model\" AS width, \"memory/state\" AS state FROM trials ORDER BY \"attention.heads\"");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["width"] == 64);
  CHECK(rows[1]["width"].get<int>() % 2 == 0);
  CHECK(rows[1]["width"] > 64);
  const auto planned = place.run({"run", file, "--dry-run"}).out;
  CHECK(says(planned, bytes_of(rows[1]["state"]) + " state bytes beside " + bytes_of(rows[0]["state"])));
  CHECK(says(place.run({"table", "state"}).out, "state bytes matched within 2 % to attention.heads=1, by model.d_model"));
}
