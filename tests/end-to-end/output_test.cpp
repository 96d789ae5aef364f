// Output that cannot be written, and output for a terminal.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

const std::string kTwo = kTiny + "[grid]\nattention.plugin = [\"softmax\", \"linear\"]\n";

}  // namespace

TEST_CASE("a grid runs even if its messages are lost, and no message enters the database") {
  const auto streams = GENERATE("2>/dev/full", "2>&-", "2> >(:)", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full");
  INFO(streams);
  Workplace place;
  place.study(kTwo);
  CHECK(place.shell(std::string("$ablate run study.toml ") + streams).exit_code == 0);
  CHECK(place.query("SELECT outcome FROM attempts") == json({{{"outcome", "done"}}, {{"outcome", "done"}}}));
}

TEST_CASE("a stderr that nobody reads blocks no grid and no command") {
  Workplace place;
  place.study(kTwo);
  // Standard error is a full pipe that the shell holds open, like a reader that hangs.
  const std::string stuck = "mkfifo pipe; exec 3<>pipe; head -c 65536 /dev/zero >&3; timeout 60 $ablate ";
  CHECK(place.shell(stuck + "run study.toml 2>&3").exit_code == 0);
  CHECK(place.query("SELECT outcome FROM attempts") == json({{{"outcome", "done"}}, {{"outcome", "done"}}}));
  CHECK(place.shell(stuck + "rum 2>&3").exit_code == 2);
  // The reader continues before the command ends, so nothing is lost.
  std::filesystem::remove(place.folder() / "pipe");
  place.shell(stuck + "rum 2>&3 & sleep 0.5; timeout 20 head -c 65570 <&3 | tr -d '\\0' >late");
  CHECK(says(read_text(place.folder() / "late"), "ablate: no command \"rum\""));
}

TEST_CASE("messages that cannot be written change no exit code") {
  Workplace place;
  place.study(kTwo);
  REQUIRE(place.run({"run", "study.toml", "--set", "seeds=2"}).exit_code == 0);
  REQUIRE(place.run({"run", "study.toml"}).exit_code == 0);
  REQUIRE(says(place.run({"table", "tiny", "--format", "csv"}).err, "note: "));                    // about the earlier grid
  CHECK(place.shell("$ablate table tiny --format csv 2>&1 | tail -1").out.starts_with("note: "));  // after the rows
  place.study("[task]\nplugin = \"lisstops\"\n");
  for (const auto* streams : {"2>/dev/full", "2>&-", "2> >(:)"}) {
    CHECK(place.shell(std::string("$ablate rum ") + streams).exit_code == 2);
    CHECK(place.shell(std::string("$ablate run study.toml ") + streams).exit_code == 2);
    CHECK(place.shell(std::string("$ablate plugins nonesuch ") + streams).exit_code == 2);
    CHECK(place.shell(std::string("$ablate --version ") + streams).exit_code == 0);
    CHECK(place.shell(std::string("$ablate table tiny --format csv ") + streams).exit_code == 0);
  }
}

TEST_CASE("a command whose answer cannot be written reports this and fails") {
  Workplace place;
  place.study(kTwo);
  REQUIRE(place.run({"run", "study.toml"}).exit_code == 0);
  for (const std::string command :
       {"table", "table tiny --format csv", "attempts", "show 1", "show 1 --format json", "query 'SELECT attempt FROM trials'",
        "plugins", "plugins --format json", "plugins adamra", "plugins train", "check linear --no-timing",
        "check linear --no-timing --format json", "new task mine --in new", "run study.toml --dry-run", "--help", "run --help",
        "--version"}) {
    INFO(command);
    std::filesystem::remove_all(place.folder() / "new");
    std::filesystem::create_directory(place.folder() / "new");
    const auto full = place.shell("$ablate " + command + " >/dev/full");
    CHECK(full.exit_code == 2);
    CHECK(says(full.err, "ablate: standard output could not be written: "));
    std::filesystem::remove_all(place.folder() / "new/mine");
    const auto closed = place.shell("$ablate " + command + " >&-");
    CHECK(closed.exit_code == 2);
    CHECK(closed.err.ends_with("ablate: standard output could not be written: it is closed\n"));
  }
}

TEST_CASE("a reader that closes the pipe early ends a command quietly") {
  Workplace place;
  const auto ended = place.shell("$ablate plugins --format json | head -c 10 >/dev/null; echo ${PIPESTATUS[0]}");
  CHECK(ended.err == "");
  CHECK((ended.out == "141\n" || ended.out == "0\n"));  // 0: the whole output was in the pipe by then
  const auto gone =
      place.shell("mkfifo pipe; (exec 3<>pipe; exec 3>&-) ; { sleep 0.2; $ablate plugins; echo $? >code; } | true; cat code");
  CHECK(gone.err == "");
  CHECK(gone.out == "141\n");
}

TEST_CASE("an unknown command is reported with the nearest command") {
  Workplace place;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"rum"}, {"rum", "study.toml"}, {"rum", "--help"}, {"--db", "run", "rum"}, {"--db=x", "rum", "--help"}}) {
    const auto ended = place.run(arguments);
    CHECK(ended.exit_code == 2);
    CHECK(ended.out == "");
    CHECK(ended.err == "ablate: no command \"rum\" (did you mean run?)\n");
  }
  const auto far = place.run({"frobnicate", "--help"});
  CHECK(far.exit_code == 2);
  CHECK(says(far.err, "no command \"frobnicate\"; `ablate help` lists them"));
  CHECK(place.run({"--db", "run", "table"}).exit_code == 2);  // a database called run
  CHECK(place.run({"runs", "--failed"}).err == "ablate: no command \"runs\" (it is called attempts now)\n");
}

