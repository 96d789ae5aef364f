// `ablate experiment` with a user's arguments.
#include <nlohmann/json.hpp>

#include "tests/db/ask.h"
#include "tests/db/commands.h"
#include "tools/ablate/keeping/keeping.h"

using namespace ablate;
using namespace ablate::db;

namespace {

/// A history of two experiments: quickstart (one trial done, one failed), and second (quickstart's trial of softmax, a trial
/// that has not run, and a trial that is only in an earlier grid).
class Experiments : public Commands {
 public:
  Experiments() {
    add = add_experiment;
    Store store(file());
    put(store, "second", {trial("linear", {}, 7)});
    put(store, "second", {trial("softmax", {}, 1), trial("linear", {}, 1)});
  }
};

}  // namespace

TEST_CASE("experiments are listed with the outcomes of their latest grids") {
  Experiments run;
  CHECK(run("experiment list --format csv") ==
        "experiment,description,tags,trials,done,failed,missing,latest,file\n"
        "quickstart,,,2,1,1,0,2023-11-14 22:13:20,experiments/quickstart.toml\n"
        "second,,,2,1,0,1,2023-11-14 22:13:20,experiments/second.toml\n");
  CHECK(run.exit_code == 0);
  CHECK(has(run("experiment list"), "quickstart"));
  const auto json = nlohmann::json::parse(run("experiment show second --format json"));
  CHECK(json["trials"] == 2);
  CHECK(json["done"] == 1);
  CHECK(json["missing"] == 1);
  CHECK(json["earlier"] == 1);
  CHECK(json["overrides"] == nlohmann::json{"train.steps=20"});
  CHECK(json["notes"] == nlohmann::json::array());
  CHECK(has(run("experiment show second"), "2: 1 done, 0 failed, 1 missing; 1 of earlier grids"));
  CHECK(run("experiment show second --text") == "[grid]");
}

TEST_CASE("an empty history has no experiments, in each format") {
  Experiments run;
  std::filesystem::remove(run.file());
  { const Store store(run.file()); }
  CHECK(run("experiment list").empty());
  CHECK(has(run.errors, "no experiments yet"));
  CHECK(run("experiment list --format json") == "[]\n");
}

TEST_CASE("tags and notes are stored, shown and available in SQL; notes are added, and tags can be removed") {
  Experiments run;
  CHECK(run("experiment tag quickstart paper draft") == "quickstart: draft, paper\n");
  CHECK(run("experiment tag quickstart paper") == "quickstart: draft, paper\n");
  CHECK(run.words({"experiment", "note", "quickstart", "seeds 4 to 8\nafter the review"}) == "noted on quickstart\n");
  CHECK(run.words({"experiment", "note", "quickstart", "second \"note\""}) == "noted on quickstart\n");
  CHECK(ask(run.file(), "SELECT experiment, tags FROM experiments") ==
        "experiment,tags\nquickstart,\"draft,paper\"\nsecond,\n");
  CHECK(ask(run.file(), "SELECT * FROM tags") == "experiment,tag\nquickstart,draft\nquickstart,paper\n");
  CHECK(ask(run.file(), "SELECT note FROM notes WHERE experiment = 'quickstart' AND written > '2026'") ==
        "note\n\"seeds 4 to 8\nafter the review\"\n\"second \"\"note\"\"\"\n");
  const auto text = run("experiment show quickstart");
  CHECK(has(text, "draft, paper"));
  CHECK(text.find("after the review") < text.find("second \"note\""));
  CHECK(has(run("experiment list --format csv"), "quickstart,,\"draft,paper\",2"));
  CHECK(run("experiment tag quickstart --remove draft") == "quickstart: paper\n");
  CHECK(has(run("experiment tag quickstart --remove papr"), "quickstart has no tag \"papr\" (did you mean paper?)"));
  CHECK(run("experiment tag quickstart --remove paper") == "quickstart: no tags\n");
}

TEST_CASE("if a tag is invalid, all tags of the command are refused") {
  Experiments run;
  for (const char* word : {"a,b", "a b", "a\tb", "\xff"}) {
    INFO(word);
    CHECK(has(run.words({"experiment", "tag", "quickstart", "good", word}), "expected one word"));
  }
  CHECK(ask(run.file(), "SELECT * FROM tags") == "experiment,tag\n");
}

