// Events outside a check or an audit give no verdict: a kill from outside, an overwritten library, a full disk.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A workplace with its own cache of verdicts and a writable library.
struct Place : Workplace {
  Place() {
    fs::create_directory(folder() / "plugins");
    fs::copy_file(kFaulty + "check/leaky.so", library());
    folder().write("rule.txt", "none");
    set("ABLATE_PLUGIN_PATH", (folder() / "plugins").string());
    set("XDG_CACHE_HOME", (folder() / "cache").string());
  }
  fs::path library() const { return folder() / "plugins/leaky.so"; }
  fs::path verdicts() const { return folder() / "cache/ablate/verdicts"; }
  bool keeps_verdict() const { return fs::exists(verdicts()) && !fs::is_empty(verdicts()); }
  /// Makes the task kill its process in each of the next `times` reads.
  void kill_next(int times) { set("LEAKY_KILLS", folder().write("kills", std::to_string(times)).string()); }
  Ended expect(const std::vector<std::string>& arguments, int exit_code) {
    auto ended = run(arguments);
    UNSCOPED_INFO(ended.out << ended.err);
    CHECK(ended.exit_code == exit_code);
    return ended;
  }
};

/// Returns the child of a process, or 0 if it has none.
pid_t child_of(pid_t parent) {
  const auto text = read_text("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  return text.empty() ? 0 : std::stoi(text);
}

}  // namespace

TEST_CASE("a check that is killed from outside runs again, and has no verdict if it is killed a second time") {
  Place place;
  place.kill_next(1);
  const auto once = place.expect({"check", "leaky"}, 0);
  CHECK(says(once.err, "broken off: signal 9 (Killed): ablate did not send this signal"));
  CHECK(says(once.err, "; once more, alone\n"));
  CHECK(says(once.out, ", all passed"));
  CHECK(place.keeps_verdict());
  fs::remove_all(place.verdicts());

  place.kill_next(2);
  const auto twice = place.expect({"check", "leaky"}, 1);
  CHECK(says(twice.out, "unchecked  read "));
  CHECK(says(flat(twice.out), "broken off: signal 9 (Killed)"));
  CHECK(says(twice.out, ", none failed; 1 unchecked"));
  CHECK_FALSE(says(twice.out, "FAILED"));
  CHECK_FALSE(place.keeps_verdict());
  place.kill_next(2);
  const auto all = place.expect({"check", "leaky", "softmax", "--quick", "--format", "json"}, 1);
  CHECK(json::parse(all.out).at(0).at("verdict") == "unchecked");
  place.kill_next(0);
  place.expect({"check", "leaky"}, 0);
  CHECK(place.keeps_verdict());
}

TEST_CASE("a check runs again in a new checker if the checker is killed") {
  Place place;
  auto running = place.start({"check", "segment-mean", "--no-timing"});
  for (int ms = 0; ms < 60'000 && !says(running.printed(), "  passed "); ++ms) usleep(1000);
  const auto checker = child_of(running.pid());  // a worker that examines libraries has no child of its own
  REQUIRE(checker > 0);
  REQUIRE(child_of(checker) > 0);
  kill(checker, SIGKILL);
  const auto ended = running.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(says(ended.err, "broken off: the worker ended (signal 9"));
  CHECK(says(ended.out, ", all passed"));
  CHECK(count_of(ended.out, "  passed     load ") <= 1);  // a printed check is not printed again
}

TEST_CASE("an audit that is killed from outside stores nothing, and the stored audit stays") {
  Place place;
  place.expect({"audit", "leaky"}, 0);
  place.kill_next(2);
  const auto killed = place.expect({"audit", "leaky", "--again", "--format", "json"}, 1);
  CHECK(json::parse(killed.out).at("verdict") == "unchecked");
  CHECK(says(json::parse(killed.out).at("findings").back().at("found"), "broken off: signal 9"));
  CHECK(place.query("SELECT verdict FROM audits").dump() == R"([{"verdict":"passed"}])");
}

TEST_CASE("a library that is overwritten while it is checked or audited has no verdict") {
  Place place;
  place.set("LEAKY_WRITES", place.library().string());
  const auto checked = place.expect({"check", "leaky"}, 1);
  CHECK(says(checked.out, "unchecked  load "));
  CHECK(says(flat(checked.out), place.library().string() + " was overwritten while it ran"));
  CHECK_FALSE(place.keeps_verdict());
  const auto audited = place.expect({"audit", "leaky"}, 1);
  CHECK(says(flat(audited.out), place.library().string() + " was overwritten while it ran"));
  CHECK(place.query("SELECT verdict FROM audits").dump() == "[]");
  place.set("LEAKY_WRITES", "");
  place.expect({"check", "leaky"}, 0);
  CHECK(place.keeps_verdict());
}

TEST_CASE("a verdict that cannot be stored gives one warning and the same exit code") {
  Place place;
  fs::create_directories(place.verdicts().parent_path());
  std::ofstream(place.verdicts()) << "no folder";
  const auto ended = place.expect({"check", "leaky"}, 0);
  CHECK(count_of(ended.err, "the verdict could not be stored in " + place.verdicts().string() + ": Not a directory\n") == 1);
}