TEST_CASE("an empty text is refused as a value") {
  Workplace place;
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"plugins", ""},
                                                                     {"check", ""},
                                                                     {"plugins", "--db", ""},
                                                                     {"attempts", ""},
                                                                     {"table", "--metric", ""},
                                                                     {"run", ""},
                                                                     {"show", ""},
                                                                     {"--plugins", "", "plugins"}}) {
    const auto ended = place.run(arguments);
    CHECK(ended.exit_code == 2);
    CHECK(says(ended.err, "found an empty text, perhaps from an unset variable; give a value, or leave the argument out"));
  }
}

TEST_CASE("a path that is not a folder is reported, whichever option or variable named it") {
  Workplace place;
  place.study(kTwo);
  CHECK(says(place.shell("ABLATE_PLUGIN_PATH=/no/such $ablate plugins").err,
             "warning: ABLATE_PLUGIN_PATH names /no/such, which is no folder\n"));
  CHECK(says(place.run({"plugins", "--plugins", "study.toml"}).err, "--plugins study.toml: is a file; expected a folder"));
  CHECK(says(place.shell("XDG_CACHE_HOME=/proc/none $ablate bench linear --lengths 16").err,
             "cannot make the folder /proc/none/ablate/studies: "));
  CHECK(says(place.shell("gzip study.toml; $ablate run study.toml.gz").err, "it is a gzip file; expected a study in TOML"));
}

TEST_CASE("suggested commands use the database that ABLATE_DB named") {
  Workplace place;
  place.study(kTiny + "[attention]\nplugin = \"linear\"\n");
  CHECK(says(place.shell("ABLATE_DB=mine.db $ablate run study.toml").err, "table: ablate table tiny --db mine.db\n"));
  CHECK(says(place.shell("ABLATE_DB=mine.db $ablate run study.toml --db ablate.db").err,
             "table: ablate table tiny --db ablate.db\n"));
  CHECK(says(place.run({"run", "study.toml"}).err, "table: ablate table tiny\n"));
}

TEST_CASE("no text reaches the terminal with its control characters") {
  Workplace place;
  const std::string steer =
      "\x1b[31mred\x1b]0;title\x07\x7f\xc2\x9b"
      "31m";
  const auto harmless = [&](const std::vector<std::string>& arguments) {
    const auto ended = place.run(arguments);
    for (const auto& text : {ended.out, ended.err})
      for (const std::string control : {"\x1b", "\x07", "\x7f", "\r", "\xc2\x9b"}) CHECK_FALSE(says(text, control));
    return ended;
  };
  CHECK(says(harmless({steer}).err, "red"));
  CHECK(says(harmless({"run", steer}).err, "red"));
  CHECK(says(harmless({"run", "x", steer, steer}).err, "red"));
  CHECK(says(harmless({"run", "x", "--" + steer}).err, "red"));
  CHECK(says(harmless({"plugins", steer}).err, "red"));
  CHECK(says(harmless({"table", "--db", steer}).err, "red"));
  CHECK(says(harmless({"run", place.study(kTwo).string(), "--set", "train.steps=" + steer}).err, "red"));
  CHECK(harmless({"run", place.study(kTwo).string(), "--set", "experiment.name=" + steer}).exit_code == 2);
  CHECK(says(harmless({"run", place.study(kTwo + "[" + steer + "]\n").string()}).err, "study.toml:"));
  CHECK_FALSE(place.has_database());

  std::filesystem::create_directories(place.folder() / ("x" + steer));
  place.folder().write("x" + steer + "/a\nb.so", "no library");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"plugins"},
                                             {"plugins", "--format", "json"},
                                             {"check", "--format", "json", "--quick", "linear"},
                                             {"plugins", "a\nb"}})
    harmless([&] {
      auto all = arguments;
      all.insert(all.end(), {"--plugins", (place.folder() / ("x" + steer)).string()});
      return all;
    }());
  const auto listed = harmless({"plugins", "--plugins", (place.folder() / ("x" + steer)).string()});
  CHECK(says(listed.out, "/a b.so\n      is no shared library"));
  CHECK(harmless({"new", "task", "mine", "--in", "x" + steer}).exit_code == 0);

  const auto study = place.folder().write("x" + steer + "/study.toml", kTiny + "[attention]\nplugin = \"linear\"\n").string();
  REQUIRE(harmless({"run", study}).exit_code == 0);
  const auto shown = harmless({"show", "1", "--format", "json"});
  CHECK(json::parse(shown.out)["experiments"][0]["file"] == study);
  CHECK(says(harmless({"show", "1"}).out, "31mred"));
  for (const std::string format : {"json", "csv", "text", "markdown"}) {
    CHECK(says(harmless({"query", "SELECT file FROM experiments", "--format", format}).out, "31mred"));
    CHECK(harmless({"table", "--format", format}).exit_code == 0);
  }
}

TEST_CASE("suggested commands can be pasted into a shell") {
  Workplace place;
  place.study(kTiny + "[attention]\nplugin = \"linear\"\n");
  const auto ended = place.run({"run", "study.toml", "--set", "experiment.name=\"it's a; test\"", "--db", "my runs.db"});
  REQUIRE(ended.exit_code == 0);
  const std::string expected = "table: ablate table 'it'\\''s a; test' --db 'my runs.db'\n";
  CHECK(says(ended.err, expected));
  const auto pasted = place.shell("$" + expected.substr(7));
  CHECK(pasted.exit_code == 0);
  CHECK(says(pasted.out, "it's a; test"));
}
