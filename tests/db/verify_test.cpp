// `ablate verify` compares tables in a paper with the history that they came from.
#include "db/report/layout.h"
#include "db/report/written_table.h"
#include "tests/db/papers.h"

using namespace ablate;
using namespace ablate::db;

namespace {

const std::string kTables[] = {
    "table study --rows attention --metric test/accuracy,train/step_time",
    "table --rows attention --cols task,seed --metric test/accuracy,train/step_time",
    "table study --rows attention,seed --where seed>=1 --against attention=softmax --decimals 3",
    "table study --rows attention --contrasts attention=softmax 'attention=50%_linear & co' --label tab:a --caption 'ablate "
    "[\"x\"]'",
};

}  // namespace

TEST_CASE("a table in any format is verified, in any text around it") {
  Papers run;
  for (const std::string format : {"latex", "typst", "html"})
    for (const auto& table : kTables) {
      INFO(table << " " << format);
      const auto text = run(table + " --format " + format);
      REQUIRE(run.exit_code == 0);
      run.write("Before\n" + text + "\nbetween\n\n" + text + "\nafter\n");
      const auto output = run.verify();
      INFO(output);
      CHECK(run.exit_code == 0);
      CHECK(has(output, "paper.tex:"));
      CHECK(has(output, "the table agrees with the history"));
      CHECK(written_tables(text, "a").size() == 1);
    }
}

TEST_CASE("an edited digit, mark, label or heading is reported with its line, row and column") {
  Papers run;
  for (const std::string format : {"latex", "typst", "html"}) {
    INFO(format);
    const auto text = run("table study --rows attention --metric test/accuracy --format " + format);
    run.write(replaced(text, "60.50", "60.51"));
    auto output = run.verify();
    INFO(output);
    CHECK(run.exit_code == 1);
    CHECK(has(output, ": softmax, test/accuracy (%): found 60.51 "));
    CHECK(has(output, ", expected 60.50 "));
    CHECK(std::count(output.begin(), output.end(), '\n') == 1);
    run.write(replaced(text, "softmax", "sofmax"));
    output = run.verify();
    CHECK(run.exit_code == 1);
    CHECK(has(output, ": sofmax: a row that is not in the history"));
    CHECK(has(output, ": softmax: a row of the history that the file lacks"));
  }
  const auto text = run("table study --rows attention --against attention=softmax --format latex");
  run.write(replaced(text, "reference", "0.0 *"));
  CHECK(has(run.verify(), ": softmax, difference: found 0.0 *, expected reference"));
  CHECK(run.exit_code == 1);
  run.write(replaced(text, " & p ", " & q "));
  CHECK(has(run.verify(), "the header, column 4: found q, expected p"));
}

TEST_CASE("a note that was removed, edited or added is reported; a command in a note may change") {
  Papers run;
  for (const auto& [format, before] :
       {std::pair<std::string, std::string>{"latex", "% note: "}, {"typst", "// note: "}, {"html", "  <li>"}}) {
    const auto text = run("table study --rows attention --against attention=softmax --format " + format);
    INFO(text);
    const auto from = text.find(before + "n = 2: no difference can be significant");
    REQUIRE(from != std::string::npos);
    const auto line = text.substr(from, text.find('\n', from) + 1 - from);
    run.write(replaced(text, line, ""));
    auto output = run.verify();
    INFO(output);
    CHECK(run.exit_code == 1);
    CHECK(
        has(output,
            ": a note of the history that the file lacks: n = 2: no difference can be significant at 5 % over 2 comparisons"));
    run.write(replaced(text, "2 comparisons", "3 comparisons"));
    output = run.verify();
    CHECK(run.exit_code == 1);
    CHECK(has(output, ": a note that is not in the history: "));
    run.write("% note: of an author\n" + text);
    run.verify();
    CHECK(run.exit_code == 0);
    run.write(replaced(text, line, line + before + "ours is best" + (format == "html" ? "</li>\n" : "\n")));
    CHECK(has(run.verify(), ": a note that is not in the history: ours is best\n"));
    CHECK(run.exit_code == 1);
  }
  using Notes = std::map<std::size_t, std::string>;
  const Notes here = {{1, "floors are not known: `ablate audit a.toml` finds them"}},
              there = {{9, "floors are not known: `ablate audit /x/a.toml --db b.db` finds them"}};
  CHECK(note_differences(here, there, 1, "a").empty());
  CHECK(note_differences(here, Notes{{9, "floors are known: `ablate audit a.toml` finds them"}}, 1, "a").size() == 2);
}

