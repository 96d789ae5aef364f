// Interrupted trials resume where they stopped, with the numbers of undisturbed trials. Also the effects of signals.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kSteps = "2000";  ///< training takes a second or more

/// @param seconds the value of [experiment] checkpoint
std::string study_of(const std::string& seconds, const std::string& rest = "[attention]\nplugin = \"linear\"\n",
                     const std::string& steps = kSteps) {
  auto text = kTiny + rest;
  text.replace(text.find("steps = 6"), 9, "steps = " + steps);
  const std::string name = "name = \"tiny\"\n";
  return text.insert(text.find(name) + name.size(), "checkpoint = " + seconds + "\n");
}

bool until(const std::function<bool()>& holds, double seconds = 60) {
  for (double waited = 0; waited < seconds; waited += 0.01) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return holds();
}

std::vector<fs::path> checkpoints(const Workplace& place) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(place.folder() / "ablate.db.checkpoints", none))
    if (entry.path().extension() == ".checkpoint") files.push_back(entry.path());
  return files;
}

/// Waits until a trial runs. Returns the process of the trial's worker, and the trial's process.
std::pair<pid_t, pid_t> processes_of(const Process& ablate) {
  std::pair<pid_t, pid_t> found{-1, -1};
  until([&] {
    for (const auto worker : children_of(ablate.pid()))
      for (const auto trial : children_of(worker)) found = {worker, trial};
    return found.second > 0;
  });
  REQUIRE(found.second > 0);  // a signal for process -1 would go to every process of the user
  return found;
}

/// Returns everything that two attempts at one trial share, to the last bit: metrics and curves, except times and memory.
json numbers(Workplace& place) {
  json all;
  for (const std::string columns : {"v.key, v.metric, v.value FROM metrics", "v.key, v.metric, v.step, v.value FROM curves"})
    all.push_back(place.query("SELECT " + columns +
                              " v JOIN attempts a USING (attempt) WHERE a.outcome = 'done' AND v.metric NOT LIKE '%time%' AND "
                              "v.metric NOT IN ('train/step_spread', 'train/examples_per_second', 'memory/peak_resident') "
                              "ORDER BY ALL"));
  return all;
}

/// A study of a text task whose lanes carry a state from step to step.
const std::string kStream =
    "[task]\nplugin = \"lm\"\ndata = \"text\"\nlength = 16\n[model]\nlayers = 1\nd_model = 8\nhidden = 8\n"
    "[attention]\nplugin = \"transformer-xl\"\n[train]\nbatch = 4\nsteps = 1500\n";

/// Writes the study and the text file that kStream reads, and returns the study's path.
std::string study_in(Workplace& place, const std::string& text) {
  std::string words;
  for (int i = 0; i < 20000; ++i) words += static_cast<char>('a' + i * (i % 7) % 23);
  place.folder().write("text", words);
  return place.study(text).string();
}

/// True if a trial runs; a signal to it takes effect after its next step.
bool runs(Workplace& place) {
  if (!place.has_database()) return false;
  const auto rows = place.query("SELECT key FROM running");
  return rows.is_array() && !rows.empty();
}

/// Returns the numbers of an undisturbed run.
json undisturbed(const std::string& text) {
  Workplace quiet;
  REQUIRE(quiet.run({"run", study_in(quiet, text)}).exit_code == 0);
  CHECK_FALSE(fs::exists(quiet.folder() / "ablate.db.checkpoints"));
  return numbers(quiet);
}

const json& undisturbed() {
  static const auto found = undisturbed(study_of("0"));
  return found;
}

/// Returns the latest attempt, as `ablate show` prints it.
std::string shown(Workplace& place) {
  const auto latest = place.query("SELECT max(attempt) AS a FROM attempts")[0]["a"].dump();
  return place.run({"show", latest}).out;
}

void check_ends_as_undisturbed(Workplace& place, const std::string& study, const std::string& went_on) {
  const auto ended = place.run({"run", study});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(numbers(place) == undisturbed());
  CHECK(says(shown(place), went_on));
  CHECK_FALSE(fs::exists(place.folder() / "ablate.db.checkpoints"));  // the trial is done and needs no checkpoint
}

}  // namespace

TEST_CASE("trials that are killed with their scheduler resume in the next run") {
  Workplace place;
  const auto study = place.study(study_of("0.1")).string();
  {
    auto running = place.start({"run", study});
    REQUIRE(until([&] { return checkpoints(place).size() == 2; }));
    const auto [worker, trial] = processes_of(running);
    for (const auto process : {running.pid(), worker, trial}) kill(process, SIGKILL);
    running.wait();
  }
  REQUIRE_FALSE(checkpoints(place).empty());
  CHECK(says(place.run({"db", "check"}).out, "the next run of its study resumes from it"));
  SECTION("from the latest checkpoint") {
    check_ends_as_undisturbed(place, study, "an attempt that was killed before it was recorded");
  }
  SECTION("from the previous checkpoint if the latest is damaged") {
    auto files = checkpoints(place);
    REQUIRE(files.size() >= 2);  // three files while the latest is being written
    const auto step = [](const fs::path& file) {
      return std::stoi(file.stem().string().substr(file.stem().string().rfind('-') + 1));
    };
    std::sort(files.begin(), files.end(), [&](const auto& a, const auto& b) { return step(a) < step(b); });
    std::fstream(files.back(), std::ios::in | std::ios::out | std::ios::binary).seekp(2000).put('\xff').put('\x01');
    const auto ended = place.run({"run", study});
    INFO(ended.err);
    CHECK(says(ended.err, files.back().filename().string() + " is damaged"));
    CHECK(says(ended.err, "goes on after step " + std::to_string(step(files[files.size() - 2]))));
    CHECK(numbers(place) == undisturbed());
  }
  SECTION("from the start if the user requests it") {
    const auto ended = place.run({"run", study, "--again"});
    CHECK_FALSE(says(ended.err, "goes on after step"));
    CHECK(numbers(place) == undisturbed());
    CHECK_FALSE(says(shown(place), "went on"));
  }
}

