// Libraries that are no plugins of this host. Each library is refused with a reason. If it was requested by name, the exit code
// is 3. The other plugins are listed and run.
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const fs::path kBuiltIn = fs::path(ABLATE_BUILD_DIR) / "lib/ablate/plugins";

struct Listing {
  std::map<std::string, std::string> refused;  ///< reason by file stem
  std::map<std::string, json> accepted;        ///< by id
};

Listing list(Workplace& place, const std::string& folder) {
  const auto ended = place.run({"--plugins", folder, "plugins", "--format", "json"});
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  Listing result;
  for (const auto& library : json::parse(ended.out))
    if (library.contains("refusal"))
      result.refused[fs::path(library.at("path").get<std::string>()).stem()] = library.at("refusal");
    else
      result.accepted[library.at("id")] = library;
  return result;
}

/// Returns a study whose rows use these tasks.
std::string study_of(const std::vector<std::string>& tasks) {
  std::string rows;
  for (const auto& task : tasks) rows += "{ task.plugin = \"" + task + "\" },";
  return "[attention]\nplugin = \"linear\"\n[train]\nsteps = 2\n[grid]\nrows = [" + rows + "]\n";
}

void append_a_byte(const fs::path& file) { std::ofstream(file, std::ios::binary | std::ios::app) << 'x'; }

const std::map<std::string, std::string> kReasons = {
    {"old_sdk", "built with SDK version 999, this host has"},
    {"other_torch", "built with torch 9"},
    {"other_size", "a descriptor of size"},
    {"crash_on_load", "signal 11"},
    {"throw_on_load", "signal 6"},
    {"exit_on_load", "ended without an answer"},
    {"kill_worker_on_load", "the worker died twice during this job: signal 9"},
    {"close_all_on_load", "exit code 1"},
    {"print_on_load", "éé! [2J"},
    {"no_symbol", "does not name the SDK headers that it was built with"},
    {"missing_dependency", "libabsent.so: cannot open shared object file: No such file or directory"},
    {"bad_default", "size: the default is 0, expected an integer in [1, 10]"},
    {"no_factory", "its kind is task, and it has no factory, make_task"},
    {"wrong_promise", "promises slots_have_keys, which no plugin of the kind task can promise"},
    {"wrong_kind", "its kind is 7"},
    {"wrong_multiple", "length_multiple is 0, expected at least 1"},
    {"wrong_stamp", "its descriptor contradicts its section .ablate.abi: built with SDK version 998"},
    {"null_text", "the descriptor's paper is null"},
};

}  // namespace

TEST_CASE("every bad library is listed with its reason, and the good libraries are listed, too") {
  Workplace place;
  const auto found = list(place, kFaulty + "load");
  CHECK(found.accepted.contains("softmax"));
  CHECK(found.refused.size() == kReasons.size());
  for (const auto& [name, reason] : kReasons) {
    REQUIRE(found.refused.contains(name));
    INFO(name << ": " << found.refused.at(name));
    CHECK(says(found.refused.at(name), reason));
    CHECK_FALSE(says(found.refused.at(name), "\n"));
    CHECK_FALSE(says(found.refused.at(name), "\033"));
  }
}

TEST_CASE("a bad library that is requested by name, also by a study, gives exit code 3 and a reason") {
  Workplace place;
  std::vector<std::string> names;
  for (const auto& [name, reason] : kReasons) names.push_back(name);
  const auto ran = place.run({"--plugins", kFaulty + "load", "run", place.study(study_of(names)).string()});
  CHECK(ran.exit_code == 3);
  for (const auto& [name, reason] : kReasons) {
    INFO(name);
    CHECK(says(ran.err, "study.toml:6:"));
    const auto at = ran.err.find("task plugin \"" + name + "\": ");
    REQUIRE(at != std::string::npos);
    CHECK(says(ran.err.substr(at, ran.err.find('\n', at) - at), reason));
  }
  CHECK_FALSE(place.has_database());
  for (const char* name : {"other_size", "no_factory"}) {
    const auto asked = place.run({"--plugins", kFaulty + "load", "plugins", name});
    CHECK(asked.exit_code == 3);
    CHECK(says(asked.err, kReasons.at(name)));
  }
  // The good libraries run, although bad libraries are in the same folder.
  const auto good =
      place.run({"--plugins", kFaulty + "load", "run", place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string()});
  CHECK(good.exit_code == 0);
  // A name that no plugin has is an error of the study (exit code 2).
  CHECK(place.run({"run", place.study(study_of({"nothing"})).string()}).exit_code == 2);
}

