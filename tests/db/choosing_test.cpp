// Selection of a table's trials and display of its rows: --where, --rows '!PATH', --sort, --decimals, --rename, --caption,
// --label.
#include <nlohmann/json.hpp>

#include "db/questions/tables/make_table.h"
#include "db/report/printers.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

/// Softmax, and segment-mean at three rates, with two seeds; accuracies 50 to 57.
class Grid {
 public:
  Grid() : file_(folder_ / "a.db"), store_(file_) {
    std::vector<nlohmann::json> trials;
    for (const int seed : {0, 1}) {
      trials.push_back(trial("softmax", {}, seed));
      for (const auto* rate : {"1/2", "1/16", "1/4"}) trials.push_back(trial("segment-mean", {rate}, seed));
    }
    put(store_, "study", trials);
    const double accuracies[] = {50, 52, 56, 54, 51, 53, 57, 55};
    for (std::size_t i = 0; i < trials.size(); ++i) store_.put_attempt(done(trials[i], accuracies[i]));
  }

  Table table(const std::vector<std::string>& where, AskedStatistics statistics = {}) const {
    TableRequest request{.experiments = {"study"}, .where = where};
    request.statistics = std::move(statistics);
    return make_table(Reader(file_), request);
  }
  Table rows(const std::vector<std::string>& rows) const {
    return make_table(Reader(file_), {.experiments = {"study"}, .rows = rows});
  }
  /// Returns the rates of the rows, in order; "-" for softmax.
  std::vector<std::string> rates(const std::vector<std::string>& where, const AskedStatistics& statistics = {},
                                 const std::vector<std::string>& metrics = {}) const {
    TableRequest request{
        .experiments = {"study"}, .rows = {"attention.rates"}, .metrics = metrics, .where = where, .statistics = statistics};
    std::vector<std::string> all;
    for (const auto& row : make_table(Reader(file_), request).rows) all.push_back(row.at(0));
    return all;
  }
  std::string refused(const std::vector<std::string>& where) const {
    return error_of([&] { table(where); });
  }

