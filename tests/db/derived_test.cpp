// Derived values, contrasts, and the share of layers that have an attention: parts of [table.NAME] besides rows and metrics.
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/util/error.h"
#include "db/questions/tables/make_table.h"
#include "db/questions/tables/table_options.h"
#include "db/report/expression.h"
#include "db/report/printers.h"
#include "tests/db/seeds_study.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;
using Significance = Comparison::Significance;

namespace {

using Numbers = std::vector<double>;

Numbers values(const std::string& text, const std::map<std::string, Numbers>& of) {
  return Expression(text).values(of.begin()->second.size(),
                                 [&](const std::string& name) -> const Numbers& { return of.at(name); });
}

/// Returns the message of the Error that the call throws; "" if it throws none.
template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string refusal(const std::string& text) {
  return message_of([&] { Expression{text}; });
}

/// Returns a table of one column. Each number is both a published number and the result of a single seed.
Table table_of(const std::vector<std::string>& rows, const std::map<std::string, Numbers>& metrics) {
  Table table;
  table.row_paths = {"attention"}, table.columns = {{}}, table.column_values = {{}};
  for (const auto& row : rows) table.rows.push_back({row}), table.row_values.push_back({row});
  for (const auto& [name, unused] : metrics) table.metrics.emplace_back().name = name;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (const auto& [unused, numbers] : metrics) {
      auto& cell = table.cells.emplace_back();
      cell.trials = 1, cell.samples = {{1, numbers[r]}}, cell.published = numbers[r];
    }
  return table;
}

}  // namespace

TEST_CASE("expressions follow the precedence of arithmetic, and have functions over the rows") {
  const std::map<std::string, Numbers> of = {{"test/a", {1, 2, 5}}, {"b", {4, 4, 8}}};
  CHECK((values("1 + 2 * test/a - b / 4", of) == Numbers{2, 4, 9}));
  CHECK((values("(1 + 2) * test/a", of) == Numbers{3, 6, 15}));
  CHECK((values("8 - 4 - 2 + b * 0", of) == Numbers{2, 2, 2}));
  CHECK((values("-b + 10", of) == Numbers{6, 6, 2}));
  CHECK((values("minmax(test/a)", of) == Numbers{0, 0.25, 1}));
  CHECK((values("rank(b)", of) == Numbers{1.5, 1.5, 3}));
  CHECK((values("rank(-test/a)", of) == Numbers{3, 2, 1}));
  CHECK((values("max(test/a) - min(test/a) + mean(b) * 0", of) == Numbers{4, 4, 4}));
  CHECK((values("round(b / 3, 1)", of) == Numbers{1.3, 1.3, 2.7}));
  CHECK(values("log(b)", of)[0] == Approx(1.3862943611198906));
  // If a number is missing, the derived value is missing, too. Functions over the rows ignore missing numbers.
  const std::map<std::string, Numbers> gap = {{"a", {1, NAN, 3}}};
  CHECK(std::isnan(values("minmax(a)", gap)[1]));
  CHECK(values("minmax(a)", gap)[2] == 1);
  CHECK(values("a - mean(a)", gap)[0] == -1);
  CHECK(std::isnan(values("1 / (a - 1)", gap)[0]));
  CHECK(std::isnan(values("log(a - 2)", gap)[0]));
}

TEST_CASE("an invalid expression is refused at the position of its fault") {
  CHECK(has(refusal("1 +"), "found the end at character 4, expected a number, a metric, a function or '('"));
  CHECK(has(refusal("(a"), "found the end at character 3, expected ')'"));
  CHECK(has(refusal("a b"), "found 'b' at character 3, expected an operator"));
  CHECK(
      has(refusal("mnmax(a)"), "expected a function, one of round, min, max, mean, minmax, rank, log (did you mean minmax?)"));
  CHECK(has(refusal("round(a)"), "expected ','"));
  CHECK(has(refusal("round(a, 1.5)"), "found '1.5)' at character 10, expected a whole number of decimals from 0 to 12"));
  CHECK(has(refusal(std::string(200, '(')), "at most 100 parentheses"));
  CHECK(has(refusal(std::string(2000, '1')), "at most 1000"));
  CHECK(has(refusal(""), "found the end at character 1"));
}