TEST_CASE("files that are no libraries of this machine") {
  Workplace place;
  const auto& folder = place.folder();
  const auto whole = read_text(kBuiltIn / "linear.so");
  folder.write("p/text.so", "this is no library\n");
  folder.write("p/empty.so", "");
  folder.write("p/cut.so", whole.substr(0, whole.size() / 2));
  Elf32_Ehdr header{};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS32, header.e_ident[EI_DATA] = ELFDATA2LSB, header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN, header.e_machine = EM_386, header.e_version = EV_CURRENT, header.e_ehsize = sizeof(header);
  folder.write("p/small.so", std::string(reinterpret_cast<const char*>(&header), sizeof(header)));
  fs::create_directory(folder / "p/folder.so");
  fs::create_symlink("/nowhere/at/all", folder / "p/dangling.so");
  REQUIRE(mkfifo((folder / "p/pipe.so").c_str(), 0600) == 0);  // opening a pipe waits for a writer
  const auto found = list(place, (folder / "p").string());
  const auto reason = [&](const char* name) { return found.refused.contains(name) ? found.refused.at(name) : "not refused"; };
  CHECK(says(reason("text"), "no ELF file"));
  CHECK(says(reason("empty"), "no ELF file"));
  CHECK(says(reason("cut"), "is cut off"));
  CHECK(says(reason("small"), "is a 32-bit library, and this host is a 64-bit one"));
  CHECK(says(reason("folder"), "no regular file"));
  CHECK(says(reason("dangling"), "No such file"));
  CHECK(says(reason("pipe"), "no regular file"));
  CHECK(found.accepted.contains("linear"));
  const auto asked = place.run({"--plugins", (folder / "p").string(), "run", place.study(study_of({"small"})).string()});
  CHECK(asked.exit_code == 3);
  CHECK(says(asked.err, "32-bit"));
}

TEST_CASE("a file that may not be read") {
  Workplace place;
  fs::create_directory(place.folder() / "p");
  const auto file = place.folder() / "p/secret.so";
  fs::copy_file(kBuiltIn / "linear.so", file);
  chmod(file.c_str(), 0);
  std::vector<std::string> command{kBin + "ablate", "--plugins", (place.folder() / "p").string(), "plugins", "secret"};
  if (geteuid() == 0) {
    // Root may read every file by a capability, so the program runs without that capability.
    const std::vector<std::string> without{"setpriv", "--bounding-set", "-dac_override,-dac_read_search"};
    auto probe = without;
    probe.insert(probe.end(), {"cat", file.string()});
    const auto probed = Process(probe).wait();
    if (!says(probed.err, "Permission denied"))
      return skip("setpriv cannot take away root's right to read every file: " + probed.err);
    command.insert(command.begin(), without.begin(), without.end());
  }
  const auto ended = Process(command, {{"XDG_CACHE_HOME", std::string(ABLATE_BUILD_DIR) + "/tests/cache"}}).wait();
  CHECK(ended.exit_code == 3);
  CHECK(says(ended.err, "secret.so is refused: cannot be read: Permission denied"));
}

TEST_CASE("a library that hangs while it is loaded is given up") {
  Workplace place;
  const auto found = list(place, kFaulty + "hang");
  CHECK(says(found.refused.at("hang_on_load"), "did not end within 20 s when it was loaded"));
  CHECK(found.accepted.contains("linear"));
}

TEST_CASE("a library that failed to load is tried again, because its dependency may exist now") {
  Workplace place;
  fs::create_directory(place.folder() / "p");
  const auto file = place.folder() / "p/missing-dependency.so";
  fs::copy_file(kFaulty + "load/missing_dependency.so", file);
  std::ofstream(file, std::ios::binary | std::ios::app) << place.folder().path();  // content that is in no cache
  CHECK(list(place, (place.folder() / "p").string()).refused.contains("missing-dependency"));
  place.set("LD_LIBRARY_PATH", kFaulty + "absent");
  CHECK(list(place, (place.folder() / "p").string()).accepted.contains("missing-dependency"));
  // The library was accepted, but now its dependency is missing again. The run notices this when it loads the plugin.
  place.set("LD_LIBRARY_PATH", "");
  const auto ran =
      place.run({"--plugins", (place.folder() / "p").string(), "run", place.study(study_of({"missing-dependency"})).string()});
  CHECK(ran.exit_code == 3);
  CHECK(says(ran.err, "libabsent.so: cannot open shared object file"));
}

TEST_CASE("two libraries with one id are reported with both paths") {
  Workplace place;
  fs::create_directory(place.folder() / "p");
  const auto file = place.folder() / "p/linear.so";
  fs::copy_file(kBuiltIn / "linear.so", file);
  const auto listed = place.run({"--plugins", (place.folder() / "p").string(), "plugins"});
  CHECK(says(listed.out, (kBuiltIn / "linear.so").string() + "\n      its id, attention linear, is taken by " + file.string()));
  const auto shown = place.run({"--plugins", (place.folder() / "p").string(), "plugins", "linear"});
  CHECK(shown.exit_code == 0);
  CHECK(says(shown.out, "Library: " + file.string()));
  CHECK(says(shown.err, (kBuiltIn / "linear.so").string() + " is refused"));
}