 private:
  Folder folder_;
  std::filesystem::path file_;
  Store store_;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("where: texts, numbers, rates, sets, ranges, their negation, and comparisons") {
  const Grid grid;
  CHECK((grid.rates({}) == Texts{"-", "1/2", "1/16", "1/4"}));
  CHECK((grid.rates({"attention=softmax"}) == Texts{"-"}));
  CHECK((grid.rates({"attention.plugin=softmax"}) == Texts{"-"}));  // the parameter's path in a study file
  CHECK((grid.rates({"attention!=softmax"}) == Texts{"1/2", "1/16", "1/4"}));
  CHECK((grid.rates({"attention.rates = 0.25"}) == Texts{"1/4"}));
  CHECK((grid.rates({"attention.rates=1/2, 1/16"}) == Texts{"1/2", "1/16"}));
  CHECK((grid.rates({"attention.rates!=1/2,1/16"}) == Texts{"-", "1/4"}));
  CHECK((grid.rates({"attention.rates=1/8..1/2"}) == Texts{"1/2", "1/4"}));
  CHECK((grid.rates({"attention.rates!=1/8..1/2"}) == Texts{"-", "1/16"}));
  CHECK((grid.rates({"attention.rates<1/4"}) == Texts{"1/16"}));
  CHECK((grid.rates({"attention.rates<=1/4"}) == Texts{"1/16", "1/4"}));
  CHECK((grid.rates({"attention.rates>0.25"}) == Texts{"1/2"}));
  CHECK((grid.rates({"attention.rates>=0.25"}) == Texts{"1/2", "1/4"}));
  CHECK((grid.rates({"attention.rates=-"}) == Texts{"-"}));
  CHECK((grid.rates({"attention.rates=-,1/4"}) == Texts{"-", "1/4"}));
  CHECK((grid.rates({"train.shuffle=true", "attention.rates>1/16", "attention.rates<1/2"}) == Texts{"1/4"}));
  const auto table = grid.table({"seed<1"});
  CHECK(table.trials == 4);
  CHECK(table.cells.front().n == 1);
  REQUIRE(!table.notes.empty());
  CHECK(table.notes.front() == "only trials with seed<1: 4 of 8");
}

TEST_CASE("where: an invalid condition is refused with the valid names and values") {
  const Grid grid;
  CHECK(has(grid.refused({"attention"}), "--where attention: expected PATH=VALUE, or !=, <, <=, > or >= between them"));
  CHECK(has(grid.refused({"=softmax"}), "expected PATH=VALUE"));
  CHECK(has(grid.refused({"attention="}), "expected PATH=VALUE"));
  CHECK(has(grid.refused({"attention=sofmax"}), "no trial has attention=sofmax (did you mean softmax?)"));
  CHECK(has(grid.refused({"attention=softmax,sofmax"}), "no trial has attention=sofmax"));
  CHECK(has(grid.refused({"attention=,"}), "found no value"));
  CHECK(has(grid.refused({"atention=softmax"}), "--where: no trial has a parameter \"atention\" (did you mean attention?)"));
  CHECK(has(grid.refused({"attention<3"}), "attention has no numbers (it has softmax, segment-mean)"));
  CHECK(has(grid.refused({"attention=1..2"}), "attention has no numbers"));
  CHECK(has(grid.refused({"attention.rates<few"}), "found few after <, <=, > or >=, expected a number or a rate"));
  CHECK(has(grid.refused({"attention.rates=1/2..1/4"}), "ends below its start"));
  const auto none = grid.refused({"attention=softmax", "attention.rates=1/4"});
  CHECK(has(none, "none of 8 trials has attention=softmax and attention.rates=1/4"));
  const auto both = grid.refused({"attention=sofmax", "atention=softmax"});  // all errors at once
  CHECK((has(both, "sofmax") && has(both, "atention")));
}

TEST_CASE("rows: all parameters that vary, except parameters excluded with !") {
  const Grid grid;
  CHECK((grid.rows({"!attention.rates"}).row_paths == Texts{"attention"}));
  CHECK((grid.rows({"!attention"}).row_paths == Texts{"attention.rates"}));
  CHECK(has(error_of([&] { grid.rows({"!atention"}); }), "--rows: no trial has a parameter \"atention\""));
  CHECK(has(error_of([&] { grid.rows({"attention", "!attention.rates"}); }), "found attention beside !attention.rates"));
}

TEST_CASE("sort: rows by a metric, the best first, or by a parameter, numbers as numbers") {
  const Grid grid;
  CHECK((grid.rates({}, {{"sort", {"test/accuracy"}}}) == Texts{"1/16", "1/4", "1/2", "-"}));
  CHECK((grid.rates({}, {{"sort", {"attention.rates"}}}) == Texts{"1/16", "1/4", "1/2", "-"}));
  const auto table = grid.table({}, {{"sort", {"test/accuracy"}}, {"against", {"attention=softmax"}}});
  CHECK(table.cell(0, 0, 0).mean == 56.5);  // the numbers move with their rows
  CHECK(table.cell(3, 0, 0).comparison().significance == Comparison::Significance::kReference);
  CHECK(table.rows[3][0] == "softmax");
  CHECK(has(error_of([&] { grid.rates({}, {{"sort", {"test/acuracy"}}}); }), "did you mean test/accuracy?"));
  CHECK((grid.rates({}, {{"sort", {"train/step_time"}}}, {"train/step_time"}) ==
         Texts{"1/16", "1/4", "1/2", "-"}));  // the smallest cost is the best
}

TEST_CASE("decimals: exactly the requested number, for any uncertainty") {
  const Grid grid;
  CHECK(has(to_text(grid.table({}, {{"decimals", {"3"}}}), Format::kText), "50.500 ± 0.707"));
  CHECK(has(to_text(grid.table({}, {{"decimals", {"0"}}}), Format::kText), "50 ± 1"));
}

TEST_CASE("rename: output for people has the new names, data keep the old names, and an unknown name is refused") {
  const Grid grid;
  const auto table = grid.table({}, {{"rename", {"segment-mean=Seg. mean", "attention.rates=$r$", "test/accuracy=Acc=uracy"}}});
  const auto text = to_text(table, Format::kText);
  CHECK((has(text, "Seg. mean") && has(text, "$r$") && has(text, "Acc=uracy (%)") && !has(text, "segment-mean")));
  CHECK(has(to_text(table, Format::kLatex), "\\$r\\$"));  // plain text, not a formula
  CHECK(has(to_text(table, Format::kCsv), "segment-mean"));
  CHECK(has(to_text(table, Format::kJson), "\"segment-mean\""));
  const auto refused = [&](const Texts& names) { return error_of([&] { grid.table({}, {{"rename", names}}); }); };
  CHECK(has(refused({"segment-maen=x"}), "the table shows no segment-maen (did you mean segment-mean?)"));
  CHECK(has(refused({"segment-mean"}), "expected NAME=TEXT"));
  CHECK(has(refused({"softmax=a", "softmax=b"}), "softmax has another text already, a"));
}

TEST_CASE("caption and label: a floating table, in which hostile text is escaped") {
  const Grid grid;
  const AskedStatistics asked = {{"caption", {"50 % of_all <b>"}}, {"label", {"tab:main"}}};
  const auto table = grid.table({}, asked);
  const auto latex = to_text(table, Format::kLatex);
  CHECK(has(latex, "\\begin{table}\n\\centering\n\\caption{50 \\% of\\_all $<$b$>$}\n\\label{tab:main}\n\\begin{tabular}"));
  CHECK(has(latex, "\\end{tabular}\n\\end{table}\n"));
  const auto typst = to_text(table, Format::kTypst);
  CHECK((has(typst, "#figure(caption: [50 % of\\_all \\<b\\>])[\n#table(")));
  CHECK(has(typst, ")\n] <tab:main>\n"));
  CHECK(has(to_text(table, Format::kHtml),
            "<table class=\"ablate\" id=\"tab:main\">\n  <caption>50 % of_all &lt;b&gt;</caption>"));
  CHECK(to_text(table, Format::kText).starts_with("50 % of_all <b>\n"));
  CHECK(has(to_text(grid.table({}), Format::kLatex), "\\begin{table}") == false);
  CHECK(has(error_of([&] { grid.table({}, {{"label", {"tab:main"}}}); }), "give --caption TEXT"));
}
