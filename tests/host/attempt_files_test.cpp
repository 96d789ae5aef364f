// Files of attempts beside the history are found. Problems are noted once, and no trial fails because of them.
#include "core/host/scheduler/attempt_files.h"

#include <fstream>

#include "db/history/artifacts.h"
#include "db/history/store.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;
using nlohmann::json;

namespace {

const VerdictMemory kNoVerdicts("");

struct Place {
  TemporaryFolder folder;
  std::filesystem::path history = folder / "a.db";
  std::vector<std::string> notes;
  AttemptFiles files{history, true, [this](const std::string& text) { notes.push_back(text); }};
  Trial trial{.label = "attention=softmax"};
  PlannedTrial planned{.trial = &trial, .key = "0123456789abcdef"};

  /// Returns the files of an attempt that has this output and this end.
  std::vector<db::Artifact> after(const std::string& output, bool weights, const EndedEvent& ended, bool done = true) {
    AttemptInProgress attempt(planned, {}, 0, 0, kNoVerdicts);
    CHECK(attempt.attempt().uid.size() == 32);
    if (!output.empty()) write(files.output_of(attempt.attempt()), output);
    if (weights) write(files.weights_of(attempt.attempt()), "tensors");
    if (done)
      attempt.take({{"results", {{"test/accuracy", 81.0}}},
                    {"main_metric", "test/accuracy"},
                    {"definitions", json::array()},
                    {"curve", json::array()},
                    {"metrics", json::array()}});
    attempt.end(Event(ended), 3);
    CHECK(attempt.attempt().outcome == (done ? "done" : "failed"));
    return files.left_by(attempt);
  }

 private:
  void write(const std::filesystem::path& file, const std::string& text) const {
    folder.write(std::filesystem::relative(file, folder.path()).string(), text);
  }
};

}  // namespace

TEST_CASE("files that an attempt left are found, with their size") {
  Place place;
  const auto left = place.after("text", true, {.printed = 4});
  REQUIRE(left.size() == 2);
  CHECK(left[0].kind == db::kOutput);
  CHECK(left[0].bytes == 4);
  CHECK(left[0].of_bytes == 4);
  CHECK(left[1].kind == db::kWeights);
  CHECK(left[1].bytes == 7);
  REQUIRE(place.notes.size() == 1);
  CHECK(place.notes[0].find("note: the whole output of attention=softmax is in " + place.history.string() + ".output/") == 0);
  CHECK(place.after("text", true, {.printed = 2000}).at(0).of_bytes == 2000);
  CHECK(place.notes.back().find("printed 1.95 KiB: ") != std::string::npos);
  place.after("text", true, {.printed = 2000});
  CHECK(place.notes.size() == 2);  // once for each kind of note
}

TEST_CASE("a file that could not be stored is reported, and the attempt is still done") {
  Place place;
  CHECK(place.after("", false, {.printed = 9000, .unkept = "No space left on device"}).empty());
  REQUIRE(place.notes.size() == 2);
  CHECK(place.notes[0].find("No space left on device. Trials go on") != std::string::npos);
  CHECK(place.notes[1].find("the best weights of attention=softmax are not kept") != std::string::npos);
  CHECK(place.notes[1].find("ablate show 0123456789ab") != std::string::npos);
}

TEST_CASE("the weights of an attempt that is not done are removed, and its output stays") {
  Place place;
  const auto left = place.after("last words", true, {.status = 1 << 8, .printed = 10}, false);
  REQUIRE(left.size() == 1);
  CHECK(left[0].kind == db::kOutput);
  CHECK(std::filesystem::is_empty(place.history.string() + ".weights"));
}

TEST_CASE("above 1 GB of output beside a history, the oldest files are removed, and one note reports it") {
  Place place;
  const std::string key(64, 'e');
  db::Store store(place.history);
  Recorder recorder(
      store, {},
      [&](db::GridStore& grid) {
        grid.put_trials(grid.put_experiment({"e", "", "e.toml", "", {}}), {{key, {{"seed", 1}}}});
      },
      [](const std::string&) {});
  recorder.begin();
  std::vector<std::filesystem::path> files;
  const auto record = [&](char digit, int age_s) {
    constexpr std::int64_t kBytes = 400'000'000;  // size of a sparse file
    db::Attempt made;
    made.key = key, made.uid = std::string(32, digit), made.outcome = "done", made.environment = {{"host", "h"}};
    made.artifacts = {{db::kOutput, kBytes, kBytes}};
    files.emplace_back(db::artifact_file(place.history, db::kOutput, made.uid));
    std::filesystem::create_directories(files.back().parent_path());
    std::ofstream(files.back()).close();
    std::filesystem::resize_file(files.back(), kBytes);
    std::filesystem::last_write_time(files.back(), std::filesystem::file_time_type::clock::now() - std::chrono::seconds(age_s));
    CHECK(recorder.put(made, {}).empty());
    place.files.limit(made, recorder);
  };
  record('a', 20);
  record('b', 30);
  CHECK(place.notes.empty());
  record('c', 10);
  CHECK_FALSE(std::filesystem::exists(files[1]));
  for (const auto kept : {0, 2}) CHECK(std::filesystem::exists(files[static_cast<std::size_t>(kept)]));
  REQUIRE(place.notes.size() == 1);
  CHECK(place.notes[0].find("note: the oldest files in " + place.history.string() + ".output are removed") == 0);
  record('d', 0);
  CHECK_FALSE(std::filesystem::exists(files[0]));
  CHECK(place.notes.size() == 1);
}