// AdaMRA (arXiv 2108.04962), Table 3 and Eq. 10: SMAT = S_norm + (1 - M_norm) + Acc_norm. Min and max are over the rows.
TEST_CASE("SMAT of the published numbers is the published SMAT") {
  const Numbers smat = {0.54, 1.43, 1.37, 1.61, 2.48, 1.67, 1.54, 2.76};
  const std::map<std::string, Numbers> published = {{"speed", {14.5, 36.4, 80.0, 111.1, 200.0, 142.9, 57.1, 160.0}},
                                                    {"memory", {6645, 2917, 2023, 2003, 1353, 1439, 2687, 1475}},
                                                    {"score", {58.77, 59.43, 55.04, 55.59, 58.20, 53.63, 58.95, 63.09}}};
  auto table =
      table_of({"softmax", "sparse", "reformer", "linformer", "linear", "performer", "nystromformer", "adamra"}, published);
  run_statistics({{"derive",
                   {"SMAT = minmax(speed) + (1 - minmax(memory)) + minmax(score)",
                    "rounded = round(round(minmax(speed), 2) + (1 - round(minmax(memory), 2)) + round(minmax(score), 2), 2)"}}},
                 table);
  REQUIRE(table.metrics.size() == 5);
  CHECK(table.metrics[3].name == "SMAT");
  for (std::size_t r = 0; r < smat.size(); ++r) {
    INFO(table.rows[r][0]);
    CHECK(table.cell(r, 3, 0).published == Approx(smat[r]).margin(0.01));
    CHECK(table.cell(r, 3, 0).mean == table.cell(r, 3, 0).published);  // table_of uses the same numbers for both
    CHECK(table.cell(r, 4, 0).published == Approx(smat[r]).margin(1e-9));
  }
  CHECK(notes(table, "SMAT = minmax(speed) + (1 - minmax(memory)) + minmax(score), of the means in each column"));
}

TEST_CASE("a derived value is computed for each seed that all its metrics have") {
  auto table = table_of({"a"}, {{"x", {0}}, {"y", {0}}});
  table.cells[0].samples = {{1, 10}, {2, 20}, {3, 30}};
  table.cells[1].samples = {{3, 5}, {2, 4}};
  run_statistics({{"derive", {"ratio = x / y"}}}, table);
  const auto& cell = table.cell(0, 2, 0);
  REQUIRE(cell.samples.size() == 2);
  CHECK(cell.n == 2);
  CHECK(cell.mean == Approx(5.5));
  CHECK(cell.deviation == Approx(std::sqrt(0.5)));
  CHECK(table.cell(0, 0, 0).mean == 20);  // metrics that are not derived stay in place
  CHECK(table.cell(0, 1, 0).mean == 4.5);
}

TEST_CASE("a row in which no seed has all metrics has no derived value, and other rows have one") {
  auto table = table_of({"failed", "apart", "done"}, {{"x", {0, 1, 8}}, {"y", {0, 1, 2}}});
  table.cells[0].samples.clear(), table.cells[1].samples.clear();
  table.cells[2].samples = {{1, 10}}, table.cells[3].samples = {{2, 5}};
  run_statistics({{"derive", {"ratio[min] = x / y"}}, {"sort", {"ratio"}}}, table);
  CHECK(table.rows.front().front() == "done");
  CHECK(table.cell(0, 2, 0).mean == 4);
  for (const std::size_t row : {1, 2}) CHECK(table.cell(row, 2, 0).n == 0);
}

TEST_CASE("an impossible derived value is refused with its name") {
  const auto refused = [](const std::string& value) {
    auto table = table_of({"a"}, {{"test/accuracy", {1}}});
    return message_of([&] { run_statistics({{"derive", {value}}}, table); });
  };
  CHECK(has(refused("test/accuracy / 2"), "expected NAME = EXPRESSION"));
  CHECK(has(refused("x = test/acuracy"), "expected one of the table's metrics (test/accuracy) (did you mean test/accuracy?)"));
  CHECK(has(refused("x = 1"), "names no metric"));
  CHECK(has(refused("test/accuracy = test/accuracy"), "has a metric of this name"));
  CHECK(has(refused("x = 1 +"), "--derive x: 1 +: found the end"));
}

