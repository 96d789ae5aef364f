// The words of the command line: what is near a word that names nothing, how help looks, and what a message tells to do next.
#include <sstream>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

const std::string kGrid = kTiny + "[grid]\nseeds = 2\nattention.plugin = [\"softmax\", \"linear\"]\n";
const std::string kBuiltPlugins = std::string(ABLATE_BUILD_DIR) + "/lib/ablate/plugins";

}  // namespace

TEST_CASE("a word that names nothing is told with the nearest that does, before and after the command") {
  Workplace place;
  struct Line {
    std::vector<std::string> words;
    std::string error;
  };
  const std::vector<Line> lines = {
      {{"run", "x", "--dryrun"}, "no option --dryrun of run (did you mean --dry-run?); `ablate help run` lists them"},
      {{"table", "--row", "attention"}, "no option --row of table (did you mean --rows?); `ablate help table` lists them"},
      {{"table", "--row=attention"}, "no option --row of table (did you mean --rows?); `ablate help table` lists them"},
      {{"--plugin", "x", "plugins"}, "no option --plugin (did you mean --plugins?); `ablate help` lists them"},
      {{"plugins", "--plugin", "x"},
       "no option --plugin of plugins (did you mean --plugins?); `ablate help plugins` lists them"},
      {{"--dry-run", "run", "x"}, "option --dry-run stands before the command; it goes after one of: run, bench"},
      {{"table", "--frobnicate"}, "no option --frobnicate of table; `ablate help table` lists them"},
      {{"help", "tabel"}, "no command \"tabel\" (did you mean table?)"},
      {{"show", "1", "--json"}, "no option --json of show; write --format json"},
      {{"check", "--json"}, "no option --json of check; write --format json"},
      {{"attempts", "--format", "csv"}, "no format \"csv\" of attempts (known: text, json)"},
      {{"plugins", "--format", "jsn"}, "no format \"jsn\" of plugins (did you mean json?)"},
  };
  for (const auto& [words, error] : lines) {
    const auto ended = place.run(words);
    CHECK(ended.exit_code == 2);
    CHECK(ended.out == "");
    CHECK(ended.err == "ablate: " + error + "\n");
  }
  // One letter is near nothing.
  CHECK(says(place.run({"x"}).err, "no command \"x\" (known: run, bench,"));
  // A value that looks like an option is one's value, and so is what stands behind "=".
  CHECK(says(place.run({"table", "--db", "--row"}).err, "--row"));
  CHECK(says(place.run({"table", "--db=--row"}).err, "no run history"));
}

TEST_CASE("counts and choices are refused in words") {
  Workplace place;
  struct Line {
    std::vector<std::string> words;
    std::string error;
  };
  const std::vector<Line> lines = {
      {{"run", "x", "-j", "x"}, "--jobs: found x, expected trials at a time: a whole number from 1 to 4096"},
      {{"run", "x", "-j0"}, "--jobs: found 0, expected trials at a time: a whole number from 1 to 4096"},
      {{"check", "--timeout", "1.5"}, "--timeout: found 1.5, expected seconds: a whole number from 1 to 86400"},
      {{"table", "--interval", "2x"}, "--interval: found 2x, expected a number from 0 to 1000"},
      {{"plugins", "--kind", "taks"}, "--kind: found taks, expected attention, compression or task (did you mean task?)"},
  };
  for (const auto& [words, error] : lines) {
    const auto ended = place.run(words);
    CHECK(ended.exit_code == 2);
    CHECK(ended.err.starts_with(error + "\n"));
  }
}

TEST_CASE("ablate alone is the overview, help has each command, and no line is wide") {
  Workplace place;
  const auto overview = place.run({});
  CHECK(overview.exit_code == 0);
  CHECK(overview.err == "");
  CHECK(says(overview.out, "Usage: ablate [OPTIONS] SUBCOMMAND"));
  CHECK(place.run({"help"}).out == overview.out);
  CHECK(place.run({"--help"}).out == overview.out);
  for (const char* command : {"run", "bench", "plugins", "check", "new", "table", "attempts", "show", "query", "help"}) {
    INFO(command);
    CHECK(says(overview.out, std::string("\n  ") + command + " "));
    const auto one = place.run({"help", command});
    CHECK(one.exit_code == 0);
    CHECK(one.out == place.run({command, "--help"}).out);
    CHECK(says(one.out, std::string("Usage: ablate ") + command));
    CHECK_FALSE(says(one.out, " in ["));
    std::istringstream text(overview.out + one.out);
    for (std::string line; std::getline(text, line);)
      if (!line.starts_with("  ablate ")) CHECK(line.size() <= 102);  // 100 columns; ± has two bytes
    CHECK_FALSE(says(one.out, "docs/"));                              // is not where help is read
    CHECK_FALSE(says(one.out, "experiments/"));
  }
}

TEST_CASE("a plugin that is not there is told with the folders looked in, and one beside that has it") {
  Workplace place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"mine\"\n").string();
  const std::vector<std::vector<std::string>> commands = {
      {"plugins", "mine"}, {"check", "mine"}, {"bench", "mine"}, {"run", study}};
  for (const auto& command : commands) {
    const auto err = place.run(command).err;
    CHECK(says(err, "looked in " + (place.folder() / "data/ablate/plugins").string() + ", " + kBuiltPlugins));
    CHECK(says(err, "; --plugins DIR (or ABLATE_PLUGIN_PATH) adds a folder"));
  }
  place.folder().write("build/mine.so", "not yet linked");
  for (const auto& command : commands) CHECK(says(place.run(command).err, "; build/mine.so is there: --plugins build\n"));
}

