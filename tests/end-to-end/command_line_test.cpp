// Words of the command line: the nearest name for an unknown word, the layout of help, and the command that a message suggests.
#include <algorithm>
#include <sstream>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

const std::string kGrid = kTiny + "[grid]\nseeds = 2\nattention.plugin = [\"softmax\", \"linear\"]\n";
const std::string kBuiltPlugins = std::string(ABLATE_BUILD_DIR) + "/lib/ablate/plugins";

}  // namespace

TEST_CASE("an unknown word is reported with the nearest known word, before and after the command") {
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
      {{"--dry-run", "run", "x"}, "found option --dry-run before the command, expected it after one of: run, bench, import"},
      {{"--dryrun", "run", "x"}, "no option --dryrun (did you mean --dry-run? It goes after one of: run, bench, import)"},
      {{"attempts", "a", "b"},
       "attempts: found \"b\" behind \"a\", expected EXPERIMENT and no more; `ablate help attempts` shows its usage"},
      {{"new", "task", "a", "b"},
       "new: found \"b\" behind \"a\", expected KIND NAME and no more; `ablate help new` shows its usage"},
      {{"run"}, "STUDY is required; `ablate help run` shows its usage"},
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
  // One letter is too short to be near a command.
  CHECK(place.run({"x"}).err == "ablate: no command \"x\"; `ablate help` lists them\n");
}

TEST_CASE("an option that another option would consume as its value is refused, and nothing runs") {
  Workplace place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string();
  const std::string looks = ", which looks like an option, expected ";
  const std::vector<std::pair<std::vector<std::string>, std::string>> lines = {
      {{"run", "--db", "--dry-run", study}, "--db: found --dry-run" + looks + "--db FILE; for that path, write ./--dry-run"},
      {{"run", "--db=--dry-run", study}, "--db: found --dry-run" + looks + "--db FILE; for that path, write ./--dry-run"},
      {{"run", "--db=", "--dry-run", study}, "--db= is empty, expected --db FILE; leave it out for the default"},
      {{"--plugins", "-h", "run", study}, "--plugins: found -h" + looks + "--plugins DIR; for that path, write ./-h"},
      {{"run", study, "--set", "--dry-run"},
       "--set: found --dry-run" + looks + "--set PATH=VALUE; if that is the value, write --set=--dry-run"},
      {{"run", study, "-j", "--again"}, "-j: found --again" + looks + "-j N"},
      {{"run", study, "--only=", "--again"}, "--only= is empty, expected --only KEY; leave it out for the default"},
      {{"table", "--rows", "--format", "csv"},
       "--rows: found --format" + looks + "--rows PATH; if that is the value, write --rows=--format"},
  };
  for (const auto& [words, error] : lines) {
    const auto ended = place.run(words);
    CHECK(ended.exit_code == 2);
    CHECK(ended.out == "");
    CHECK(ended.err == "ablate: " + error + "\n");
  }
  CHECK_FALSE(place.has_database());
  CHECK_FALSE(std::filesystem::exists(place.folder() / "--dry-run"));
  // A negative number is a value, and so is a path that begins with "./".
  CHECK(says(place.run({"attempts", "-n", "-5"}).err, "found -5, expected a number of attempts"));
  CHECK(says(place.run({"table", "--db", "./--row"}).err, "no run history: looked for "));
}

TEST_CASE("a value of a study without --set is refused, and the message shows how to set it") {
  Workplace place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string();
  const std::vector<std::pair<std::vector<std::string>, std::string>> lines = {
      {{"run", study, "train.steps=3"}, "train.steps=3: expected --set before a value: write --set train.steps=3"},
      {{"run", "seeds=3", study}, "seeds=3: expected --set before a value: write --set seeds=3"},
      {{"check", "softmax", "heads=2"}, "heads=2: expected --set before a value: write --set heads=2"},
      {{"run", study, "--seeds", "3"}, "no option --seeds of run; --set seeds=VALUE sets this value of the study"},
      {{"run", study, "--device=cuda"}, "no option --device of run; --set train.device=VALUE sets this value of the study"},
      {{"run", study, "--d-model", "8"}, "no option --d-model of run; --set model.d_model=VALUE sets this value of the study"},
      {{"bench", "linear", "--train.threads", "2"},
       "no option --train.threads of bench; --set train.threads=VALUE sets this value of the study"},
      {{"check", "softmax", "--steps", "3"}, "no option --steps of check; `ablate help check` lists them"},
  };
  for (const auto& [words, error] : lines) CHECK(place.run(words).err == "ablate: " + error + "\n");
  std::filesystem::rename(study, place.folder() / "a=b.toml");  // a file may have this name
  CHECK(place.run({"run", "a=b.toml", "--dry-run"}).exit_code == 0);
}

