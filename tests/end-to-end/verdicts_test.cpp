// Verdicts of `ablate check`: `ablate plugins`, runs and tables show them. Also changes that invalidate a verdict.
#include "core/shared/verdict_memory.h"
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"
#include "tests/support/edited_code.h"

using nlohmann::json;

namespace {

/// Workplace with its own cache, a correct plugin whose code can change, and a wrong plugin.
struct Place : Workplace {
  Place() {
    std::filesystem::create_directory(folder() / "plugins");
    std::filesystem::copy(std::string(ABLATE_BUILD_DIR) + "/lib/ablate/plugins/softmax.so", library());
    std::filesystem::copy(kFaulty + "check/wrong.so", folder() / "plugins/wrong.so");
    set("ABLATE_PLUGIN_PATH", (folder() / "plugins").string());
    set("XDG_CACHE_HOME", (folder() / "cache").string());
  }
  std::filesystem::path library() const { return folder() / "plugins/softmax.so"; }
  void edit(char with) { edit_code(library(), with); }

  std::string said(const std::vector<std::string>& arguments, int exit_code = 0) {
    const auto ended = run(arguments);
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == exit_code);
    return ended.out + ended.err;
  }
  json shown(const std::string& id) { return json::parse(run({"plugins", id, "--format", "json"}).out).at("checks"); }

  /// Stores passed verdicts without a check, because checks take minutes.
  void vouch(const std::vector<std::string>& ids) {
    const ablate::VerdictMemory memory(folder() / "cache/ablate/verdicts");
    for (const auto& plugin : json::parse(run({"plugins", "--format", "json"}).out)) {
      if (plugin.contains("refusal")) continue;
      const std::string digest = plugin.at("code_digest"), id = plugin.at("id");
      if (std::find(ids.begin(), ids.end(), id) != ids.end())
        memory.put({plugin.at("kind"), id, digest.empty() ? plugin.at("content_hash").get<std::string>() : digest}, "cpu",
                   {.verdict = "passed"});
    }
  }
};

const std::string kStudy = kTiny + "[grid]\nattention.plugin = [\"softmax\", \"wrong\"]\n";

}  // namespace

TEST_CASE("`ablate plugins`, the next run, and tables of earlier and later runs show a verdict", "[verdicts]") {
  Place place;
  const auto study = place.study(kStudy).string();
  CHECK(place.shown("wrong") == json{{"verdict", "unchecked"}});
  auto ran = place.said({"run", study});
  CHECK(says(ran, "never checked: listops, softmax, wrong; `ablate check listops softmax wrong` checks them\n"));
  CHECK_FALSE(says(ran, "failed checks:"));
  auto table = place.said({"table", "tiny"});
  CHECK(says(table, "\nsoftmax "));
  CHECK(says(table, "\nwrong "));
  CHECK(says(table, "note: never checked: softmax, wrong, listops; `ablate check listops softmax wrong` checks them"));
  CHECK(says(place.said({"show", "1"}), "unchecked"));

  place.said({"check", "wrong", "--no-timing"}, 1);
  const auto failed = place.shown("wrong");
  CHECK(failed.at("verdict") == "failed");
  CHECK(failed.at("failed") == json({"long", "additive", "padding", "forms"}));
  CHECK(failed.at("timed") == false);
  CHECK(says(place.said({"plugins"}), "FAILED: long, additive, padding, forms\n"));
  CHECK(says(place.said({"plugins", "wrong"}), "Checked: FAILED: long, additive, padding, forms ("));
  CHECK(says(place.said({"plugins", "wrong"}), "), without timing"));
  place.vouch({"softmax", "listops"});
  CHECK(says(place.said({"plugins", "softmax"}), "Checked: all passed ("));

  // Rows of earlier runs are marked, too, but no row of the correct plugin.
  table = place.said({"table", "tiny"});
  CHECK(says(table, "\n   softmax "));
  CHECK(says(table, "\n!  wrong "));
  CHECK(says(table,
             "note: ! with a plugin that fails its checks: wrong (long, additive, padding, forms); `ablate check wrong` shows "
             "the errors\n"));
  CHECK_FALSE(says(table, "never checked"));
  const auto wrong = place.query("SELECT attempt FROM plugins WHERE plugin = 'wrong'").at(0).at("attempt");
  CHECK(place.query("SELECT DISTINCT verdict FROM plugins").dump() == R"([{"verdict":"unchecked"}])");
  CHECK(says(place.said({"show", wrong.dump()}), "unchecked then; since: FAILED its checks: long, additive, padding, forms"));

  ran = place.said({"run", study, "--again"});
  CHECK(says(ran,
             "warning: these plugins failed checks: wrong (long, additive, padding, forms); tables mark their rows; `ablate "
             "check wrong` "
             "shows the errors\n"));
  CHECK_FALSE(says(ran, "never checked"));
  CHECK(
      place.query("SELECT plugin, verdict, failed_checks FROM plugins WHERE attempt > 2 AND kind = 'attention' ORDER BY plugin")
          .dump() == R"([{"failed_checks":"","plugin":"softmax","verdict":"passed"},)"
                     R"({"failed_checks":"long, additive, padding, forms","plugin":"wrong","verdict":"failed"}])");
  // Without the cache, the verdicts in the history count.
  std::filesystem::remove_all(place.folder() / "cache/ablate/verdicts");
  table = place.said({"table", "tiny"});
  CHECK(says(table, "\n   softmax "));
  CHECK(says(table, "\n!  wrong "));
}