TEST_CASE("trials of a worker that dies resume in the next worker") {
  Workplace place;
  const auto study = place.study(study_of("0.1")).string();
  auto running = place.start({"run", study});
  REQUIRE(until([&] { return !checkpoints(place).empty(); }));
  kill(processes_of(running).first, SIGKILL);
  const auto ended = running.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(says(ended.err, "goes on after step"));
  CHECK(numbers(place) == undisturbed());
  CHECK(says(shown(place), "of attempt 1"));
}

TEST_CASE("at the first signal, running trials and the states of streams are written to disk, and the next run resumes") {
  const bool stream = GENERATE(false, true);
  const auto text = stream ? kStream : study_of("600");
  const auto expected = stream ? undisturbed(kStream) : undisturbed();
  Workplace place;
  const auto study = study_in(place, text);
  auto running = place.start({"run", study});
  REQUIRE(until([&] { return runs(place); }));
  const auto [worker, trial] = processes_of(running);
  const int sent = stream ? SIGUSR1 : SIGTERM;
  for (const auto process : {trial, worker}) kill(process, sent);  // batch systems signal all processes of a job
  running.send(sent);
  const auto ended = running.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 130);
  CHECK(says(ended.err, "1 running trial is written to disk, then ended"));
  CHECK(checkpoints(place).size() == 1);
  const auto row = place.query("SELECT outcome, reason FROM attempts")[0];
  CHECK(row.at("outcome") == "interrupted");
  CHECK(says(row.at("reason"), "; the trial can resume after step "));
  CHECK(says(place.run({"show", "1"}).out, ".checkpoint, "));
  CHECK(place.run({"run", study}).exit_code == 0);
  CHECK(says(shown(place), "of attempt 1"));
  CHECK(numbers(place) == expected);
}

TEST_CASE("after the second signal, the grid does not wait for a trial that does not answer") {
  Workplace place;
  auto running = place.start({"run", place.study(study_of("600", "[attention]\nplugin = \"linear\"\n", "2000000")).string()});
  REQUIRE(until([&] { return runs(place); }));
  const auto trial = processes_of(running).second;
  kill(trial, SIGSTOP);
  const auto start = std::chrono::steady_clock::now();
  running.send(SIGINT);
  REQUIRE(until([&] { return says(running.printed(), "a second signal ends them at once"); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // otherwise both signals count as one request
  running.send(SIGINT);
  CHECK(running.wait().exit_code == 130);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(6));
  CHECK(place.query("SELECT outcome FROM attempts")[0].at("outcome") == "interrupted");
}

TEST_CASE("SIGQUIT lets running trials finish and starts no other; an ignored SIGHUP stays ignored") {
  Workplace place;
  const auto study = place.study(study_of("600", "[attention]\nplugin = \"linear\"\n[grid]\nseeds = 3\n", "3000")).string();
  auto running = place.start_shell("trap '' HUP; exec " + kBin + "ablate run -j 1 " + study);
  REQUIRE(until([&] { return runs(place); }));
  running.send(SIGHUP);
  running.send(SIGQUIT);
  const auto ended = running.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 130);
  CHECK(place.query("SELECT outcome FROM attempts") == json::array({{{"outcome", "done"}}}));
  CHECK(checkpoints(place).empty());
}

TEST_CASE("checkpoints that cannot be written are reported once and cost no trial") {
  Workplace place;
  place.folder().write("ablate.db.checkpoints", "a file in its place");
  const auto study = place.study(study_of("0.05", "[attention]\nplugin = \"linear\"\n[grid]\nseeds = 2\n", "300")).string();
  const auto ended = place.run({"run", study});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(count_of(ended.err, "is not on disk: cannot write ") == 1);
}

// A checkpoint from overwritten code would outlive a killed scheduler, and a later run with the old code would resume from it.
TEST_CASE("no checkpoint is written from code that was overwritten") {
  Workplace place;
  const auto library = place.folder() / "p/linear.so";
  fs::create_directory(library.parent_path());
  fs::copy_file(ABLATE_BUILD_DIR "/lib/ablate/plugins/linear.so", library);
  auto ablate = place.start({"--plugins", library.parent_path().string(), "run",
                             place.study(study_of("0.05", "[attention]\nplugin = \"linear\"\n", "100000")).string()});
  REQUIRE(until([&] { return !checkpoints(place).empty(); }));
  std::ofstream(library, std::ios::app) << 'x';  // the mapped code stays and runs on
  REQUIRE(until([&] { return says(ablate.printed(), "linear.so was overwritten while it ran"); }));
  const auto before = checkpoints(place);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK(checkpoints(place) == before);
  ablate.send(SIGKILL);
  ablate.wait();
}
