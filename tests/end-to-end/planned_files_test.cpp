// A file that a parameter names must still have the content that the trial's key was made from, or the trial fails.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

namespace {

struct Place : Workplace {
  explicit Place(const std::string& then, const std::string& task = "") {
    set("ABLATE_PLUGIN_PATH", kFaulty + "files:" + kFaulty + "trial");
    folder().write("table", "2");
    const auto model = kTiny.substr(kTiny.find("[model]"));
    file = study((task.empty() ? kTiny : "[experiment]\nname = \"tiny\"\n[task]\n" + task + model) +
                 "[attention]\nplugin = \"from-file\"\ntable = \"table\"\nthen = \"" + then + "\"\n[grid]\nseeds = [1, 2, 3]\n")
               .string();
  }

  std::string said(int exit_code) {
    const auto ended = run({"run", file, "-j", "1"});
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == exit_code);
    return ended.out + ended.err;
  }
  nlohmann::json attempts() { return query("SELECT outcome, reason FROM attempts ORDER BY attempt"); }
  std::string table() const { return (folder() / "table").string(); }

  std::string file;
};

const std::string kOfTwo = "d4735e3a265e", kOfThree = "4e07408562be";  ///< first 12 digits of the SHA-256 of "2" and of "3"

}  // namespace

TEST_CASE("a file that changes during a grid fails the trials that would read the new content", "[files]") {
  Place place("write-in-training");
  CHECK(says(place.said(1), "1 done, 0 done before, 2 failed"));
  const auto attempts = place.attempts();
  REQUIRE(attempts.size() == 3);
  CHECK(attempts[0]["outcome"] == "done");
  for (const auto at : {1, 2}) {
    CHECK(attempts[at]["outcome"] == "failed");
    CHECK(attempts[at]["reason"] == "attention.table = " + place.table() +
                                        ": the file changed after the study was read: its SHA-256 is " + kOfThree +
                                        ", expected " + kOfTwo +
                                        ", which is part of the trial's key: put the old file back and run again with --retry "
                                        "failed, or run again to use the new file");
  }
  CHECK(says(place.said(0), "3 done, 0 done before"));  // under the keys of the new content
}

TEST_CASE("a file that is removed during a grid is reported", "[files]") {
  Place place("remove-in-training");
  CHECK(says(place.said(1), "1 done, 0 done before, 2 failed"));
  const std::string reason = place.attempts().at(2).at("reason");
  CHECK(says(reason, "attention.table = " + place.table() + ": the file was removed after the study was read"));
  CHECK(says(reason, "expected a file with the SHA-256 " + kOfTwo));
}

TEST_CASE("a file that changes while a factory reads it fails the trial", "[files]") {
  SECTION("the content differs") {
    Place place("write-in-factory");
    CHECK(says(place.said(1), "0 done, 0 done before, 3 failed"));
    CHECK(says(place.attempts().at(0).at("reason"), "the file changed after the study was read: its SHA-256 is " + kOfThree));
  }
  SECTION("the old content is back") {
    Place place("swap-in-factory");
    CHECK(says(place.said(1), "0 done, 0 done before, 3 failed"));
    CHECK(says(place.attempts().at(0).at("reason"), "the file was written to while it was read"));
  }
}

TEST_CASE("a task's file that changes between the plan and the load is refused", "[files]") {
  Place place("keep", "plugin = \"faulty-task\"\ntable = \"words\"\nwhere = \"load\"\nhow = \"write-table\"\n");
  place.folder().write("words", "2");
  const auto said = place.said(2);
  CHECK(says(said, "task.table = " + (place.folder() / "words").string() +
                       ": the file changed after the study was read: its SHA-256 is " + kOfThree));
  CHECK(place.query("SELECT count(*) AS n FROM attempts").at(0).at("n") == 0);
}

TEST_CASE("a task's answer for one content of a file is not used for another content", "[files]") {
  const TemporaryFolder elsewhere;
  const auto words = elsewhere.write("words", "2");
  Place place("keep", "plugin = \"faulty-task\"\ntable = \"" + words.string() + "\"\n");
  CHECK(says(place.said(0), "3 done, 0 done before"));
  elsewhere.write("words", "3");
  CHECK(says(place.said(0), "3 done, 0 done before"));
}
