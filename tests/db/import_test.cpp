// `ablate import`: trials that ran elsewhere.
#include <cmath>
#include <limits>
#include <regex>

#include "db/history/durations.h"
#include "db/history/lineage.h"
#include "tests/db/ask.h"
#include "tests/db/imports.h"

using namespace ablate;
using namespace ablate::db;

namespace {

const std::string kThree =
    "experiment,seed,attention,attention.rates,test/accuracy\n"
    "far,1,softmax,,60\nfar,2,softmax,,64\nfar,1,adamra,\"1/2,1/4\",70.5\n";

/// Returns the text without the notes on the origin of trials and without blank lines at the end.
std::string without_import_notes(const std::string& text) {
  auto rest = std::regex_replace(text, std::regex("note: [0-9]+ trials? w[^\n]* imported from [^\n]*\n"), "");
  rest.erase(rest.find_last_not_of('\n') + 1);
  return rest;
}

/// Fills a history with all kinds of trials: failures, NaN, real and whole numbers, texts that look odd, layers with different
/// attentions, a task's own metric and a metric over a group.
void fill(const std::filesystem::path& file) {
  Store store(file);
  std::vector<nlohmann::json> trials;
  for (const auto* attention : {"softmax", "linear"})
    for (const int seed : {1, 2, 3}) {
      trials.push_back(trial(attention, seed == 3 ? std::vector<std::string>{"1/2", "1/4"} : std::vector<std::string>{}, seed));
      trials.back()["train"]["learning_rate"] = seed == 2 ? 1.0 : 0.003;
      trials.back()["task"]["text"] = "a, \"b\"\nc";
      trials.back()["train"]["gradients"] = std::nan("");
    }
  trials.push_back(trial("x", {}, 1));
  trials.back()["attention"] = {{{"plugin", "linear"}}, {{"plugin", "softmax"}}};
  put(store, "study", trials);
  store.put_metrics({{"test/leading", "%", "max", "of a task's own"},
                     {"attention/width", "", "", "of a method", MetricKind::kCount, MetricOwner::kMethod},
                     {"test/accuracy@pairs=8", "%", "max", "of a group"},
                     {"train/step_spread", "%", "", "of times", MetricKind::kCost, MetricOwner::kHost, true}});
  for (std::size_t i = 0; i + 1 < trials.size(); ++i) {
    auto attempt = done(trials[i], 60 + 0.1 * static_cast<double>(i * i));
    attempt.main_metric = "test/leading";
    attempt.results["test/leading"] = i == 1 ? std::nan("") : 1.0 / static_cast<double>(i + 3);
    attempt.results["test/accuracy@pairs=8"] = 50;
    attempt.results["attention/width"] = static_cast<double>(i);
    attempt.results["train/step_spread"] = i == 4 ? 40 : 1;
    store.put_attempt(i == 5 ? failed(trials[i], "signal 11, in \"x\"", "failed") : attempt);
  }
  store.put_attempt(failed(trials.back(), "", "timeout"));
}

}  // namespace

TEST_CASE("import reads the files of export: every table is the same in both histories") {
  Imports run;
  fill(run.file());
  const std::vector<std::string> tables = {
      "table study",
      "table study --rows attention,train.learning_rate --metric test/accuracy,train/step_time,test/accuracy@pairs=8",
      "table study --rows attention --metric test/leading,attention/width --against attention=softmax",
      "table study --rows attention --where train.learning_rate=1.0 --metric test/accuracy --format csv",
      "table study --rows attention,attention.rates,task.text,train.gradients --format csv",
  };
  std::vector<std::string> before;
  for (const auto& table : tables) {
    before.push_back(run(table));
    REQUIRE(run.exit_code == 0);
  }
  for (const std::string format : {"csv", "jsonl"}) {
    const auto out = run.path("out." + format);
    run("export --format " + format + " --out " + out);
    const auto kept = run.path("kept.db");
    std::filesystem::rename(run.file(), kept);
    if (format == "jsonl") {  // JSON lines have no units, so the history gets the units first
      Store store(run.file());
      store.put_metrics({{"test/leading", "%", "max", "of a task's own"},
                         {"attention/width", "", "", "of a method", MetricKind::kCount, MetricOwner::kMethod}});
    }
    CHECK(run("import " + out) == out + ": 7 trials of study came, 0 were there already\n");
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const auto after = run(tables[i]);
      INFO(tables[i]);
      CHECK(without_import_notes(after) == without_import_notes(before[i]));
      CHECK(has(after + run.errors, " trials were imported from " + out + ": they did not run here"));
    }
    std::filesystem::rename(kept, run.file());
  }
}