TEST_CASE("wrong counts and choices are refused in plain words") {
  Workplace place;
  struct Line {
    std::vector<std::string> words;
    std::string error;
  };
  const std::vector<Line> lines = {
      {{"run", "x", "-j", "x"}, "--jobs: found x, expected trials at a time: a whole number from 1 to 4096, or auto"},
      {{"run", "x", "-j0"}, "--jobs: found 0, expected trials at a time: a whole number from 1 to 4096, or auto"},
      {{"run", "x", "--retry", "timout"},
       "--retry: found timout, expected failed, timeout, stalled, oom, all (did you mean timeout?)"},
      {{"run", "x", "--memory", "4Q"}, "--memory: found 4Q, expected a size in bytes, or with the suffix K, M, G or T"},
      {{"check", "--timeout", "1.5"}, "--timeout: found 1.5, expected seconds: a whole number from 1 to 86400"},
      {{"table", "--interval", "2x"}, "--interval: found 2x, expected a number from 0 to 1000"},
      {{"plugins", "--kind", "taks"}, "--kind: found taks, expected attention, compression or task (did you mean task?)"},
  };
  for (const auto& [words, error] : lines) {
    const auto ended = place.run(words);
    CHECK(ended.exit_code == 2);
    CHECK(ended.err.starts_with("ablate: " + error + "; `ablate help " + words.front() + "` shows"));
  }
}

TEST_CASE("ablate without arguments prints the overview, help lists each command, and no line is too wide") {
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
    CHECK_FALSE(says(one.out, "docs/"));                              // help is also read without the docs
    CHECK_FALSE(says(one.out, "experiments/"));
  }
}

TEST_CASE("a missing plugin is reported with the folders that were searched, and a nearby folder that has it") {
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
  // Exit code 2: the library does not exist. Exit code 3: an existing library is refused.
  const auto none = place.run({"plugins", "./none.so"});
  CHECK(none.exit_code == 2);
  CHECK(says(none.err, "none.so: no such file; expected a plugin library (*.so)"));
  place.folder().write("text.so", "no library");
  CHECK(place.run({"plugins", "./text.so"}).exit_code == 3);

  const auto checked =
      json::parse(place.run({"check", "softmax", path, "softmax", "--only", "causal", "--quick", "--format", "json"}).out);
  REQUIRE(checked.size() == 2);  // a plugin that is named twice is checked once
  CHECK(checked[0].at("id") == "softmax");
  CHECK(checked[1].at("id") == "linear");
  const auto wrong = place.run({"check", "softmax", "lineer"});
  CHECK(wrong.exit_code == 2);
  CHECK(says(wrong.err, "no plugin lineer (did you mean linear?)"));
  CHECK(says(place.run({"check", "softmax", "linear", "--set", "heads=2"}).err, "--set requires a single plugin"));
}

TEST_CASE("a wrong key in a list's entry is reported with its path") {
  Workplace place;
  const auto study = place.study(kTiny + "[[attention]]\nplugin = \"softmax\"\n").string();
  const auto ended = place.run({"run", study, "--dry-run", "--set", "attention.heads=4"});
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, "(did you mean attention.0.heads?)"));
  CHECK(place.run({"run", study, "--dry-run", "--set", "attention.0.heads=4"}).exit_code == 0);
}

