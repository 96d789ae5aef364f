// Several proofs, data that changed, and rows of a history that cannot be read.
#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/end-to-end/edited_plugin.h"

namespace {

/// Overwrites a file. Its size, time and inode stay the same, so cached facts about it look valid.
void change_unseen(const std::filesystem::path& file, const std::string& content) {
  struct stat before {};
  REQUIRE(stat(file.c_str(), &before) == 0);
  REQUIRE(static_cast<std::size_t>(before.st_size) == content.size());
  std::ofstream(file, std::ios::binary) << content;
  const timespec times[] = {before.st_atim, before.st_mtim};
  REQUIRE(utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace

TEST_CASE("each proof belongs to the code that ran, whatever was proven in between", "[proofs]") {
  Place place;
  CHECK(says(place.said({"-j", "1"}), "2 done, 0 done before"));
  place.edit('e');
  CHECK(says(place.said({"--prove", "1"}), "2 done trials of the history stay valid"));
  const std::vector<std::string> third{"--set", "seeds=[3]"};
  CHECK(says(place.said(third), "1 done, 0 done before"));  // under the second code
  place.edit('f');
  CHECK(says(place.said({"--set", "seeds=[3]", "--prove", "1"}), "1 done trial of the history stays valid"));
  CHECK(says(place.said({"--prove", "1"}), "2 done trials of the history stay valid"));
  CHECK(says(place.run({"run", "--unprove", "1"}).err, "proof 1 is deleted: 2 trials are no longer done under the new code\n"));
  CHECK(place.query("SELECT trials FROM proofs ORDER BY proof").dump() == R"([{"trials":1},{"trials":2}])");
  CHECK(says(place.said(third), "0 done, 1 done before"));
  CHECK(says(place.said({}), "0 done, 2 done before"));
}

TEST_CASE("data that changed are noticed by --prove, and later runs report the change too", "[proofs]") {
  DataPlace place;
  place.folder().write("set", "one");
  place.said({});
  place.edit('e');
  change_unseen(place.folder() / "set", "two");
  const auto refused = place.said({"--prove", "1"}, 2);
  CHECK_FALSE(says(refused, "proven by"));
  CHECK(says(place.said({"--dry-run"}), "except for the code of softmax (attention), the data"));
}

TEST_CASE("unreadable rows of a history are reported once and left out", "[proofs]") {
  Place place;
  place.said({"-j", "1"});
  place.edit('e');
  place.said({"--prove", "2"});
  place.edit('g');
  const auto check_warning = [&](const std::string& said, const std::string& what) {
    INFO(said);
    CHECK(count(said, "warning: " + what + " left out: ") == 1);
    CHECK_FALSE(says(said, "json.exception"));
  };
  const auto asked = [&](const std::string& command, const std::string& about) {
    const auto ended = place.run({command, about});
    CHECK(ended.exit_code == 0);
    return ended.err;
  };
  SECTION("settings") {
    const std::string settings = GENERATE("'{'", "'[1]'", "json_set(settings, '$.\"attention.plugin\"', json('{}'))");
    place.change_history("UPDATE key_part SET settings = " + settings + " WHERE trial = 1");
    check_warning(place.said({"--dry-run"}), "attempt 1 is");
    const auto proven = place.said({"--prove", "1"});
    check_warning(proven, "attempt 1 is");
    CHECK(says(proven, "1 done trial of the history stays valid"));
  }
  SECTION("code, data and versions") {
    const std::string basis = GENERATE("printf('%.*c', 200000, '[')", "'{\"plugins\": 1}'", "json_remove(json, '$.data')",
                                       "json_set(json, '$.runtime', 'x')", "json_set(json, '$.plugins.attention', 1)");
    place.change_history("UPDATE basis SET json = " + basis);
    check_warning(place.said({"--dry-run"}), "attempts 1, 2 are");
    CHECK(says(place.said({"--prove", "1"}, 2), "attempts 1, 2 are left out: the key's parts cannot be read in "));
  }
  SECTION("an environment") {
    place.change_history("UPDATE environment SET json = " + std::string(GENERATE("'no'", "'[]'")));
    CHECK(says(place.said({"--prove", "1"}, 2), "attempts 1, 2 are left out: its environment cannot be read in "));
    check_warning(asked("table", "tiny"), "environment 1 is");
  }
  SECTION("a proof") {
    place.change_history("UPDATE proof SET now = " + std::string(GENERATE("'no'", "'[]'", "'{\"plugins\": 1}'")));
    check_warning(asked("show", "1"), "proof 1 is");
  }
}

TEST_CASE("a proof does not cover a trial that used a default which the edit changed", "[proofs]") {
  Place place;
  const auto edit_default = [&](const char* factor) {
    std::filesystem::copy(kFaulty + "defaults/scaled_by_" + factor + ".so", place.folder() / "plugins/scaled.so",
                          std::filesystem::copy_options::overwrite_existing);
  };
  const auto write = [&](const std::string& rows) {
    return place.study(kTiny + "[attention]\nplugin = \"scaled\"\n[grid]\nrows = [" + rows + "]\n").string();
  };
  edit_default("1");
  place.file = write("{attention.scaling = \"on\", attention.factor = 5.0}, {attention.scaling = \"on\"}, {}");
  place.said({"-j", "1"});
  edit_default("20");
  CHECK(says(place.said({"--dry-run"}),
             "like attempt 2, except for attention.factor (20.0, was 1.0), the code of scaled (attention)"));

  SECTION("the trials run anew under the new default") {
    CHECK(says(place.said({"--prove", "1"}),
               "proven by 1 repeated trial, the same to the last bit: 1 done trial of the history "
               "stays valid"));
    CHECK(says(place.said({"-j", "1"}), "2 done, 1 done before"));
    CHECK(place.query("SELECT \"attention.factor\" AS factor FROM trials ORDER BY attempt").dump() ==
          R"([{"factor":5.0},{"factor":1.0},{"factor":1.0},{"factor":20.0},{"factor":20.0}])");
  }
  SECTION("if all trials are of this kind, nothing can be proven") {
    place.file = write("{attention.scaling = \"on\"}");
    CHECK(says(place.said({"--prove", "1"}, 2),
               "; attempt 2 was trained with another value of attention.factor: its default was 1.0 and is 20.0. --dry-run"));
  }
}
