// The tables that tools/results-page writes into docs/results.md show the answers that `ablate claims` gives from the raw
// cells.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "core/host/study/claims.h"
#include "tests/db/pages.h"

using namespace ablate;
using namespace ablate::db;

namespace {

namespace fs = std::filesystem;
using Row = std::vector<std::string>;

const char* const kRoot = ABLATE_SOURCE_DIR;

/// Answer to a claim, as texts of a Markdown table.
struct Answer {
  std::string problem, effect, n_and_p, floor, verdict, study;
  bool operator==(const Answer&) const = default;
  std::string text() const {
    return problem + " | " + effect + " | " + n_and_p + " | " + floor + " | " + verdict + " | " + study;
  }
};

/// A row of the page with its place.
struct PageRow {
  std::string section;
  Row fields;  ///< problem, answer, effect, n and p, floor, a field that depends on the section, study
};

/// Returns the rows between the marks of tools/results-page.
std::vector<PageRow> rows_of_page(const std::string& page) {
  const auto begin = page.find("<!-- tools/results-page writes from here -->"), end = page.find("<!-- to here -->");
  REQUIRE(begin < end);
  REQUIRE(end != std::string::npos);
  std::istringstream in(page.substr(begin, end - begin));
  std::vector<PageRow> rows;
  std::string section;
  int line_of_table = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) section = line.substr(3);
    line_of_table = line.starts_with("|") ? line_of_table + 1 : 0;
    if (line_of_table <= 2) continue;  // the header and the line below it
    rows.push_back({section, fields_of(line)});
    INFO(line);
    REQUIRE(rows.back().fields.size() == 7);
  }
  return rows;
}

/// Returns the verdict of a row: "holds only at 600 steps" for "only at 600 steps, length 64" in the section of answers.
std::string verdict_of(const PageRow& row) {
  if (row.section == "Asked and not decided") return "undecided";
  if (row.section == "Refuted") return "refuted";
  if (row.section == "Below the floor") return row.fields[5];
  CHECK(row.section == "Answers");
  const auto text = row.fields[5].substr(0, row.fields[5].find(','));
  return text == "holds" ? text : "holds " + text;
}

/// Returns the answer that a row of the page gives to a claim. Checks that the row's study links to an existing page.
Answer answer_of(const PageRow& row) {
  const auto& study = row.fields[6];
  const auto name_end = study.find("](");
  REQUIRE(name_end != std::string::npos);
  CHECK(fs::exists(fs::path(kRoot) / "docs" / study.substr(name_end + 2, study.size() - name_end - 3)));
  return {.problem = row.fields[0],
          .effect = row.fields[2],
          .n_and_p = row.fields[3],
          .floor = row.fields[4] == "unchecked" ? "" : row.fields[4],
          .verdict = verdict_of(row),
          .study = study.substr(1, name_end - 1)};
}

/// Imports the raw cells of all studies that make claims, and returns the answers.
std::vector<Answer> answers_of_cells() {
  std::vector<Answer> answers;
  Imports run;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(kRoot) / "experiments")) {
    if (entry.path().extension() != ".toml") continue;
    const auto study = claims_of(content(entry.path()), entry.path(), {});
    const auto cells = "experiments/results/" + study.name + ".csv";
    if (study.claims.empty() || !fs::exists(fs::path(kRoot) / cells)) continue;
    INFO(study.name);
    import_cells(run, cells);
    std::istringstream in(run("claims " + entry.path().string() + " --format markdown"));
    REQUIRE(run.exit_code == 0);
    std::size_t lines = 0;
    for (std::string line; std::getline(in, line);) {
      if (++lines <= 2) continue;  // the header and the line below it
      const auto fields = fields_of(line);
      REQUIRE(fields.size() == 7);
      CHECK(fields[6] == study.name);
      answers.push_back({fields[0], fields[2], fields[3], fields[4], fields[5], fields[6]});
    }
    CHECK(lines == study.claims.size() + 2);
  }
  return answers;
}

}  // namespace

TEST_CASE("the page of answers has the answer to every claim, and no other row") {
  const auto page = content(fs::path(kRoot) / "docs/results.md");
  const auto rows = rows_of_page(page);
  const auto answers = answers_of_cells();
  REQUIRE_FALSE(rows.empty());
  CHECK(rows.size() == answers.size());
  std::vector<Answer> shown;
  for (const auto& row : rows) shown.push_back(answer_of(row));
  for (const auto& one : shown) {
    INFO("on the page, but no answer of `ablate claims`; run tools/results-page: " << one.text());
    CHECK(std::count(answers.begin(), answers.end(), one) == 1);
  }
  for (const auto& one : answers) {
    INFO("an answer of `ablate claims`, but not exactly once on the page; run tools/results-page: " << one.text());
    CHECK(std::count(shown.begin(), shown.end(), one) == 1);
  }
}

TEST_CASE("an answer on the page names the direction of its effect") {
  for (const auto& row : rows_of_page(content(fs::path(kRoot) / "docs/results.md"))) {
    if (row.section != "Answers" || has(row.fields[1], " within ")) continue;
    INFO(row.fields[1] << ": " << row.fields[2]);
    CHECK(has(row.fields[1], row.fields[2].starts_with("-") ? " smaller than " : " greater than "));
  }
}

TEST_CASE("the page of answers has at most 900 words") {
  std::istringstream in(content(fs::path(kRoot) / "docs/results.md"));
  std::size_t words = 0;
  for (std::string word; in >> word;) ++words;
  CHECK(words <= 900);
}