TEST_CASE("an experiment is renamed with its trials, tags and attempts; another experiment's name is refused") {
  Experiments run;
  run("experiment tag quickstart paper");
  const std::string rest = "SELECT trial, position, listed FROM members WHERE experiment = ";
  const auto before = ask(run.file(), rest + "'quickstart'");
  CHECK(has(run("experiment rename quickstart second"), "has an experiment \"second\" already"));
  CHECK(has(run("experiment rename quickstart quickstart"), "already"));
  CHECK(has(run("experiment rename quickstrt third"), "did you mean quickstart?"));
  CHECK(has(run.words({"experiment", "rename", "quickstart", "two\nlines"}), "holds a control character"));
  CHECK(has(run.words({"experiment", "rename", "quickstart", ""}), "empty"));
  CHECK(run("experiment rename quickstart third") == "quickstart is called third now\n");
  CHECK(has(run.errors, "--set experiment.name=third continues this experiment"));
  CHECK(ask(run.file(), "SELECT experiment, tags FROM experiments ORDER BY tags") == "experiment,tags\nsecond,\nthird,paper\n");
  CHECK(ask(run.file(), rest + "'third'") == before);
  CHECK(has(run("experiment show quickstart"), "has no experiment \"quickstart\""));
}

TEST_CASE("an experiment is deleted after a copy of the history was made; without a terminal, --yes is needed") {
  Experiments run;
  const std::string all = "SELECT experiments, key, outcome FROM trials ORDER BY key";
  const auto before = ask(run.file(), all);
  const auto what = "quickstart with 1 trial and 1 attempt that no other experiment has (kept: 1 trial of other experiments)";
  CHECK(run("experiment delete quickstart") ==
        "experiment delete: found no terminal for the question, expected --yes: it would delete " + std::string(what));
  CHECK(ask(run.file(), all) == before);
  const auto output = run("experiment delete quickstart --yes");
  CHECK(has(output, std::string("deleted ") + what + "; a copy of the earlier history is in "));
  const auto backup = output.substr(output.rfind(' ') + 1, output.size() - output.rfind(' ') - 2);
  CHECK(std::filesystem::path(backup).parent_path() == run.file().parent_path());
  CHECK(ask(backup, all) == before);
  CHECK(ask(run.file(), "SELECT experiments, outcome FROM trials") == "experiments,outcome\nsecond,done\n");
  CHECK(has(run("experiment delete quickstart --yes"), "has no experiment \"quickstart\" (known: second)"));
  run.add = add_questions;
  CHECK(has(run("attempts"), "second"));
  CHECK_FALSE(has(run("attempts -n 1"), "the latest 1 of"));  // attempt 2 is deleted
}

TEST_CASE("words and options that an action does not take are refused, and change nothing") {
  Experiments run;
  const auto refuses = [&](const std::string& line, const std::string& message) {
    INFO(line);
    CHECK(has(run(line), message));
  };
  refuses("experiment", "ACTION is required");
  refuses("experiment lst", "did you mean list?");
  refuses("experiment list quickstart", "expected `ablate experiment list`");
  refuses("experiment show", "expected `ablate experiment show NAME`");
  refuses("experiment show quickstart second", "found 2 words after the action");
  refuses("experiment rename quickstart", "expected `ablate experiment rename OLD NEW`");
  refuses("experiment tag quickstart", "expected `ablate experiment tag NAME WORD...`");
  refuses("experiment note quickstart two words", "with the text in quotes");
  refuses("experiment rename quickstart third --yes", "found --yes, an option of delete");
  refuses("experiment delete quickstart --remove", "found --remove, an option of tag");
  refuses("experiment list --text", "found --text, an option of show");
  refuses("experiment note quickstart text --format json", "found --format, an option of list and show");
  refuses("experiment show quickstart --format csv", "expected --format text or json");
  refuses("experiment show quickstar", "did you mean quickstart?");
  CHECK(ask(run.file(), "SELECT experiment FROM experiments") == "experiment\nquickstart\nsecond\n");
  std::filesystem::remove(run.file());
  refuses("experiment tag quickstart paper", "no run history");
  CHECK_FALSE(std::filesystem::exists(run.file()));
}