TEST_CASE("trials that were added, removed or repeated later are reported") {
  Papers run;
  const auto text = run("table study --rows attention --metric test/accuracy --format latex");
  run.write(text);
  run.verify();
  REQUIRE(run.exit_code == 0);
  run.run_again(2, 99);
  auto output = run.verify();
  CHECK(run.exit_code == 1);
  CHECK(has(output, "linear"));
  CHECK(has(output, ", expected 81"));
  run.add_seed();
  output = run.verify();
  CHECK(run.exit_code == 1);
  CHECK(has(output, "softmax, test/accuracy (%): the history has trials that the file lacks: " +
                        key_of(trial("softmax", {}, 3)).substr(0, 12)));
  const auto key = key_of(trial("softmax", {}, 1)).substr(0, 12);
  run.write(replaced(text, key, "0123456789ab"));
  CHECK(has(run.verify(), "the file has trials that the history lacks: 0123456789ab"));
}

TEST_CASE("rows may be moved, columns aligned, and captions written by hand; a missing row is reported") {
  Papers run;
  for (const auto& [format, last] : {std::pair<std::string, std::string>{"latex", "  \\bottomrule"},
                                     {"typst", "  table.hline(),\n)"},
                                     {"html", "  </tbody>"}}) {
    INFO(format);
    const auto text = run("table study --rows attention --metric test/accuracy --format " + format);
    const auto from = text.rfind('\n', text.find("softmax")) + 1;
    const auto softmax = text.substr(from, text.find('\n', from) + 1 - from);
    const auto without = replaced(text, softmax, "");
    const auto wide = "  " + (format == "latex" ? replaced(softmax, " & ", "     &   ") : softmax);
    run.write(replaced(without, last, wide + last));
    const auto output = run.verify();
    INFO(output);
    CHECK(run.exit_code == 0);
    run.write(without);
    CHECK(has(run.verify(), ": softmax: a row of the history that the file lacks"));
    CHECK(run.exit_code == 1);
    if (format != "html") continue;
    run.write(replaced(text, "<caption>study", "<caption>Ours &amp; theirs"));
    run.verify();
    CHECK(run.exit_code == 0);
  }
}

TEST_CASE("text that Typst reads as part of the table's call is verified; a comment after it may be the author's") {
  Papers run;
  const auto text = run("table study --rows attention --metric test/accuracy --format typst");
  for (const std::string more : {"[ours][99.9 ± 0.1]", "(ours)", ".replace(1)", "/* */[ours]", " [ours] // of //"}) {
    INFO(more);
    run.write(replaced(text, "\n)\n", "\n)" + more + "\n"));
    CHECK(has(run.verify(), ": found )" + more + ", a line that ablate did not write"));
    CHECK(run.exit_code == 1);
  }
  for (const std::string more : {"  ", " // of an author", "//"}) {
    run.write(replaced(text, "\n)\n", "\n)" + more + "\n"));
    run.verify();
    CHECK(run.exit_code == 0);
  }
}

TEST_CASE("the embedded command stays right when experiments are added; a cell of many trials has a digest") {
  Papers run;
  const auto text = run("table --rows attention --format latex");
  CHECK(has(text, "%% ablate [\"table\",\"study\",\"--rows\",\"attention\"]\n"));
  Store store(run.file());
  std::vector<nlohmann::json> many;
  for (int seed = 1; seed <= 25; ++seed) many.push_back(trial("softmax", {}, seed + 100));
  put(store, "other", many);
  for (const auto& one : many) store.put_attempt(done(one, 50));
  run.write(text);
  run.verify();
  CHECK(run.exit_code == 0);
  const auto large = run("table other --rows attention --format latex");
  CHECK(has(large, "2 all 25 "));
  run.write(large);
  run.verify();
  CHECK(run.exit_code == 0);
  put(store, "other", {many.begin(), many.end() - 1});
  CHECK(has(run.verify(), "found trials all 25 "));
  CHECK(run.exit_code == 1);
}

TEST_CASE("no name ends a comment or looks like a row; a table without embedded data, or with damaged data, is refused") {
  Papers run;
  Table table;
  table.request = {"table", "a\nb \"\u2028%"};
  CHECK(request_text(table) == "[\"table\",\"a\\nb \\\"\\u2028%\"]");
  for (const std::string format : {"latex", "typst", "html"}) {
    const auto text = run("table study --rows attention --caption 'a\\\\ % ablate: 1 x' --format " + format);
    INFO(text);
    CHECK(written_tables(text, "a").at(0).rows.size() == 4);
    run.write(text);
    run.verify();
    CHECK(run.exit_code == 0);
  }
  run.write("no table");
  CHECK(has(run.verify(), "paper.tex: found no table that contains its trials, expected a table of"));
  CHECK(run.exit_code == -1);  // the exception's code is 2
  run.write(run("table study --rows attention --format text"));
  CHECK(has(run.verify(), "found no table"));
  run.write("a & 1 \\\\ % ablate: 2 0123456789ab\n");
  CHECK(has(run.verify(), "paper.tex:1: found a row of a table whose command is gone"));
  run.write("%% ablate [\"table\",\"study\",\"--rowz\",\"attention\"]\n");
  CHECK(has(run.verify(), "paper.tex:1: found a command that this ablate does not know"));
  run.write("%% ablate [\"table\",\n");
  CHECK(has(run.verify(), "expected the words of a command"));
}