TEST_CASE("a dry run estimates, from trials that are done, how long its own trials take") {
  Workplace place;
  const auto study = place.study(kGrid).string();
  const auto dry = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", study, "--dry-run"});
    return place.run(more).out;
  };
  const std::string unknown = "expected time: unknown, because no trial of the same attention and task is done\n";
  CHECK(says(dry({}), unknown));
  REQUIRE(place.run({"run", study, "--set", "attention.plugin=softmax"}).exit_code == 0);
  CHECK(says(dry({"--set", "attention.plugin=linear"}), unknown));
  CHECK_FALSE(says(dry({"--set", "attention.plugin=softmax"}), "expected time"));  // all trials are done
  const auto some = dry({"--set", "seeds=3", "-j", "1"});
  CHECK(says(some, " for 1 trial (medians of done trials with the same attention, task and number of steps; "));
  CHECK(says(some, "; unknown for 3 trials: no similar trial is done\n"));
  // Two trials took 8 and 2 seconds, so the third is expected to take the median, 5. All three, two at a time, take 7.5.
  place.shell(
      "python3 - <<'END'\nimport sqlite3\nd = sqlite3.connect('ablate.db')\n"
      "d.execute('UPDATE attempt SET wall_s = CASE id WHEN 1 THEN 8 ELSE 2 END')\nd.commit()\nEND");
  const std::vector<std::string> three = {"--set", "attention.plugin=softmax", "--set", "seeds=3"};
  const std::string of = "medians of done trials with the same attention";
  CHECK(says(dry(three), "expected time: 5.0 s for 1 trial (" + of + ", task and number of steps; other settings may differ)"));
  // Trials with another number of steps count by the time of a step: the median of 8 / 6 and 2 / 6 seconds, times 12.
  CHECK(says(dry({"--set", "attention.plugin=softmax", "--set", "seeds=1", "--set", "train.steps=12"}),
             "expected time: 10.0 s for 1 trial (" + of + " and task, by the time of a step if none had as many steps; other"));
  auto again = three;
  again.insert(again.end(), {"--again", "-j", "2"});
  CHECK(says(dry(again), "expected time: 7.5 s for 3 trials, 2 at a time ("));
  CHECK_FALSE(says(dry(again), "timeout"));
  again.insert(again.end(), {"--set", "experiment.timeout=5.0"});
  CHECK_FALSE(says(dry(again), "timeout"));  // the limit is exactly the expected time
  again.back() = "experiment.timeout=1";
  CHECK(says(
      dry(again),
      "\nwarning: experiment.timeout ends a trial after 1.0 s, and 3 trials are expected to take longer, 5.0 s at most\n"));
}

TEST_CASE("a table over several experiments needs an explicit option") {
  Workplace place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string();
  REQUIRE(place.run({"run", study}).exit_code == 0);
  CHECK(place.run({"table"}).exit_code == 0);  // a single experiment needs no name
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

TEST_CASE("query lists its views in every format, help names them, and SQL that a shell split into words is reported") {
  Workplace place;
  REQUIRE(place.run({"run", place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string()}).exit_code == 0);
  const auto views = json::parse(place.run({"query", "--format", "json"}).out);
  const auto text = place.run({"query"}).out;
  auto help = place.run({"help", "query"}).out;
  std::replace(help.begin(), help.end(), '\n', ' ');
  CHECK(views.size() > 8);
  for (const auto& view : views) {
    const std::string name = view.at("view");
    INFO(name);
    CHECK((says(help, " " + name + ",") || says(help, " " + name + ";") || says(help, " " + name + " (")));
    CHECK(says(text, name + ": " + view.at("about").get<std::string>() + "\n"));
    CHECK_FALSE(view.at("columns").empty());
  }
  CHECK(place.run({"query", "--format", "csv"}).out.starts_with("view,column,about\ntrials,"));
  const auto cut = place.shell("$ablate query SELECT key FROM trials");
  CHECK(cut.exit_code == 2);
  CHECK(cut.err == "ablate: found SQL in 4 words, split by the shell; put all of it in quotes: ablate query 'SELECT ...'\n");
  CHECK(place.shell("$ablate query 'SELECT key FROM trials'").exit_code == 0);
}

TEST_CASE("a list of failures has reasons, and a study with the same name from another file is reported") {
  Workplace place;
  place.set("ABLATE_PLUGIN_PATH", kFaulty + "trial");
  const auto study = place.study(kTiny + "[attention]\nplugin = \"faulty\"\nfault = \"hang\"\n").string();
  CHECK(place.run({"run", study, "--set", "experiment.timeout=1"}).exit_code == 1);
  CHECK(says(place.run({"attempts", "--failed"}).out, "  timeout: ran longer than the 1 s of its time limit  "));

  const auto quick = place.folder().write("other.toml", kTiny + "[attention]\nplugin = \"linear\"\n").string();
  const auto warning =
      "warning: in ablate.db the experiment tiny was made by another study, " + study + "; the table will leave its trials out";
  CHECK(says(place.run({"run", quick}).err, warning));
  CHECK_FALSE(says(place.run({"run", quick}).err, "another study"));
  std::filesystem::rename(quick, place.folder() / "moved.toml");  // the same text
  CHECK_FALSE(says(place.run({"run", "moved.toml"}).err, "another study"));
}
