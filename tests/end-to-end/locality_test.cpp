// Another author's folder with plugins of each kind is built against an installed ablate, which stays unchanged. Together the
// plugins have a state over segments, two sequences, and targets at some positions.
#include <nlohmann/json.hpp>

#include "tests/end-to-end/stranger.h"

namespace {

const std::string kTrain =
    "[model]\nlayers = 1\nd_model = 16\nhidden = 16\n[train]\nsteps = 20\nbatch = 4\nevaluate_batches = 4\n"
    "test_batches = 4\n";

}  // namespace

TEST_CASE("a new plugin of each kind needs only its own folder", "[locality]") {
  Stranger stranger;
  stranger.install();
  std::filesystem::copy(std::string(ABLATE_SOURCE_DIR) + "/tests/end-to-end/strange", stranger.work() / "strange",
                        std::filesystem::copy_options::recursive);
  stranger.output_of("cmake -G Ninja -S strange -B build -DCMAKE_PREFIX_PATH=~/ablate; cmake --build build");
  for (const char* id : {"running-mean", "halves", "same-sum", "echo"}) {
    INFO(id);
    CHECK(says(stranger.output_of(std::string("ablate --plugins build check ") + id + " --no-timing"), "all passed"));
  }
  const auto run = [&](const std::string& name, const std::string& task, const std::string& study) {
    std::ofstream(stranger.work() / (name + ".toml")) << study << kTrain;
    stranger.output_of("ablate --plugins build run " + name + ".toml");
    return nlohmann::json::parse(
        stranger.output_of("ablate query \"SELECT * FROM trials WHERE task = '" + task + "'\" --format json"));
  };
  const auto places = run("places", "echo", "[task]\nplugin = \"echo\"\n[attention]\nplugin = \"running-mean\"\n");
  REQUIRE(places.size() == 1);
  CHECK(places[0].at("test/sequence_accuracy").is_number());
  {
    std::ofstream text(stranger.work() / "text");
    for (int line = 0; line < 4000; ++line) text << line * line << " squared\n";
  }
  const auto stream =
      run("stream", "lm", "[task]\nplugin = \"lm\"\ndata = \"text\"\nlength = 16\n[attention]\nplugin = \"running-mean\"\n");
  REQUIRE(stream.size() == 1);
  CHECK(stream[0].at("test/bits_per_byte").is_number());
  const auto pairs = run("pairs", "same-sum",
                         "[task]\nplugin = \"same-sum\"\n[attention]\nplugin = \"compressed\"\nrate = \"1/2\"\n"
                         "[attention.compression]\nplugin = \"halves\"\n");
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].at("test/accuracy").is_number());
  CHECK(says(stranger.output_of("ablate table pairs --metric test/accuracy@sum --format csv"), "test/accuracy@sum=2"));
  // A study that needs an ability which the attention does not promise is refused before anything runs.
  std::ofstream(stranger.work() / "wrong.toml") << "[task]\nplugin = \"same-sum\"\n[attention]\nplugin = \"running-mean\"\n"
                                                << kTrain;
  const auto refused = stranger.shell("ablate --plugins build run wrong.toml");
  CHECK(refused.exit_code == 2);
  CHECK(says(refused.err, "wrong.toml:4:10: attention running-mean promises only causal attention"));
}