TEST_CASE("a CSV written by hand becomes trials of an experiment, once, in a new history") {
  Imports run;
  CHECK(run.import(kThree) == run.path("in.csv") + ": 3 trials of far came, 0 were there already\n");
  CHECK(run.exit_code == 0);
  const auto table = run("table far --rows attention,attention.rates");
  CHECK(has(table, "softmax    -                62.0 ± 2.8 (n=2)"));
  CHECK(has(table, "adamra     1/2,1/4          70.5"));
  CHECK(has(table, "note: 3 trials were imported from " + run.path("in.csv") + ": they did not run here"));
  CHECK(run.import(kThree) == run.path("in.csv") + ": 0 trials of far came, 3 were there already\n");
  // Trials are recognised in another order, with other line ends and quotes. A further trial is imported.
  CHECK(run.import("seed,experiment,attention,attention.rates,test/accuracy\r\n2,far,softmax,,64.0\r\n1,far,\"softmax\",,60\r\n"
                   "3,far,softmax,,62\r\n") == run.path("in.csv") + ": 1 trial of far came, 2 were there already\n");
  CHECK(has(run("table far --rows attention,attention.rates"), "62.0 ± 2.0 (n=3)"));
}

TEST_CASE("--experiment replaces the file's column; --dry-run shows how the file is understood, and writes nothing") {
  Imports run;
  const auto output = run.import(kThree + "near,4,softmax,,1\n", "--experiment other --dry-run");
  CHECK(output == "parameters  attention, attention.rates, seed\nmetric      test/accuracy (%), max is best\n" +
                      run.path("in.csv") + ": 4 trials of other would come, 0 were there already\n");
  CHECK_FALSE(std::filesystem::exists(run.file()));
  run.import(kThree, "--experiment other");
  CHECK(ask(run.file(), "SELECT experiment, trials FROM experiments") == "experiment,trials\nother,3\n");
  CHECK(has(run.import(kThree, "--experiment other --dry-run"), "0 trials of other would come, 3 were there already"));
}

TEST_CASE("an imported trial never counts as done for a grid, and no times are estimated from it") {
  Imports run;
  const auto one = trial("softmax", {}, 1);
  run.import("experiment,key,seed,attention,test/accuracy,wall_s,environment.git\nstudy," + key_of(one) +
             ",1,softmax,60,7,c0ffee\n");
  {
    const Reader reader(run.file());
    CHECK(done_times(reader).empty());
    CHECK(all_done(reader).empty());
    CHECK(done_of(reader, "study", 9).empty());
  }
  CHECK(ask(run.file(), "SELECT count(*) AS n FROM plugins") == "n\n0\n");
  CHECK(has(ask(run.file(), "SELECT environment ->> '$.git' AS git FROM attempts"), "c0ffee"));
  Store store(run.file());
  CHECK(store.done({key_of(one)}).empty());
  put(store, "study", {one});  // a grid of the same experiment
  CHECK(store.done({key_of(one)}).empty());
  CHECK(has(run("table study"), "missing"));
  store.put_attempt(done(one, 90));
  CHECK(has(run("table study"), "90.00"));
  // A trial that ran here is not imported again.
  const auto output = run.import("experiment,key,seed,attention,test/accuracy\nstudy," + key_of(one) + ",1,softmax,90\n");
  CHECK(has(output, "0 trials of study came"));
  CHECK(has(run.errors, "1 trial is left out: it ran here"));
}

