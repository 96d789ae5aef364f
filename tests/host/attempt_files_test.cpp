// What attempts leave beside the history is found, told once, and fails nothing.
#include "core/host/scheduler/attempt_files.h"

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

  /// An attempt of which the worker has written so much, and which ends so.
  std::vector<db::Artifact> after(const std::string& output, bool weights, const EndedEvent& ended, bool done = true) {
    AttemptInProgress attempt(planned, {}, 0, 0, kNoVerdicts);
    CHECK(attempt.attempt().uid.size() == 32);
    if (!output.empty()) write(files.output_of(attempt.attempt()), output);
    if (weights) write(files.weights_of(attempt.attempt()), "tensors");
    if (done)
      attempt.take({{"results", {{"test/accuracy", 81.0}}},
                    {"main_metric", "test/accuracy"},
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

TEST_CASE("files that an attempt has left are found, with how much there was") {
  Place place;
  const auto left = place.after("text", true, {.printed = 4});
  REQUIRE(left.size() == 2);
  CHECK(left[0].kind == db::kOutput);
  CHECK(left[0].bytes == 4);
  CHECK(left[0].of_bytes == 4);
  CHECK(left[1].kind == db::kWeights);
  CHECK(left[1].bytes == 7);
  REQUIRE(place.notes.size() == 1);
  CHECK(place.notes[0].find("note: all that attention=softmax printed is in " + place.history.string() + ".output/") == 0);
  CHECK(place.after("text", true, {.printed = 2000}).at(0).of_bytes == 2000);
  CHECK(place.notes.back().find("printed 1.95 KiB: ") != std::string::npos);
  place.after("text", true, {.printed = 2000});
  CHECK(place.notes.size() == 2);  // each matter once
}

TEST_CASE("what could not be kept is told, and the attempt is done") {
  Place place;
  CHECK(place.after("", false, {.printed = 9000, .unkept = "No space left on device"}).empty());
  REQUIRE(place.notes.size() == 2);
  CHECK(place.notes[0].find("No space left on device. Trials go on") != std::string::npos);
  CHECK(place.notes[1].find("the best weights of attention=softmax are not kept") != std::string::npos);
  CHECK(place.notes[1].find("ablate show 0123456789ab") != std::string::npos);
}

TEST_CASE("of an attempt that is not done no weights stay, and its output does") {
  Place place;
  const auto left = place.after("last words", true, {.status = 1 << 8, .printed = 10}, false);
  REQUIRE(left.size() == 1);
  CHECK(left[0].kind == db::kOutput);
  CHECK(std::filesystem::is_empty(place.history.string() + ".weights"));
}