TEST_CASE("verdicts are stored in a history by runs and by checks that name the history", "[verdicts]") {
  Place place;
  const auto study = place.study(kStudy).string();
  const auto marks_elsewhere = [&] {  // on a machine with another cache
    place.set("XDG_CACHE_HOME", (place.folder() / "elsewhere").string());
    const auto table = place.said({"table", "tiny"});
    place.set("XDG_CACHE_HOME", (place.folder() / "cache").string());
    return table;
  };
  place.said({"run", study});
  CHECK(says(marks_elsewhere(), "never checked: softmax, "));
  place.vouch({"softmax", "listops"});
  CHECK(says(place.said({"run", study}), "0 done, 2 done before"));
  CHECK(says(marks_elsewhere(), "\n   softmax "));
  CHECK(says(marks_elsewhere(), "\n?  wrong "));
  CHECK(place.query("SELECT plugin, verdict FROM verdicts ORDER BY plugin").dump() ==
        R"([{"plugin":"listops","verdict":"passed"},{"plugin":"softmax","verdict":"passed"}])");
  CHECK(place.query("SELECT DISTINCT kind, place, length FROM plugins ORDER BY kind").dump() ==
        R"([{"kind":"attention","length":24,"place":"bidirectional"},{"kind":"task","length":null,"place":""}])");
  CHECK(says(place.run({"attempts", "--failed"}).err, "every attempt is done: none failed"));
  // A check stores its verdicts only in a named history: ./ablate.db does not count unless it is named.
  CHECK(says(place.said({"check", "wrong", "--no-timing"}, 1),
             "ablate.db has trials of wrong: after the fix, `ablate run STUDY --prove N`"));
  CHECK(says(marks_elsewhere(), "\n?  wrong "));
  place.set("ABLATE_DB", "none.db");
  CHECK_FALSE(says(place.said({"check", "wrong", "--no-timing"}, 1), "--prove"));
  place.set("ABLATE_DB", "ablate.db");
  place.said({"check", "wrong", "--no-timing"}, 1);
  place.set("ABLATE_DB", "");
  CHECK(says(marks_elsewhere(), "\n!  wrong "));
  CHECK(says(marks_elsewhere(), "wrong (long, additive, padding, forms)"));
  CHECK(says(place.said({"check", "wrong", "--db", "none.db"}, 2), "--db none.db: no such file"));
  CHECK_FALSE(std::filesystem::exists(place.folder() / "none.db"));
}

TEST_CASE("a bench's tables show the verdicts that the history stores", "[verdicts]") {
  Place place;
  const std::vector<std::string> bench = {"bench", "softmax", "--lengths", "16", "--set", "model.layers=1"};
  CHECK(says(place.run(bench).out, "never checked: softmax, bytes"));
  place.vouch({"softmax", "bytes"});
  CHECK_FALSE(says(place.said(bench), "never checked"));
  std::filesystem::remove_all(place.folder() / "cache/ablate/verdicts");
  const auto again = place.run(bench);
  CHECK(says(again.err, "0 done, 1 done before"));
  CHECK_FALSE(says(again.out, "never checked"));  // stderr reports this machine's verdicts
}