TEST_CASE("a library is shown by its path, and several plugins are checked by one command") {
  Workplace place;
  const auto path = kBuiltPlugins + "/linear.so";
  const auto shown = place.run({"plugins", path});
  CHECK(shown.exit_code == 0);
  CHECK(shown.out == place.run({"plugins", "linear"}).out);
  CHECK(json::parse(place.run({"plugins", path, "--format", "json"}).out).at("id") == "linear");
  CHECK(place.run({"plugins", "./none.so"}).exit_code == 3);

  const auto checked =
      json::parse(place.run({"check", "softmax", path, "softmax", "--only", "causal", "--quick", "--format", "json"}).out);
  REQUIRE(checked.size() == 2);  // one that is named twice is checked once
  CHECK(checked[0].at("id") == "softmax");
  CHECK(checked[1].at("id") == "linear");
  const auto wrong = place.run({"check", "softmax", "lineer"});
  CHECK(wrong.exit_code == 3);
  CHECK(says(wrong.err, "no plugin lineer (did you mean linear?)"));
  CHECK(says(place.run({"check", "softmax", "linear", "--set", "heads=2"}).err, "--set goes with one plugin"));
}

TEST_CASE("a key of a list's entries is told with its path") {
  Workplace place;
  const auto study = place.study(kTiny + "[[attention]]\nplugin = \"softmax\"\n").string();
  const auto ended = place.run({"run", study, "--dry-run", "--set", "attention.heads=4"});
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, "(did you mean attention.0.heads?)"));
  CHECK(place.run({"run", study, "--dry-run", "--set", "attention.0.heads=4"}).exit_code == 0);
}

TEST_CASE("a dry run tells how long its trials will take, by what is done") {
  Workplace place;
  const auto study = place.study(kGrid).string();
  const auto dry = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", study, "--dry-run"});
    return place.run(more).out;
  };
  const std::string unknown = "expected time: not known, no trial of the same attention and task is done\n";
  CHECK(says(dry({}), unknown));
  REQUIRE(place.run({"run", study, "--set", "attention.plugin=softmax"}).exit_code == 0);
  CHECK(says(dry({"--set", "attention.plugin=linear"}), unknown));
  CHECK_FALSE(says(dry({"--set", "attention.plugin=softmax"}), "expected time"));  // all is done
  const auto some = dry({"--set", "seeds=3", "-j", "1"});
  CHECK(says(some, " for 1 trial (the medians of done trials of the same attention and task"));
  CHECK(says(some, "; not known for 3 trials, of which none is done\n"));
  // Two done trials of 8 and 2 seconds, a third to run: the median is 5; all three again, two at a time, are 7.5.
  place.shell(
      "python3 - <<'END'\nimport sqlite3\nd = sqlite3.connect('ablate.db')\n"
      "d.execute('UPDATE attempt SET wall_s = CASE id WHEN 1 THEN 8 ELSE 2 END')\nd.commit()\nEND");
  const std::vector<std::string> three = {"--set", "attention.plugin=softmax", "--set", "seeds=3"};
  CHECK(says(dry(three), "expected time: 5.0 s for 1 trial ("));
  auto again = three;
  again.insert(again.end(), {"--again", "-j", "2"});
  CHECK(says(dry(again), "expected time: 7.5 s for 3 trials, 2 at a time ("));
}

TEST_CASE("a table over several experiments is asked for") {
  Workplace place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string();
  REQUIRE(place.run({"run", study}).exit_code == 0);
  CHECK(place.run({"table"}).exit_code == 0);  // of one there is nothing to ask
  REQUIRE(place.run({"run", study, "--set", "experiment.name=other", "--set", "train.steps=2"}).exit_code == 0);
  const auto ended = place.run({"table"});
  CHECK(ended.exit_code == 2);
  CHECK(ended.out == "");
  CHECK(says(ended.err, "has 2 experiments: tiny, other; name one, or --all for one table over all of them\n"));
  CHECK(says(place.run({"table", "--all"}).out, "all experiments: 2 trials"));
  CHECK(says(place.run({"table", "other"}).out, "other: 1 trial"));
  CHECK(place.run({"table", "other", "--all"}).exit_code == 2);
  CHECK(place.run({"attempts"}).exit_code == 0);
  CHECK(place.run({"query", "SELECT key FROM trials"}).exit_code == 0);
}

TEST_CASE("a plan of very many trials says what it is at") {
  Workplace place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string();
  const auto many = place.run({"run", study, "--set", "seeds=10000", "--dry-run"});
  CHECK(many.exit_code == 0);
  for (const auto* part : {"tiny: 10000 trials: checking their tasks and naming each by its key\n",
                           "tiny: 10000 trials: comparing them with the history\n"})
    CHECK(says(many.err, part));
  CHECK_FALSE(says(place.run({"run", study, "--dry-run"}).err, "trials: "));
}
