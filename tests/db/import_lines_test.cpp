// `ablate import`: checks over all lines of a file, and files that are no table of trials.
#include "core/util/csv.h"
#include "tests/db/ask.h"
#include "tests/db/imports.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("spellings of one number are one setting, in one file and in several files") {
  const std::string head = "experiment,seed,model.layers,train.learning_rate,task.code,test/accuracy\n";
  Imports run;
  run.import(head + "x,1,4,.001,04,60\nx,02,4.0,0.001,4,62\nx,3.0,+4,1e-3,4.0,64\n");
  CHECK(run.exit_code == 0);
  run.import(head + "x,4,4.0,.001,04,66\n");
  CHECK(ask(run.file(), "SELECT DISTINCT path, text FROM parameters WHERE path <> 'seed' ORDER BY path") ==
        "path,text\nmodel.layers,4\ntask.code,4\ntrain.learning_rate,0.001\n");
  CHECK(has(run("table x --rows model.layers"), "63.0 ± 2.6"));
  // A spelling stays unchanged if the file has no other spelling of the value. Later imports use the form of the history.
  run.import("experiment,seed,a,b,test/accuracy\ny,1,4.0,007,60\ny,2,4.0,-,60\n");
  run.import("experiment,seed,a,b,test/accuracy\ny,3,4,7,60\n");
  CHECK(ask(run.file(), "SELECT DISTINCT path, text FROM parameters WHERE path IN ('a', 'b') ORDER BY path, text") ==
        "path,text\na,4.0\nb,-\nb,007\n");
}

TEST_CASE("spellings of one rate are one setting, as in a study") {
  Imports run;
  const std::string head = "experiment,seed,attention.rate,attention.rates,train.dropout,fold,test/accuracy\n";
  run.import(head +
             "x,1,1/2,\"1/2,1/4\",0.5,2/4,60\nx,2,0.5,\"0.5,0.25\",0.50,2/4,62\nx,3,2/4,\"1/2, 1/4\",.5,2/4,64\n"
             "x,4,1,1,0.25,1/4,66\n");
  CHECK(run.exit_code == 0);
  const std::string rates =
      "path,text\nattention.rate,1\nattention.rate,1/2\nattention.rates,1\nattention.rates,\"1/2,1/4\"\nfold,1/4\nfold,2/4\n"
      "train.dropout,0.25\ntrain.dropout,0.5\n";
  const std::string question = "SELECT DISTINCT path, text FROM parameters WHERE path <> 'seed' ORDER BY path, text";
  CHECK(ask(run.file(), question) == rates);
  CHECK(has(run("table x --rows attention.rate"), "62.0 ± 2.0"));
  run.import(head + "x,5,0.5,\"0.5, 0.25\",0.5,1/2,66\n");  // rates get the form that the history has already
  CHECK(ask(run.file(), question) == rates);
}

TEST_CASE("two integers with the same double stay different") {
  Imports run;
  run.import("experiment,seed,a,test/accuracy\nx,1,9007199254740992,60\nx,1,9007199254740993,70\n");
  CHECK(ask(run.file(), "SELECT count(DISTINCT text) AS n FROM parameters WHERE path = 'a'") == "n\n2\n");
}

TEST_CASE("a run that is in a file twice counts once, by its later line, and a note names both lines") {
  const std::string head = "experiment,attention,seed,test/accuracy,outcome\nt,softmax,1,60,\nt,softmax,2,61,\n";
  Imports run;
  const auto output = run.import(head + "t,linear,1,70,\nt,linear,1,75,\nt,linear,2,71,\n");
  CHECK(has(output, ": 4 trials of t came, 0 were there already"));
  CHECK(has(run.errors, "in.csv: lines 4 and 5 have the same parameters and seed, and other numbers: line 5 counts\n"));
  CHECK(has(run("table t --rows attention"), "linear     73.0 ± 2.8"));
  const auto against = run("table t --rows attention --against attention=softmax");
  INFO(against);
  CHECK(has(against, "73.0 ± 2.8         12.5 "));  // mean of 75 and 71
  CHECK(has(run.import(head + "t,linear,1,70,\nt,linear,1,75,\nt,linear,2,71,\n"), "0 trials of t came, 4 were there"));
  run.import("experiment,attention,seed,test/accuracy,outcome\nu,linear,1,70,\nu,linear,1,70,\nu,linear,1,,failed\n");
  CHECK(has(run.errors, "lines 2 and 3 have the same parameters and seed: line 3 counts; 1 more like this"));
  CHECK(has(run("table u --rows attention"), "linear     70.00"));
}