TEST_CASE("only the named contrasts are tested and corrected") {
  const Study study({{"softmax", kEight}, {"above", plus(kEight, 2)}, {"below", plus(kEight, -1)}, {"other", plus(kEight, 3)}});
  const auto asked = [&](const std::vector<std::string>& rows) { return study.table_with({{"contrasts", rows}}); };
  const auto table = asked({"attention=above", "attention=softmax", "attention=below", "attention=softmax"});
  REQUIRE(table.pairs.size() == 2);
  CHECK(table.comparisons == 2);
  CHECK(table.pairs[0].difference().significance == Significance::kBetter);
  CHECK(table.pairs[0].difference().value == Approx(2));
  CHECK(table.pairs[0].difference().p == Approx(1.0 / 128));
  CHECK(table.pairs[0].difference().p_holm == Approx(2.0 / 128));  // for two comparisons, though there are four rows
  CHECK(table.pairs[1].difference().significance == Significance::kWorse);
  for (const auto& cell : table.cells) CHECK(cell.comparison().significance == Significance::kNone);
  CHECK(notes(table, "contrasts: * the first is better, - worse than the second, at 5 % over 2 comparisons (Holm)"));
  const auto text = to_text(table, Format::kText);
  CHECK(has(text, "first  second   difference"));
  CHECK(has(text, "above  softmax  "));
  CHECK(has(to_text(table, Format::kCsv), "above,test/accuracy less attention=softmax,"));
  const auto json = nlohmann::json::parse(to_text(table, Format::kJson));
  CHECK(json["contrasts"][1]["first"]["attention"] == "below");
  CHECK(json["contrasts"][1]["against"]["significance"] == "worse");
  CHECK(has(to_text(table, Format::kLatex), "contrasts"));

  CHECK(has(message_of([&] { asked({"attention=above", "attention=above"}); }), "found one row twice"));
  CHECK(has(message_of([&] {
              asked({"attention=above", "attention=softmax", "attention=softmax", "attention=above"});
            }),
            "found this pair twice"));
  CHECK(has(message_of([&] { asked({"attention=abov", "attention=softmax"}); }), "did you mean attention=above"));
}

TEST_CASE("a row of a contrast is named by as many parameters as are necessary") {
  Folder folder;
  Store store(folder / "a.db");
  std::vector<nlohmann::json> trials;
  for (int seed = 1; seed <= 3; ++seed)
    for (const auto* rate : {"1/2", "1/4"}) {
      trials.push_back(trial("adamra", {rate}, seed));
    }
  for (int seed = 1; seed <= 3; ++seed) trials.push_back(trial("softmax", {}, seed));
  put(store, "study", trials);
  for (const auto& one : trials) store.put_attempt(done(one, 50));
  const auto asked = [&](const std::string& first) {
    TableRequest request{.experiments = {"study"}, .metrics = {"test/accuracy"}};
    request.statistics["contrasts"] = {first, "attention=softmax"};
    return make_table(Reader(folder / "a.db"), request);
  };
  CHECK((asked("attention=adamra attention.rates=1/4").pairs.at(0).first == std::vector<std::string>{"adamra", "1/4"}));
  CHECK_THROWS_AS(asked("attention=adamra"), Error);
}

TEST_CASE("the share of layers that have an attention can be an axis") {
  Folder folder;
  Store store(folder / "a.db");
  const auto layers = [](const std::vector<std::string>& names) {
    auto one = trial("linear", {}, 1);
    one["attention"] = nlohmann::json::array();
    for (const auto& name : names) one["attention"].push_back({{"plugin", name}});
    return one;
  };
  const std::vector<nlohmann::json> trials = {trial("linear", {}, 1), trial("softmax", {}, 1), layers({"linear", "softmax"}),
                                              layers({"softmax", "linear", "linear", "linear"})};
  put(store, "study", trials);
  for (std::size_t i = 0; i < trials.size(); ++i) store.put_attempt(done(trials[i], 10.0 * static_cast<double>(i + 1)));
  TableRequest request{.experiments = {"study"}, .rows = {"share(softmax)"}, .metrics = {"test/accuracy"}};
  const auto table = make_table(Reader(folder / "a.db"), request);
  CHECK((table.rows == std::vector<std::vector<std::string>>{{"0"}, {"1"}, {"1/2"}, {"1/4"}}));
  CHECK(table.cell(2, 0, 0).mean == 30);
  CHECK(table.row_values[3][0] == 0.25);
  request.where = {"share(softmax)>=1/2"};
  CHECK(make_table(Reader(folder / "a.db"), request).rows.size() == 2);
  request = {.experiments = {"study"}, .rows = {"share(local)"}};
  CHECK(has(message_of([&] { make_table(Reader(folder / "a.db"), request); }), "no trial has a layer of local"));
}

TEST_CASE("each option of a table can be set by its name") {
  for (const auto& option : table_options()) {
    TableRequest request;
    ask(request, option.name, {"a"});
    const bool own = !request.rows.empty() || !request.columns.empty() || !request.metrics.empty() || !request.where.empty() ||
                     request.published;
    CHECK((own || request.statistics.contains(option.name)));
    CHECK_FALSE((own && request.statistics.contains(option.name)));
  }
}
