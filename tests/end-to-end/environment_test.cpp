// The description of the machine, which a run records.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

json environment_of_a_run(Workplace& place) {
  const auto ended = place.run({"run", place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string()});
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  return json::parse(place.query("SELECT environment FROM attempts")[0].at("environment").get<std::string>());
}

}  // namespace

TEST_CASE("a run records other influences on its numbers: libraries, GPUs and environment variables") {
  Workplace place;
  place.set("ATEN_CPU_CAPABILITY", "default");
  place.set("MKL_CBWR", "COMPATIBLE");
  place.set("CUDA_VISIBLE_DEVICES", "");
  place.set("CUDA_HOME", "/opt/cuda");
  place.set("CUDA_MODULE_LOADING", "LAZY");
  place.set("TORCH_HOME", "/opt/torch");
  place.set("UNRELATED", "1");
  constexpr const char* kHarmless = ABLATE_BUILD_DIR "/tests/fake-nvml/libnvidia-ml.so.1";
  place.set("LD_PRELOAD", kHarmless);
  place.set("LD_AUDIT", kHarmless);
  place.set("LD_LIBRARY_PATH", ABLATE_BUILD_DIR "/tests/fake-nvml");
  const auto found = environment_of_a_run(place);
  INFO(found.dump(2));
  CHECK(found.at("cpu_capability") == "DEFAULT");
  const auto& variables = found.at("variables");
  CHECK(variables.at("ATEN_CPU_CAPABILITY") == "default");
  CHECK(variables.at("MKL_CBWR") == "COMPATIBLE");
  CHECK(variables.at("CUDA_VISIBLE_DEVICES") == "");
  CHECK(variables.at("LD_PRELOAD") == kHarmless);
  CHECK(variables.at("LD_AUDIT") == kHarmless);
  CHECK(variables.at("CUDA_MODULE_LOADING") == "LAZY");
  for (const char* name : {"CUDA_HOME", "TORCH_HOME", "UNRELATED", "LD_LIBRARY_PATH"}) CHECK_FALSE(variables.contains(name));
  CHECK(found.at("gpus") == json{"Test GPU 9000"});
  CHECK(found.at("gpu_driver") == "570.86.15");
  for (const char* name : {"mkl", "onednn", "openmp", "glibc", "libstdc++"})
    CHECK_FALSE(found.at("libraries").at(name).get<std::string>().empty());
  for (const char* name : {"host", "system", "processor", "compiler", "torch", "ablate", "git"}) CHECK(found.contains(name));
}

TEST_CASE("a commit or an edit changes the header of the git revision at the next build, and nothing else does") {
  Workplace place;
  const std::string header = (place.folder() / "revision.h").string(), git = "git -C source -c user.name=a -c user.email=a@b ",
                    build = "cmake -DSOURCE=source -DHEADER=" + header + " -P " +
                            ABLATE_SOURCE_DIR "/core/trial/server/git_revision.cmake";
  const auto shell = [&](const std::string& line) {
    const auto ended = place.shell(line);
    INFO(line << "\n" << ended.err);
    REQUIRE(ended.exit_code == 0);
    return ended.out;
  };
  const auto expected = [&] {
    auto revision = shell(git + "describe --always --dirty");
    revision.pop_back();
    return "#define ABLATE_GIT \"" + revision + "\"\n";
  };
  shell("git init -q source && " + git + "commit -q --allow-empty -m first && " + build);
  const auto first = expected();
  CHECK(read_text(header) == first);
  const auto written = std::filesystem::last_write_time(header) - std::chrono::hours(1);
  std::filesystem::last_write_time(header, written);
  shell(build);
  CHECK(std::filesystem::last_write_time(header) == written);  // nothing is compiled again
  shell(git + "commit -q --allow-empty -m second && " + build);
  CHECK(read_text(header) == expected());
  CHECK(read_text(header) != first);
  shell("echo > source/file && " + git + "add file && " + build);
  CHECK(says(read_text(header), "-dirty\""));
}

TEST_CASE("the git revision is the revision of the build, not of the last CMake run") {
  Workplace place;
  // The last build wrote the header, and linked the worker after the last change of any source.
  const auto git = environment_of_a_run(place).at("git").get<std::string>();
  std::ifstream header(ABLATE_BUILD_DIR "/core/trial/server/generated/git_revision.h");
  const std::string text{std::istreambuf_iterator<char>(header), {}};
  CHECK(says(text, "\"" + git + "\""));
}
