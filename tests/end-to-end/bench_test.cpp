// ablate bench, from a few options to its tables and the run history.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

TEST_CASE("bench measures, stores and shows what attentions cost") {
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
      "SELECT attention, compression, \"task.length\" AS n, \"train.batch\" AS batch, \"train/forward_time\" AS forward, "
      "\"train/step_time\" AS step FROM runs JOIN members USING (trial) WHERE experiment = 'bench'");
  REQUIRE(runs.size() == 12);
  for (const auto& run : runs) CHECK(run["forward"].get<double>() < run["step"].get<double>());

  const auto again = place.run(bench);
  CHECK(again.exit_code == 0);
  CHECK(says(again.err, "0 done, 12 done before"));
  CHECK(again.out == first.out);

  auto anew = bench;
  anew.emplace_back("--again");
  CHECK(says(place.run(anew).err, "12 done, 0 done before"));
  CHECK(place.query("SELECT run FROM attempts").size() == 24);

  const auto shown = place.run({"show", "1"});
  CHECK(says(shown.out, "studies/bench-"));  // the study is kept, so that the run can be repeated
}

TEST_CASE("bench refuses what it cannot measure, and says what would do") {
  Workplace place;
  const auto err = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bench");
    const auto ended = place.run(arguments);
    CHECK(ended.exit_code == 2);
    return ended.err;
  };
  CHECK(says(err({"sofmax"}), "no attention plugin \"sofmax\" was found (did you mean softmax?)"));
  CHECK(says(err({"clustering"}), "write ATTENTION+clustering"));
  CHECK(says(err({"softmax+clustering"}), "softmax takes no compression"));
  CHECK(says(err({"softmax+clusterin"}), "did you mean clustering?"));
  CHECK(says(err({"adamra", "--heads", "2"}), "none of the plugins has the parameter attention.heads"));
  CHECK(says(err({"compressed+rbf", "--dtype", "bfloat16"}), "compression rbf does not promise to run in half precision"));
  CHECK(says(err({"softmax", "--lengths", "0"}), "--lengths: found 0, expected whole numbers above 0"));
  CHECK(says(err({"softmax", "--vary", "attention.heads=2"}), "expected PATH=[VALUE, ...]"));
  CHECK(says(err({"softmax", "--vary", "attention.window=[2]"}), "none of the plugins has the parameter attention.window"));
  CHECK(says(err({"softmax", "--name", "../x"}), "expected letters"));
  CHECK(says(err({"softmax", "--device", "gpu"}), "expected cpu, cuda or cuda:N"));
  CHECK_FALSE(place.has_database());
}

TEST_CASE("bench varies parameters in the attentions that have them") {
  Workplace place;
  const auto ended = place.run({"bench", "softmax", "adamra", "--lengths", "16", "--vary", "attention.subheads=[1, 2]",
                                "--vary", "attention.rates=[[\"1/2\"], [\"1/2\", \"1/4\"]]", "--set", "model.d_model=16"});
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(place.query("SELECT run FROM runs").size() == 5);
  CHECK(says(ended.out, "1/2,1/4"));
}

TEST_CASE("a launch that is refused, or that would take another study's name, leaves the history as it was") {
  Workplace place;
  const auto study = place.study(kTiny + "[grid]\nattention.plugin = [\"softmax\"]\n").string();
  REQUIRE(place.run({"run", study}).exit_code == 0);
  const auto table = place.run({"table", "tiny"}).out;
  const auto taken = place.run({"bench", "linear", "--lengths", "16", "--name", "tiny"});
  CHECK(taken.exit_code == 2);
  CHECK(says(taken.err, "--name tiny: that experiment is the one of "));
  if (!std::filesystem::exists("/dev/nvidiactl")) CHECK(place.run({"run", study, "--set", "train.device=cuda"}).exit_code != 0);
  CHECK(place.run({"table", "tiny"}).out == table);
}
