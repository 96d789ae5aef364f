#include "core/registry/scan.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "core/util/sha256.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/skip.h"
#include "tests/support/temporary.h"

using namespace ablate;
namespace fs = std::filesystem;

namespace {

const fs::path kBuild = ABLATE_BUILD_DIR;
const fs::path kGood = kBuild / "lib/ablate/plugins/linear.so";

PluginInfo some_plugin(const std::string& id) {
  PluginInfo info;
  info.id = id, info.version = "1.0.0", info.summary = "a plugin";
  info.parameters.push_back({.name = "rate", .default_value = 0.5});
  return info;
}

std::vector<PluginFolder> named(const std::vector<fs::path>& paths) {
  std::vector<PluginFolder> folders;
  for (const auto& path : paths) folders.push_back({path, std::nullopt});
  return folders;
}

void put_one(const TemporaryFolder& folder) {
  fs::create_directories(folder / "a");
  fs::copy_file(kGood, folder / "a/one.so");
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
  put_one(folder);
  Inspector inspector;
  const auto look = [&](const std::vector<fs::path>& folders) {
    return scan(named(folders), ABLATE_TORCH_VERSION, std::ref(inspector), folder / "cache/plugins.json");
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
  const auto time = fs::last_write_time(folder / "b/one.so");  // restored after the file is overwritten in place
  std::fstream(folder / "b/one.so", std::ios::in | std::ios::out).seekp(-7, std::ios::end) << "CHANGED" << std::flush;
  fs::last_write_time(folder / "b/one.so", time);
  look({folder / "b"});
  CHECK(inspector.calls == 3);
}

TEST_CASE("if two libraries have the same id, the first counts, and the error of the second names the first") {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    fs::create_directories(folder / name);
    fs::copy_file(kGood, folder / (std::string(name) + "/one.so"));
  }
  Inspector inspector;
  const auto found = scan(named({folder / "a", folder / "b"}), ABLATE_TORCH_VERSION, std::ref(inspector), "");
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
  const auto found = scan(named({folder.path()}), ABLATE_TORCH_VERSION, std::ref(inspector), "");
  REQUIRE(found.size() == 3);
  CHECK(inspector.calls == 1);
  CHECK(found[0].refusal == "signal 11");
  CHECK(found[1].refusal.find("SDK version") != std::string::npos);
  CHECK(found[2].refusal.find("no ELF file") != std::string::npos);
  CHECK(catalog_of(found).plugins.empty());
}

TEST_CASE("a damaged cache is rebuilt, and a library that anyone can write causes a warning") {
  const TemporaryFolder folder;
  put_one(folder);
  chmod((folder / "a/one.so").c_str(), 0666);
  const auto cache = folder.write("plugins.json", "{\"files\": 3");
  Inspector inspector;
  const auto found = scan(named({folder / "a"}), ABLATE_TORCH_VERSION, std::ref(inspector), cache);
  CHECK(inspector.calls == 1);
  REQUIRE(found[0].warnings.size() == 1);
  CHECK(found[0].warnings[0].find("anyone can write") != std::string::npos);
}

TEST_CASE("a cache whose content was edited, even by one bit, is not trusted") {
  const TemporaryFolder folder;
  put_one(folder);
  Inspector inspector;
  const auto default_of = [&] {
    const auto found = scan(named({folder / "a"}), ABLATE_TORCH_VERSION, std::ref(inspector), folder / "plugins.json");
    return found.at(0).info.parameters.at(0).default_value;
  };
  for (int i = 0; i < 2; ++i) CHECK(default_of() == 0.5);
  CHECK(inspector.calls == 1);
  const auto whole = read_text(folder / "plugins.json");
  for (const auto& [before, after] : {std::pair("0.5", "0.7"), {"0.5", "0.4"}, {"\"sum\"", "\"mus\""}}) {
    folder.write("plugins.json", std::string(whole).replace(whole.find(before), std::strlen(before), after));
    inspector.calls = 0;
    CHECK(default_of() == 0.5);
    CHECK(inspector.calls == 1);
    CHECK(read_text(folder / "plugins.json") == whole);  // repaired
  }
}

TEST_CASE("a library that hangs is not retried for an hour or until its file changes, and the refusal says so") {
  const TemporaryFolder folder;
  put_one(folder);
  int calls = 0;
  const auto refusal = [&] {
    const auto hang = [&](const std::vector<fs::path>& paths) {
      ++calls;
      return std::vector<nlohmann::json>(paths.size(), {{"failed", "did not end within 20 s"}, {"late", true}});
    };
    return scan(named({folder / "a"}), ABLATE_TORCH_VERSION, hang, folder / "plugins.json").at(0).refusal;
  };
  const auto first = refusal();
  CHECK(first.starts_with("did not end within 20 s when it was loaded, at "));
  CHECK(first.ends_with("; it is tried again after an hour, or after `touch " + (folder / "a/one.so").string() + "`"));
  CHECK(refusal() == first);
  CHECK(calls == 1);
  fs::last_write_time(folder / "a/one.so", fs::file_time_type::clock::now());
  refusal();
  CHECK(calls == 2);
  refusal();
  CHECK(calls == 2);
  for (const std::int64_t age : {3601, -3601}) {  // entries from the future count as old, too
    auto cache = nlohmann::json::parse(read_text(folder / "plugins.json"));
    auto& at_s = cache["files"][(folder / "a/one.so").string()]["hung"]["at_s"];
    at_s = at_s.get<std::int64_t>() - age;
    cache.erase("sum");
    cache["sum"] = sha256(cache.dump());
    folder.write("plugins.json", cache.dump());
    const int before = calls;
    refusal();
    CHECK(calls == before + 1);
  }
}

TEST_CASE("a cache that is a pipe is ignored and blocks nothing") {
  const TemporaryFolder folder;
  put_one(folder);
  REQUIRE(mkfifo((folder / "plugins.json").c_str(), 0600) == 0);
  Inspector inspector;
  for (int i = 0; i < 2; ++i)
    CHECK(scan(named({folder / "a"}), ABLATE_TORCH_VERSION, std::ref(inspector), folder / "plugins.json")[0].refusal == "");
  CHECK(inspector.calls == 1);  // the first scan replaced the pipe by a file
}

TEST_CASE("a library of many gibibytes is refused before it is hashed") {
  const TemporaryFolder folder;
  fs::copy_file(kGood, folder / "one.so");
  fs::resize_file(folder / "one.so", std::uintmax_t{20} << 30);  // sparse: uses no disk space
  Inspector inspector;
  const auto found = scan(named({folder.path()}), ABLATE_TORCH_VERSION, std::ref(inspector), "");
  CHECK(found.at(0).refusal == "has 20 GiB, expected at most 4 GiB of a plugin's library");
  CHECK(inspector.calls == 0);
}

TEST_CASE("requested folders come before the folders of the environment and of the user") {
  const TemporaryFolder folder;
  setenv("ABLATE_PLUGIN_PATH", (folder / "x").string().append(":").append((folder / "y").string()).c_str(), 1);
  setenv("XDG_DATA_HOME", (folder / "data").c_str(), 1);
  const auto folders = plugin_folders({folder / "asked", folder / "x"});
  unsetenv("ABLATE_PLUGIN_PATH");
  unsetenv("XDG_DATA_HOME");
  REQUIRE(folders.size() == 5);
  CHECK(folders[0].path == folder / "asked");
  CHECK(folders[1].path == folder / "x");
  CHECK(folders[2].path == folder / "y");
  CHECK(folders[3].path == folder / "data/ablate/plugins");
  CHECK(folders[4].path.string().ends_with("lib/ablate/plugins"));
  for (int i = 0; i < 5; ++i) CHECK(folders[i].owner.has_value() == (i > 2));  // explicitly named folders are trusted
}

TEST_CASE("without HOME, the home from the user database counts, and never a folder that all users share") {
  const std::string home = getenv("HOME") != nullptr ? getenv("HOME") : "";
  const auto data = getenv("XDG_DATA_HOME"), cache = getenv("XDG_CACHE_HOME");
  REQUIRE(data == nullptr);
  const std::string kept = cache != nullptr ? cache : "";
  unsetenv("HOME");
  unsetenv("XDG_CACHE_HOME");
  const auto* user = getpwuid(geteuid());
  const fs::path own = user != nullptr ? user->pw_dir : "";
  CHECK(cache_folder() == (own.empty() ? "" : own / ".cache/ablate"));
  for (const auto& folder : plugin_folders({})) CHECK_FALSE(folder.path.string().starts_with("/tmp/.local"));
  if (geteuid() == 0) {  // root can become a user without a home
    REQUIRE(seteuid(54321) == 0);
    CHECK(cache_folder() == "");
    CHECK(plugin_folders({}).size() == 1);  // only the program's folder
    REQUIRE(seteuid(0) == 0);
  }
  if (!home.empty()) setenv("HOME", home.c_str(), 1);
  if (!kept.empty()) setenv("XDG_CACHE_HOME", kept.c_str(), 1);
}

TEST_CASE("a library that another user may have placed in a folder is refused unless the folder was named") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "above/plugins");
  const auto plugins = folder / "above/plugins", library = plugins / "one.so";
  fs::copy_file(kGood, library);
  Inspector inspector;
  const auto refusal = [&](std::optional<uid_t> owner) {
    const auto found = scan({{plugins, owner}}, ABLATE_TORCH_VERSION, std::ref(inspector), "");
    REQUIRE(found.size() == 1);
    return found[0].refusal;
  };
  CHECK(refusal(geteuid()) == "");
  chmod(folder.path().c_str(), 01777);  // like /tmp: other users cannot rename files there
  CHECK(refusal(geteuid()) == "");
  chmod(folder.path().c_str(), 0700);
  const int calls = inspector.calls;
  for (const auto& open : {library, plugins, folder / "above"}) {
    const auto mode = fs::status(open).permissions();
    chmod(open.c_str(), 0777);
    INFO(open);
    CHECK(refusal(geteuid()) == open.string() + " can be written by anyone; run chmod o-w on it, or name " + plugins.string() +
                                    " with --plugins if you trust it");
    fs::permissions(open, mode);
  }
  CHECK(inspector.calls == calls);  // no code of the library ran
  chmod(plugins.c_str(), 0777);
  CHECK(refusal(std::nullopt) == "");
  chmod(plugins.c_str(), 0755);
  if (geteuid() != 0) return skip("only root can change a file's owner");
  constexpr uid_t kOther = 54321;
  for (const auto& foreign : {library, plugins}) {
    REQUIRE(chown(foreign.c_str(), kOther, 0) == 0);
    CHECK(says(refusal(0), foreign.string() + " belongs to user 54321, who is neither root nor you"));
    CHECK(refusal(kOther) == "");  // as if that user ran the program
    CHECK(refusal(std::nullopt) == "");
    REQUIRE(chown(foreign.c_str(), 0, 0) == 0);
  }
}