TEST_CASE("a file that anyone can write gives a warning, and is used") {
  Workplace place;
  fs::create_directory(place.folder() / "p");
  const auto file = place.folder() / "p/linear.so";
  fs::copy_file(kBuiltIn / "linear.so", file);
  chmod(file.c_str(), 0666);
  const std::string folder = place.folder() / "p", warning = file.string() + ": anyone can write this file";
  CHECK(says(place.run({"--plugins", folder, "plugins"}).out, warning));
  const auto ran =
      place.run({"--plugins", folder, "run", place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string(), "--dry-run"});
  CHECK(ran.exit_code == 0);
  CHECK(says(ran.err, warning));
}

TEST_CASE("an infinite bound counts as no bound") {
  Workplace place;
  const auto shown = place.run({"--plugins", kFaulty + "trial", "plugins", "infinite-bound"});
  CHECK(shown.exit_code == 0);
  CHECK(says(shown.out, "a number of at least 0"));
}

TEST_CASE("a library that changes while a grid runs is noticed") {
  Workplace place;
  fs::create_directory(place.folder() / "p");
  const auto file = place.folder() / "p/faulty.so";
  fs::copy_file(kFaulty + "trial/faulty.so", file);
  const auto run = [&](const std::string& faults, const auto& change, const std::string& more = "") {
    std::string rows, fault;
    for (std::istringstream list(faults); std::getline(list, fault, ',');)
      rows += "{ attention.plugin = \"faulty\", attention.fault = " + fault + " },";
    auto process = place.start({"--plugins", (place.folder() / "p").string(), "run",
                                place.study(kTiny + "[grid]\nrows = [" + rows + more + "]\n").string(), "-j", "1", "--set",
                                "experiment.timeout=3"});
    // After the first trial the library is loaded, and the second trial hangs until the time-out.
    for (int i = 0; i < 600 && !says(process.printed(), "[1/"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    change();
    return process.wait();
  };
  const auto outcome = [&](const std::string& fault) {
    return place.query("SELECT outcome, reason FROM trials WHERE \"attention.fault\" = '" + fault + "'")[0];
  };
  const auto replace = [&] {
    fs::copy_file(file, place.folder() / "new");
    append_a_byte(place.folder() / "new");
    fs::rename(place.folder() / "new", file);
  };
  SECTION("replaced: the loaded code continues, and its hash is recorded") {
    const auto ended = run(R"("none", "hang", "broadcast", "strided")", replace);
    INFO(ended.err);
    CHECK(says(ended.err, "warning: " + file.string() + " was replaced or deleted"));
    CHECK(ended.err.find("was replaced") == ended.err.rfind("was replaced"));  // only one warning
    CHECK(outcome("strided").at("outcome") == "done");
    CHECK(place.query("SELECT count(DISTINCT content_hash) AS n FROM plugin WHERE name = 'faulty'")[0]["n"] == 1);
  }
  SECTION("replaced and loaded again: the new file does not run under the old hash, and the other rows run") {
    const auto ended = run(R"("none", "hang", "kill-worker", "strided")", replace, R"({ attention.plugin = "linear" })");
    INFO(ended.err);
    CHECK(ended.exit_code == 1);
    CHECK(outcome("none").at("outcome") == "done");
    for (const auto* fault : {"kill-worker", "strided"}) {
      CHECK(outcome(fault).at("outcome") == "refused");
      CHECK(says(outcome(fault).at("reason"), file.string() + " was replaced after ablate read it: run the command again"));
    }
    CHECK(place.query("SELECT outcome FROM trials WHERE attention = 'linear'")[0]["outcome"] == "done");
  }
  SECTION("overwritten: the code of running trials has changed, so no running trial counts") {
    const auto ended = run(R"("none", "hang", "strided")", [&] { append_a_byte(file); });
    INFO(ended.err);
    CHECK(ended.exit_code == 1);
    CHECK(outcome("none").at("outcome") == "done");
    CHECK(outcome("strided").at("outcome") == "refused");
    CHECK(says(outcome("strided").at("reason"), file.string() + " was overwritten while it ran"));
  }
  SECTION("touched: nothing has changed") {
    const auto ended =
        run(R"("none", "hang", "strided")", [&] { fs::last_write_time(file, fs::file_time_type::clock::now()); });
    CHECK(outcome("strided").at("outcome") == "done");
  }
}