TEST_CASE("scores in percent that look like shares, or are above 100, cause a note; other percentages do not") {
  const auto noted = [](const std::string& header, const std::string& values) {
    Imports run;
    run.import("experiment,seed," + header + "\n" + values);
    CHECK(run.exit_code == 0);
    return run.errors;
  };
  const std::string mixed = "x,1,64.3\nx,2,0.83\nx,3,0.5\n";
  CHECK(has(noted("test/accuracy", mixed),
            "test/accuracy (%): found 0.83 in line 3 and 1 more like it beside 64.3; a share of 1 is 100 %"));
  CHECK(has(noted("test/bleu[% max]", mixed), "test/bleu (%): found 0.83 in line 3"));
  CHECK(has(noted("test/accuracy", "x,1,0.6\nx,2,0.7\n"), "found 0.6 in line 2 and 1 more like it; a share of 1 is 100 %"));
  CHECK(has(noted("test/accuracy", "x,1,60\nx,2,164.3\n"), "found 164.3 in line 3, expected at most 100"));
  CHECK(noted("test/accuracy", "x,1,64.3\nx,2,0\nx,3,100\nx,4,nan\n").empty());
  CHECK(noted("test/accuracy,train/step_spread", "x,1,64,0.4\n").empty());
  CHECK(noted("test/bits_per_byte", "x,1,0.9\nx,2,1.4\n").empty());
}

TEST_CASE("every spelling of nan is read as NaN, as a parameter and as a metric, in both formats") {
  for (const std::string nan : {"nan", "NaN", "NAN"}) {
    Imports run;
    run.import("experiment,seed,a,test/accuracy\nx,1," + nan + "," + nan + "\n");
    run.import("{\"experiment\": \"x\", \"parameters\": {\"seed\": 2, \"a\": \"" + nan +
               "\"}, \"metrics\": {\"test/accuracy\": \"" + nan + "\"}}\n");
    INFO(nan << run.errors);
    CHECK(ask(run.file(), "SELECT text, number FROM parameters WHERE path = 'a'") == "text,number\nnull,\nnull,\n");
    CHECK(ask(run.file(), "SELECT outcome, \"test/accuracy\" FROM trials") == "outcome,test/accuracy\ndone,\ndone,\n");
  }
  Imports run;
  run.import("experiment,seed,a,b,test/accuracy\nx,1,True,infinity,50\nx,2,FALSE,nano,50\n");
  CHECK(ask(run.file(), "SELECT text, number FROM parameters WHERE path <> 'seed' ORDER BY path, text") ==
        "text,number\nfalse,0\ntrue,1\ninfinity,\nnano,\n");
}

TEST_CASE("a file that is not a file of trials is refused with the remedy") {
  Imports run;
  const auto refused = [&](const std::string& text, const std::string& why) {
    INFO(why);
    CHECK(has(run.import(text), why));
    CHECK(run.exit_code == -1);
    CHECK_FALSE(std::filesystem::exists(run.file()));
  };
  for (const std::string inf : {"inf", "-Infinity", "1e999"})
    refused("experiment,seed,test/accuracy\nx,1," + inf + "\n",
            "column test/accuracy: found \"" + inf + "\", expected a finite");
  for (const std::string unit : {"[% best]", "[best]", "[max %]", "[% Max]", "[% higher]"})
    refused("experiment,seed,test/bleu" + unit + "\nx,1,2\n",
            "column test/bleu: has " + unit + " behind it, expected a unit of");
  refused("experiment,seed,test/accuracy[% best]\nx,1,2\n", "column test/accuracy: has [% best] behind it");
  refused("experiment,seed,test/bleu[% max\nx,1,2\n", "column test/bleu[% max: has a bracket in its name");
  for (const std::string name : {"", "Unnamed: 0"})
    refused(name + ",experiment,seed,test/accuracy\n0,x,1,2\n", "pandas leaves its index out by to_csv(..., index=False)");
  { Store other(run.path("other.db")); }
  refused(content(run.path("other.db")), "in.csv: found a run history, expected CSV or JSON lines; `ablate merge");
  refused("experiment,seed,a,test/accuracy\nx,1," + std::string(kMostCsvFieldBytes + 1, 'y') + ",1\n",
          ":2: found a field of 1000001 bytes, expected at most 1000000");
  refused("experiment,seed,a,test/accuracy\nx,1,\"" + std::string(kMostCsvFieldBytes + 1, 'y') + "\",1\n", "found a field of");
  refused("experiment,test/accuracy" + std::string(kMostCsvFields, ',') + "\n", ":1: found more than 10000 fields");
  refused("{\"metrics\": {\"test/accuracy\": 1}, \"reason\": \"" + std::string(4 * kMostCsvFieldBytes, 'y') + "\"}\n",
          ":1: found a line of");
}