TEST_CASE("a link to a library is trusted only if every folder on its path is trusted") {
  const TemporaryFolder folder;
  for (const char* name : {"plugins", "safe", "open", "open/below"}) fs::create_directories(folder / name);
  fs::copy_file(kGood, folder / "safe/one.so");
  fs::copy_file(kGood, folder / "open/one.so");
  fs::copy_file(kGood, folder / "open/below/one.so");
  fs::create_symlink(folder / "safe/one.so", folder / "open/link.so");
  fs::create_directory_symlink(folder / "safe", folder / "open/folder");
  chmod((folder / "open").c_str(), 0777);
  Inspector inspector;
  const auto refusal = [&](const fs::path& target, std::optional<uid_t> owner) {
    fs::remove(folder / "plugins/one.so");
    fs::create_symlink(target, folder / "plugins/one.so");
    return scan({{folder / "plugins", owner}}, ABLATE_TORCH_VERSION, std::ref(inspector), "").at(0).refusal;
  };
  CHECK(refusal(folder / "safe/one.so", geteuid()) == "");
  CHECK(refusal("../safe/one.so", geteuid()) == "");
  const int calls = inspector.calls;
  for (const auto* target : {"open/one.so", "open/below/one.so", "open/link.so", "open/folder/one.so"}) {
    INFO(target);
    CHECK(refusal(folder / target, geteuid()).starts_with((folder / "open").string() + " can be written by anyone; "));
  }
  CHECK(inspector.calls == calls);
  CHECK(refusal(folder / "open/one.so", std::nullopt) == "");  // the link's folder was named explicitly
  chmod((folder / "open").c_str(), 01777);  // others cannot rename files there, but anyone may have added one
  CHECK(refusal(folder / "open/one.so", geteuid()).starts_with((folder / "open").string() + " can be written by anyone; "));
}
