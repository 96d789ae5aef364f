// ablate bench, from a few options to its tables and the run history.
#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

TEST_CASE("bench measures, stores and shows the costs of attentions") {
  Workplace place;
  const std::vector<std::string> bench = {"bench", "softmax", "compressed+clustering", "--lengths", "16,32,64",      "--batch",
                                          "1,2",   "--set",   "model.d_model=16",      "--set",     "model.layers=1"};
  const auto first = place.run(bench);
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  for (const auto* metric : {"train/forward_time", "train/forward_backward_time", "train/step_time", "memory/peak_tensor"})
    CHECK(says(first.out, metric));
  CHECK(says(first.out, "task.length=64"));
  CHECK(says(first.out, "exponent"));
  CHECK(says(first.out, "ratio of means to attention=softmax"));
  const auto runs = place.query(
      "SELECT attention, \"attention.compression\", \"task.length\" AS n, \"train.batch\" AS batch, \"train/forward_time\" AS "
      "forward, "
      "\"train/step_time\" AS step FROM trials JOIN members USING (trial) WHERE experiment = 'bench'");
  REQUIRE(runs.size() == 12);
  for (const auto& run : runs) CHECK(run["forward"].get<double>() < run["step"].get<double>());

  const auto again = place.run(bench);
  CHECK(again.exit_code == 0);
  CHECK(says(again.err, "0 done, 12 done before"));
  CHECK(again.out == first.out);

  auto anew = bench;
  anew.emplace_back("--again");
  CHECK(says(place.run(anew).err, "12 done, 0 done before"));
  CHECK(place.query("SELECT attempt FROM attempts").size() == 24);

  const auto shown = place.run({"show", "1"});
  CHECK(says(shown.out, "studies/bench-"));  // the study is stored, so that the run can be repeated
}

TEST_CASE("bench refuses a request that it cannot measure and suggests a valid one") {
  Workplace place;
  const auto err = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bench");
    const auto ended = place.run(arguments);
    CHECK(ended.exit_code == 2);
    return ended.err;
  };
  CHECK(says(err({"sofmax"}), "no attention plugin \"sofmax\" was found (did you mean softmax?)"));
  CHECK(says(err({"softmax,linear"}), "(write them apart: softmax linear)"));
  CHECK(says(err({"clustering"}), "write ATTENTION+clustering"));
  CHECK(says(err({"copy"}), "copy is a plugin of the kind task, expected the kind attention (known: "));
  CHECK(says(err({"softmax+clustering"}), "softmax takes no compression"));
  CHECK(says(err({"softmax+clusterin"}), "did you mean clustering?"));
  CHECK(says(err({"adamra", "--heads", "2"}), "none of the plugins has the parameter attention.heads"));
  CHECK(says(err({"retention", "--vary", "attention.norm=[false]", "--dtype", "bfloat16"}),
             "attention retention does not promise to run in half precision"));
  CHECK(says(err({"softmax", "--lengths", "0"}), "--lengths: found 0, expected whole numbers above 0"));
  CHECK(says(err({"softmax", "--vary", "attention.heads=2"}), "expected PATH=[VALUE, ...]"));
  CHECK(says(err({"softmax", "--vary", "attention.window=[2]"}), "none of the plugins has the parameter attention.window"));
  CHECK(says(err({"softmax", "--name", "../x"}), "expected letters"));
  CHECK(says(err({"softmax", "--device", "gpu"}), "expected cpu, cuda, cuda:N or auto"));
  CHECK_FALSE(place.has_database());
}

TEST_CASE("bench varies parameters in the attentions that have them") {
  Workplace place;
  const auto ended = place.run({"bench", "softmax", "adamra", "--lengths", "16", "--vary", "attention.subheads=[1, 2]",
                                "--vary", "attention.rates=[[\"1/2\"], [\"1/2\", \"1/4\"]]", "--set", "model.d_model=16"});
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(place.query("SELECT attempt FROM trials").size() == 5);
  CHECK(says(ended.out, "1/2,1/4"));
}