TEST_CASE("imported trials come after the existing grid; a later import of the same settings replaces an earlier one") {
  Imports run;
  {
    Store store(run.file());
    const auto one = trial("softmax", {}, 1);
    put(store, "study", {one});
    store.put_attempt(done(one, 90));
  }
  run.import("experiment,seed,attention,test/accuracy\nstudy,1,linear,50\n");
  auto table = run("table study --rows attention");
  CHECK(table.find("softmax") < table.find("linear"));
  CHECK_FALSE(has(run.errors, "other numbers"));
  const std::string other = "experiment,seed,attention,test/accuracy\nstudy,2,linear,60\nstudy,1,linear,55\n";
  for (const auto* dry : {"--dry-run", ""}) {
    run.import(other, dry);
    CHECK(has(run.errors, ": 1 trial has other numbers than an earlier import, first line 3: test/accuracy 55, and 50 in "));
  }
  run.import(other);
  CHECK(run.errors.empty());  // the trial is there already
  run.import("experiment,seed,attention,wall_s,test/accuracy\nstudy,2,linear,3,60\n");
  CHECK(run.errors.empty());  // only the time differs
  table = run("table study --rows attention --where seed=1");
  CHECK(has(table, "2 imported trials are left out: later trials have the same parameters and seeds"));
  CHECK_FALSE(has(table, "later trials have the same settings"));
  CHECK(has(table, "55.00"));
  CHECK_FALSE(has(table, "50.00"));
  // Without seeds, a correction cannot be distinguished from a repetition, so all trials count.
  CHECK(has(run.import("experiment,attention,test/accuracy\nmore,linear,50\nmore,linear,50\nmore,linear,56\n"), "3 trials"));
  CHECK(has(run("table more --rows attention"), "52.0 ± 3.5"));
}

TEST_CASE("a merge copies imported trials, and they stay marked as imported") {
  Imports run;
  run.import(kThree);
  const auto other = run.path("other.db");
  std::filesystem::rename(run.file(), other);
  run.import(kThree.substr(0, kThree.rfind("far,")));
  CHECK(has(run("merge " + other), "1 attempt of 1 trial came, 2 were there already"));
  CHECK(has(run.import(kThree), "0 trials of far came, 3 were there already"));
  CHECK(has(run("table far --rows attention"), "3 trials were imported from"));  // although the later grid has only two
}

TEST_CASE("ablate's own metrics are known; other metrics declare a unit and a direction, which cannot change later") {
  Imports run;
  run.import("experiment,seed,test/bleu[% max],energy/used [J min],probe/layers[],test/accuracy@pairs=8\nx,1,20,3,2,50\n");
  CHECK(run.exit_code == 0);
  CHECK(ask(run.file(), "SELECT metric, unit, direction FROM metrics ORDER BY metric") ==
        "metric,unit,direction\nenergy/used,J,min\nprobe/layers,,\ntest/accuracy@pairs=8,%,max\ntest/bleu,%,max\n");
  CHECK(has(run("table x"), "test/bleu (%)"));  // the default: the first score of the test split
  CHECK(has(run.import("experiment,seed,test/bleu\nx,2,30\n"), "1 trial of x came"));
  CHECK(
      has(run.import("experiment,seed,test/bleu[max]\nx,3,30\n"), "in.csv:1: column test/bleu: found [max], expected [% max]"));
  for (const auto* wrong : {"test/accuracy[% min]", "test/accuracy@pairs=8[ max]", "train/step_time[s min]", "dev/loss[]",
                            "test/bits_per_word[bit max]"}) {
    INFO(wrong);  // ablate defines these metrics, even if the history lacks them
    CHECK(has(run.import(fmt::format("experiment,seed,{}\nx,4,30\n", wrong)), "as ablate defines it"));
  }
  CHECK(has(run.import("experiment,seed,test/bits_per_word\nx,4,2\n"), "1 trial of x came"));
  CHECK(has(run.import("experiment,seed,test/acuracy\nx,1,2\n"), "did you mean test/accuracy?"));
  CHECK(has(run.import("experiment,seed,a/b\nx,1,2\n"), "expected its unit and direction in brackets: a/b[% max]"));
}