TEST_CASE("the check command below a table finds the plugins in the folders that were named", "[verdicts]") {
  Place place;
  place.said({"run", place.study(kStudy).string()});
  CHECK(says(place.said({"table", "tiny"}), "`ablate check listops softmax wrong` checks them"));
  CHECK(says(place.said({"table", "tiny", "--plugins", "my plugins", "--plugins", "more"}),
             "`ablate check listops softmax wrong --plugins 'my plugins' --plugins more` checks them"));
  std::filesystem::create_directory(place.folder() / "my plugins");
  CHECK(says(place.said({"plugins", "wrong", "--plugins", "my plugins"}),
             "Checked: never; `ablate check wrong --plugins 'my plugins'` checks it"));
  // If the folder is no longer searched, the history still names it.
  const auto folder = (place.folder() / "plugins").string();
  place.set("ABLATE_PLUGIN_PATH", "");
  CHECK(says(place.said({"table", "tiny"}), "`ablate check listops softmax wrong --plugins " + folder + "` checks them"));
  place.said({"check", "wrong", "--plugins", folder, "--quick"}, 1);
  std::filesystem::remove_all(folder);
  CHECK(says(place.said({"table", "tiny"}), "`ablate check listops softmax wrong` checks them"));
}

TEST_CASE("a check that is partial or not at default parameters leaves no verdict", "[verdicts]") {
  Place place;
  const std::string kept = "no verdict is stored: a check with ", part = " is not a full check at default parameters\n";
  CHECK(says(place.said({"check", "wrong", "--quick"}, 1), kept + "--quick" + part));
  CHECK(place.shown("wrong").at("verdict") == "unchecked");
  CHECK(says(place.said({"check", "wrong", "--no-timing", "--set", "fault=none"}), kept + "--set" + part));
  CHECK(place.shown("wrong").at("verdict") == "unchecked");
  place.said({"check", (place.folder() / "plugins/wrong.so").string(), "--no-timing"}, 1);  // by its path
  CHECK(place.shown("wrong").at("verdict") == "failed");
}

TEST_CASE("an edited plugin is unchecked, and a proof does not change this", "[verdicts]") {
  Place place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"softmax\"\n").string();
  place.vouch({"softmax", "listops"});
  CHECK_FALSE(says(place.said({"run", study}), "never checked"));
  CHECK_FALSE(says(place.said({"table", "tiny"}), "note: ?"));
  place.edit('e');
  CHECK(place.shown("softmax").at("verdict") == "unchecked");
  CHECK(says(place.said({"run", study, "--prove", "1"}), "stay"));
  CHECK(place.shown("softmax").at("verdict") == "unchecked");
  CHECK(says(place.said({"run", study, "--dry-run"}), "never checked: softmax;"));
  CHECK(place.query("SELECT DISTINCT verdict FROM plugins WHERE plugin = 'softmax'").dump() == R"([{"verdict":"passed"}])");
}

TEST_CASE("a library that is replaced between inspection and check leaves no verdict", "[verdicts]") {
  Place place;
  CHECK(place.shown("softmax") == json{{"verdict", "unchecked"}});  // this call also scans the library
  std::filesystem::copy(place.library(), place.folder() / "looked_at.so");
  std::filesystem::copy(place.library(), place.folder() / "built.so");
  edit_code(place.folder() / "built.so", 'b');
  // This program replaces the library when a worker starts: after the scan, and before the worker loads the library.
  const auto building =
      place.folder().write("building.sh", "#!/bin/sh\nmv '" + (place.folder() / "built.so").string() + "' '" +
                                              place.library().string() + "'\nexec '" + kBin + "ablate-checker' \"$@\"\n");
  std::filesystem::permissions(building, std::filesystem::perms::owner_all);
  place.set("ABLATE_WORKER", building.string());
  CHECK(says(flat(place.said({"check", "softmax", "--no-timing"}, 1)),
             "was replaced after ablate read it: run the command again"));
  place.set("ABLATE_WORKER", "");
  CHECK(place.shown("softmax") == json{{"verdict", "unchecked"}});
  std::filesystem::rename(place.folder() / "looked_at.so", place.library());
  CHECK(place.shown("softmax") == json{{"verdict", "unchecked"}});
}
