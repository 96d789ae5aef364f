// Hostile studies: extreme nesting, endless files, and texts that control a terminal.
#include <sys/stat.h>

#include "tests/host/studies.h"
#include "tests/support/catch.h"

using studies::errors;
using Names = std::vector<std::string>;

namespace {

// Lines 1 to 5 of a study. Text that a test appends starts at line 6.
const std::string kBase =
    "[task]\nplugin = \"image\"\n[attention]\ncompression.plugin = \"segment-mean\"\nplugin = \"adamra\"\n";

}  // namespace

TEST_CASE("input that nests too deeply is refused at its place, before a parser reads it") {
  constexpr int kParts = 20000;
  const auto repeated = [](const std::string& part) {
    std::string all;
    for (int i = 0; i < kParts; ++i) all += part;
    return all;
  };
  const std::string why = "nested more than 64 levels deep, brackets and the parts of dotted keys counted";
  CHECK(errors("\n  a" + repeated(".a") + " = 1\n") == Names{"2:132: " + why});
  CHECK(errors("[a" + repeated(".a") + "]\n") == Names{"1:129: " + why});
  CHECK(errors("[[a" + repeated(".a") + "]]\n").size() == 1);
  CHECK(errors("[x]\na = " + repeated("[") + repeated("]") + "\n") == Names{"2:69: " + why});
  CHECK(errors("a = " + repeated("[\n") + "\n") == Names{"65:1: " + why});
  CHECK(errors("a = " + repeated("{a = ") + "1" + repeated("}") + "\n").size() == 1);
  CHECK(errors("[x]\na" + repeated(".\"a\"") + " = 1\n").size() == 1);
  CHECK(errors("a = " + repeated("{a.a.a.a.a.a.a.a.a = ") + "1\n") == Names{"1:154: " + why});
  CHECK(errors("a = '" + repeated("[") + "\n").size() == 1);  // a string that does not end
  CHECK(errors(kBase, {"attention.rates=" + repeated("[") + repeated("]")}) ==
        Names{"--set: attention.rates=" + repeated("[") + repeated("]") + ": the value is " + why});
  CHECK(errors(kBase, {"a" + repeated(".a") + "=1"}).size() == 1);

  // Brackets in strings and comments are not levels, and the levels of different keys are not added up.
  std::string wide = kBase + "[grid]\nseeds = 2 # " + repeated("[") + "\n[train]\n";
  for (int i = 0; i < 100; ++i) wide += "# [a.b\n";
  wide += "learning_rate = 0.001\nsteps = 10\n";
  CHECK(errors(wide).empty());
  CHECK(errors("[experiment]\ndescription = \"\"\"" + repeated("[.\\\"") + "\"\"\"\"\"\n" + kBase).empty());
  CHECK(errors("[experiment]\ndescription = '" + repeated("[.") + "'\n" + kBase).empty());
}

TEST_CASE("a study is a regular file of at most 4 MiB") {
  const studies::Folder folder;
  const auto refused = [](const std::filesystem::path& file) {
    try {
      ablate::load_study(file, {}, studies::catalog());
    } catch (const ablate::ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused("/dev/zero") == "/dev/zero: cannot be read: it is no regular file; expected a study in TOML");
  const auto pipe = folder.write("").parent_path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(refused(pipe).ends_with("it is no regular file; expected a study in TOML"));
  CHECK(refused(folder.write(kBase + std::string(4 << 20, '#'))).ends_with("it is longer than 4 MiB; is it a study?"));
  CHECK(refused(folder.write(kBase + "#" + std::string((4 << 20) - kBase.size() - 2, ' ') + "\n")) == "");
}

TEST_CASE("texts that would control a terminal are refused where they are written") {
  const std::string name = "[experiment]\nname = ";
  CHECK(errors(name + "\"a\\u001b[31m\"\n" + kBase) ==
        Names{"2:8: experiment.name = \"a\\u001b[31m\": expected a text in one line"});
  CHECK(errors(name + "\"two\\nlines\"\n" + kBase).size() == 1);
  CHECK(errors(name + "\"\\u009b31m\"\n" + kBase).size() == 1);
  CHECK(errors(name + "\"-n\"\n" + kBase) == Names{"2:8: experiment.name begins with '-', as an option of a command does"});
  CHECK(errors(name + "\"ä b\"\n" + kBase).empty());
  CHECK(errors("[experiment]\ndescription = \"two\\nlines\"\n" + kBase).empty());
  CHECK(errors("[experiment]\ndescription = \"\\u001b\"\n" + kBase).size() == 1);
  CHECK(errors("[task]\nplugin = \"image\"\ndata = \"a\\u0007\"\n[attention]\nplugin = \"softmax\"\n") ==
        Names{"3:8: task.data = \"a\\u0007\": expected a text in one line"});
  CHECK(errors(kBase + "[[published]]\nsource = \"A\\u001b\"\nvalues = [{ \"test/accuracy\" = 1 }]\n") ==
        Names{"7:10: source = \"A\\u001b\": expected a text in one line: paper and table"});
  // A study without a name has the name of its file.
  const studies::Folder folder;
  const auto file = folder.write(kBase).parent_path() / "a\x1b.toml";
  std::filesystem::rename(file.parent_path() / "study.toml", file);
  try {
    ablate::load_study(file, {}, studies::catalog());
    FAIL("no error");
  } catch (const ablate::ConfigError& error) {
    CHECK(
        std::string(error.what())
            .ends_with(
                "the experiment has the file's name, \"a\\u001b\", which holds a control character, but must be one line; set "
                "[experiment] name"));
  }
  CHECK_NOTHROW(ablate::load_study(file, {"experiment.name=a"}, studies::catalog()));
}

TEST_CASE("the error for more seeds than a study may have trials names the limit") {
  CHECK(errors(kBase + "[grid]\nseeds = 100001\n") ==
        Names{"7:9: found 100001 seeds, expected at most 100000: a study has no more trials than that"});
  CHECK(errors(kBase, {"seeds=1000000000000"}) == Names{"--set: seeds=1000000000000: found 1000000000000 seeds, expected at "
                                                        "most 100000: a study has no more trials than that"});
}

TEST_CASE("truncated studies and studies with a changed byte never crash the loader") {
  const std::string whole =
      "[task]\nplugin = \"image\"\n[attention]\nplugin = \"adamra\"\ncompression.plugin = \"rbf\"\nrates = [\"1/2\", "
      "0.25]\ncompression.width = 2\n[train]\nsteps = 10\n"
      "[grid]\nseeds = [1, 2]\nmodel.layers = [1, 2]\nrows = [{attention.routing = \"all\"}, {train.batch = 4}]\n"
      "[[grid.zip]]\nmodel.hidden = [8, 16]\ntrain.warmup = [1, 2]\n[[grid.exclude]]\nseed = 2\nmodel.layers = 1\n";
  REQUIRE(errors(whole).empty());
  const auto plugins = studies::catalog();
  std::size_t wrong = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) wrong += !errors(whole.substr(0, length), {}, plugins).empty();
  CHECK(wrong > whole.size() / 2);
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char byte : {'\0', '\xff', '[', '"', '=', '.', '9', '\n'}) {
      auto text = whole;
      text[at] = byte;
      CHECK_NOTHROW(errors(text, {}, plugins));
    }
}