TEST_CASE("faults in an import are reported by file, line and column, and nothing is written") {
  Imports run;
  const std::string head = "experiment,seed,attention,test/accuracy,outcome\nx,1,softmax,60,done\n";
  const auto refused = [&](const std::string& text, const std::string& why, const std::string& options = "") {
    INFO(text);
    const auto output = run.import(text, options);
    INFO(output);
    CHECK(has(output, why));
    CHECK(run.exit_code == -1);
    CHECK_FALSE(std::filesystem::exists(run.file()));
  };
  const auto in = run.path("in.csv");
  refused(head + "x,2,softmax,60%,done\n",
          in + ":3: column test/accuracy: found \"60%\", expected a finite number, nan, or nothing (the");
  refused(head + "x,2,softmax,0x10,done\n", in + ":3: column test/accuracy: found \"0x10\", expected a finite number");
  refused(head + "x,2,softmax, ,done\n", in + ":3: column test/accuracy: found \"\", expected a finite number");
  refused(head + "x,2,softmax,60,don\n", in + ":3: column outcome: found \"don\", expected done, failed, timeout, stalled, "
                                              "oom, refused, interrupted, lost (did you mean done?)");
  refused(head + "x,2.5,softmax,60,done\n", in + ":3: column seed: found 2.5, expected a whole number");
  refused(head + "x,2,softmax,,done\n", in + ":3: found no value of any metric");
  refused(head + ",2,softmax,1,done\n", in + ":3: found no experiment");
  refused(head + "x,2,softmax,1\n", in + ":3: found 4 fields, expected 5");
  refused("experimnt,seed,test/accuracy\nx,1,2\n", "--experiment NAME (did you mean experimnt?)");
  refused("experiment,seed,accuracy\nx,1,2\n",
          "column accuracy: found a metric without its split, expected test/accuracy or dev/accuracy");
  refused("experiment,seed,test/accuracy,seed\nx,1,2,1\n", "found column seed twice");
  refused("experiment,seed,attention\nx,1,softmax\n", "found no metric, expected a column with a slash");
  refused("experiment,,test/accuracy\nx,1,2\n", "a column whose name is empty");
  refused("seed,test/accuracy,main_metric\n1,2,test/loss\n", "column main_metric: found test/loss", "--experiment x");
  refused("experiment,test/accuracy,started\nx,1,yesterday\n", "column started: found \"yesterday\", expected a time of UTC");
  refused("", "found no line, expected a header");
  refused("experiment,seed,test/accuracy\n", "found no trial, expected a line for each below the header");
  refused("seed,test/accuracy\n", "found no trial", "--experiment x");
  refused("{\"experiment\": 1, \"outcome\": \"failed\"}\n{\"metric\": {}}\n", ":2: found \"metric\", expected one of");
  refused("{\"metrics\": {\"test/accuracy\": \"x\"}}\n", ":1: column test/accuracy: found", "--experiment x");
  CHECK(has(run("import " + run.path("nowhere.csv")), "cannot read"));
}

TEST_CASE("blanks around a metric's number are ignored") {
  Imports run;
  run.import("experiment,seed,attention,test/accuracy\nx,1,a,70 \nx,1,b, 71\t\nx,1,c,nan \n");
  CHECK(run.exit_code == 0);
  const auto table = run("table x --rows attention");
  for (const auto* number : {"70.00", "71.00", "nan"}) CHECK(has(table, number));
}

TEST_CASE("numbers keep their types: integers in a column with gaps, rates, texts that begin with a zero") {
  Imports run;
  run.import(
      "experiment,seed,model.layers,attention.rates,task.code,train.x,test/accuracy\n"
      "x,1.0,2,1/4,007,1e-3,50\nx,2.0,-3,1/2,-,true,nan\n");
  CHECK(ask(run.file(), "SELECT path, text, number FROM parameters ORDER BY path, text") ==
        "path,text,number\nattention.rates,1/2,0.5\nattention.rates,1/4,0.25\nmodel.layers,-3,-3\nmodel.layers,2,2\n"
        "seed,1,1\nseed,2,2\ntask.code,-,\ntask.code,007,\ntrain.x,0.001,0.001\ntrain.x,true,1\n");
}