TEST_CASE("a launch that is refused, or that reuses another study's name, leaves the history unchanged") {
  Workplace place;
  const auto study = place.study(kTiny + "[grid]\nattention.plugin = [\"softmax\"]\n").string();
  REQUIRE(place.run({"run", study}).exit_code == 0);
  const auto table = place.run({"table", "tiny"}).out;
  const auto taken = place.run({"bench", "linear", "--lengths", "16", "--name", "tiny"});
  CHECK(taken.exit_code == 2);
  CHECK(says(taken.err, "--name tiny: this experiment belongs to "));
  if (!std::filesystem::exists("/dev/nvidiactl")) CHECK(place.run({"run", study, "--set", "train.device=cuda"}).exit_code != 0);
  CHECK(place.run({"table", "tiny"}).out == table);
}

TEST_CASE("mistakes in a bench are reported by the name of bench's own option") {
  Workplace place;
  const auto err = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bench");
    const auto ended = place.run(arguments);
    CHECK(ended.exit_code == 2);
    CHECK_FALSE(says(ended.err, ".toml"));
    return ended.err;
  };
  CHECK(err({"--set", "train.stps=3"}) == "--set train.stps=3: unknown key stps in [train] (did you mean steps?)\n");
  CHECK(err({"softmax", "linear", "--heads", "3", "--lengths", "16"}) ==
        "--heads: attention.heads = 3 does not divide d_model = 64\n");
  CHECK(err({"softmax", "--vary", "attention.heads=[2, 3]"}) ==
        "--vary attention.heads: attention.heads = 3 does not divide d_model = 64\n");
  CHECK(err({"softmax", "--vary", "train.bach=[1]"}) ==
        "--vary train.bach: unknown key bach in [train] (did you mean batch?)\n");
  CHECK(err({"softmax", "--batch", "70000"}) == "--batch: train.batch = 70000: expected an integer in [1, 65536]\n");
  CHECK(err({"softmax", "--dtype", "half"}) == "--dtype: train.dtype = \"half\": expected one of float32, bfloat16, mixed\n");
  CHECK(err({"softmax", "--lengths", "16,16"}) == "ablate: --lengths: found 16 twice, expected each value once\n");
  CHECK(err({"softmax", "softmax"}) == "ablate: PLUGIN: found softmax twice, expected each value once\n");
  CHECK(says(err({"compressed", "--lengths", "8", "--vary", "attention.rate=[\"1/9\"]"}),
             "--vary attention.rate: attention.rate: 1/9 leaves less than one slot"));
}

TEST_CASE("bench names the measurements that did not settle, with the remedy") {
  Workplace place;
  const std::vector<std::string> bench = {"bench", "softmax", "linear", "--lengths", "16,32", "--set", "model.d_model=16"};
  REQUIRE(place.run(bench).exit_code == 0);
  {
    SQLite::Database history((place.folder() / "ablate.db").string(), SQLite::OPEN_READWRITE, 5000);
    history.exec(
        "INSERT OR IGNORE INTO metric (name, unit, direction, description) VALUES ('train/step_spread', '%', 'min', '')");
    history.exec(
        "INSERT OR REPLACE INTO result SELECT metric.id, attempt.id, CASE WHEN attention = 'linear' AND \"task.length\" = 32 "
        "THEN 50 "
        "ELSE 1 END FROM trials JOIN attempt ON attempt.id = trials.attempt, metric WHERE metric.name = 'train/step_spread'");
    // Without CPU times, the answer does not depend on other programs that use the processors.
    history.exec("DELETE FROM result WHERE metric IN (SELECT id FROM metric WHERE name = 'train/step_cpu_time')");
  }
  const auto ended = place.run(bench);
  CHECK(ended.exit_code == 0);
  INFO(ended.out);
  CHECK(says(ended.out, "These times did not settle: linear at 32. The machine was busy"));
}

TEST_CASE("without a home folder, bench asks for a folder for its study") {
  Workplace place;
  // Only root can become a user without a home. That user cannot run a program in a folder that only root can read.
  if (geteuid() != 0) return skip("only root can become a user without a home");
  if (place.shell("setpriv --reuid=54321 test -x $ablate").exit_code != 0)
    return skip("a folder above the build hides the program from other users");
  const auto ended =
      place.shell("unset HOME XDG_CACHE_HOME XDG_DATA_HOME; setpriv --reuid=54321 $ablate bench softmax --lengths 16");
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, "no folder for the study of a bench: the user has no home folder; set XDG_CACHE_HOME"));
}
