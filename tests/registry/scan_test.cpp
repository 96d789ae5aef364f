#include "core/registry/scan.h"

#include <sys/stat.h>

#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;
namespace fs = std::filesystem;

namespace {

const fs::path kBuild = ABLATE_BUILD_DIR;
const fs::path kGood = kBuild / "lib/ablate/plugins/linear.so";

PluginInfo some_plugin(const std::string& id) {
  PluginInfo info;
  info.id = id, info.version = "1.0.0", info.summary = "a plugin";
  return info;
}

struct Inspector {
  int calls = 0;
  std::vector<nlohmann::json> operator()(const std::vector<fs::path>& paths) {
    std::vector<nlohmann::json> answers;
    for (const auto& path : paths) {
      ++calls;
      answers.push_back(path.stem() == "crashing" ? nlohmann::json{{"refusal", "signal 11"}} : to_json(some_plugin("one")));
    }
    return answers;
  }
};

}  // namespace

TEST_CASE("a library is inspected once, whatever its path, until its content changes") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "a");
  fs::copy_file(kGood, folder / "a/one.so");
  Inspector inspector;
  const auto look = [&](const std::vector<fs::path>& folders) {
    return scan(folders, ABLATE_TORCH_VERSION, std::ref(inspector), folder / "cache/plugins.json");
  };
  auto found = look({folder / "a"});
  REQUIRE(found.size() == 1);
  CHECK(found[0].refusal == "");
  CHECK(found[0].info.id == "one");
  CHECK(found[0].info.content_hash.size() == 64);
  look({folder / "a"});
  CHECK(inspector.calls == 1);
  fs::rename(folder / "a", folder / "b");
  found = look({folder / "b"});
  CHECK(inspector.calls == 1);
  CHECK(found[0].info.path == folder / "b/one.so");
  std::ofstream(folder / "b/one.so", std::ios::app) << "changed";
  look({folder / "b"});
  CHECK(inspector.calls == 2);
}

TEST_CASE("of two libraries with one id the first found counts, and the other says whose it is") {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    fs::create_directories(folder / name);
    fs::copy_file(kGood, folder / (std::string(name) + "/one.so"));
  }
  Inspector inspector;
  const auto found = scan({folder / "a", folder / "b"}, ABLATE_TORCH_VERSION, std::ref(inspector), "");
  REQUIRE(found.size() == 2);
  CHECK(found[0].refusal == "");
  CHECK(found[1].refusal.find((folder / "a/one.so").string()) != std::string::npos);
  CHECK(catalog_of(found).plugins.size() == 1);
}

TEST_CASE("refused libraries are listed with the reason and never inspected") {
  const TemporaryFolder folder;
  folder.write("text.so", "no library");
  fs::copy_file(kBuild / "tests/faulty-plugins/load/old_sdk.so", folder / "old.so");
  fs::copy_file(kGood, folder / "crashing.so");
  Inspector inspector;
  const auto found = scan({folder.path()}, ABLATE_TORCH_VERSION, std::ref(inspector), "");
  REQUIRE(found.size() == 3);
  CHECK(inspector.calls == 1);
  CHECK(found[0].refusal == "signal 11");
  CHECK(found[1].refusal.find("SDK version") != std::string::npos);
  CHECK(found[2].refusal.find("no ELF file") != std::string::npos);
  CHECK(catalog_of(found).plugins.empty());
}

TEST_CASE("a damaged cache is made anew, and a file that anyone can write is warned of") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "a");
  fs::copy_file(kGood, folder / "a/one.so");
  chmod((folder / "a/one.so").c_str(), 0666);
  const auto cache = folder.write("plugins.json", "{\"files\": 3");
  Inspector inspector;
  const auto found = scan({folder / "a"}, ABLATE_TORCH_VERSION, std::ref(inspector), cache);
  CHECK(inspector.calls == 1);
  REQUIRE(found[0].warnings.size() == 1);
  CHECK(found[0].warnings[0].find("anyone can write") != std::string::npos);
}

TEST_CASE("folders: those asked for come before the environment's and the user's") {
  const TemporaryFolder folder;
  setenv("ABLATE_PLUGIN_PATH", (folder / "x").string().append(":").append((folder / "y").string()).c_str(), 1);
  setenv("XDG_DATA_HOME", (folder / "data").c_str(), 1);
  const auto folders = plugin_folders({folder / "asked", folder / "x"});
  unsetenv("ABLATE_PLUGIN_PATH");
  unsetenv("XDG_DATA_HOME");
  REQUIRE(folders.size() == 5);
  CHECK(folders[0] == folder / "asked");
  CHECK(folders[1] == folder / "x");
  CHECK(folders[2] == folder / "y");
  CHECK(folders[3] == folder / "data/ablate/plugins");
  CHECK(folders[4].string().ends_with("lib/ablate/plugins"));
}
