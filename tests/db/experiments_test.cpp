// A table of several experiments, which may share trials.
#include <nlohmann/json.hpp>

#include "db/questions/tables/make_table.h"
#include "db/report/printers.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;
using Labels = std::vector<std::vector<std::string>>;

namespace {

/// "first" has softmax and linear. "second" has linear (the same trials) and adamra.
class Two {
 public:
  Two() : store_(file_) {
    std::vector<nlohmann::json> first, second;
    for (int seed = 1; seed <= 2; ++seed) {
      first.push_back(trial("softmax", {}, seed));
      first.push_back(trial("linear", {}, seed));
      second.push_back(trial("linear", {}, seed));
      second.push_back(trial("adamra", {"1/8"}, seed));
    }
    put(store_, "second", second);
    put(store_, "first", first);
    for (int i = 0; i < 4; ++i) store_.put_attempt(done(first[static_cast<std::size_t>(i)], i % 2 == 0 ? 60 + i : 70 + i));
    for (const std::size_t i : {1, 3}) store_.put_attempt(done(second[i], 80 + static_cast<double>(i)));
  }
  Table table(const TableRequest& request) const { return make_table(Reader(file_), request); }

 private:
  Folder folder_;
  std::filesystem::path file_ = folder_ / "a.db";
  Store store_;
};

}  // namespace

TEST_CASE("in a table of several experiments, each is a row, in the order of the command, with all of its trials") {
  const Two two;
  for (const bool named : {false, true}) {
    TableRequest request{.experiments = {"first", "second"}};
    if (named) request.rows = {"attention"};
    const auto table = two.table(request);
    CHECK(table.row_paths.front() == "experiment");
    REQUIRE(table.rows.size() == 4);
    const char* expected[][2] = {{"first", "softmax"}, {"first", "linear"}, {"second", "linear"}, {"second", "adamra"}};
    for (std::size_t r = 0; r < 4; ++r) {
      CHECK(table.rows[r][0] == expected[r][0]);
      CHECK(table.rows[r][1] == expected[r][1]);
      CHECK(table.cell(r, 0, 0).n == 2);
      CHECK(table.cell(r, 0, 0).settings == 1);
    }
    CHECK(table.cell(1, 0, 0).mean == table.cell(2, 0, 0).mean);  // both rows have the same trials
    CHECK(table.cell(1, 0, 0).mean == 72);
    CHECK(table.trials == 8);
  }
  CHECK(two.table({.experiments = {"second", "first"}}).rows.front().front() == "second");
}

TEST_CASE("the experiment is in the columns or is hidden, if the command requests that") {
  const Two two;
  const auto columns = two.table({.experiments = {"first", "second"}, .rows = {"attention"}, .columns = {"experiment"}});
  CHECK(columns.columns == Labels{{"first"}, {"second"}});
  CHECK(columns.rows == Labels{{"softmax"}, {"linear"}, {"adamra"}});
  CHECK(columns.cell(0, 0, 1).trials == 0);
  const auto without = two.table({.experiments = {"first", "second"}, .rows = {"!experiment", "!attention.rates"}});
  CHECK(without.row_paths == std::vector<std::string>{"attention"});
  const auto one = two.table({.experiments = {"first"}, .rows = {"experiment"}});
  CHECK(one.rows == Labels{{"first"}});
  CHECK(two.table({.experiments = {"first"}}).row_paths == std::vector<std::string>{"attention"});
}

TEST_CASE("several experiments are named in the caption, and are a list in JSON") {
  const Two two;
  const auto table = two.table({.experiments = {"first", "second"}});
  CHECK(has(to_text(table, Format::kText), "first, second: 8 trials"));
  const auto json = nlohmann::json::parse(to_text(table, Format::kJson));
  CHECK(json["experiment"] == nlohmann::json{"first", "second"});
  CHECK(nlohmann::json::parse(to_text(two.table({.experiments = {"first"}}), Format::kJson))["experiment"] == "first");
}

TEST_CASE("unknown experiments, and an experiment that is named twice, are refused") {
  const Two two;
  CHECK(has(error_of([&] { two.table({.experiments = {"first", "secnd"}}); }), "did you mean second?"));
  CHECK(has(error_of([&] { two.table({.experiments = {"first", "first"}}); }), "first is named twice"));
  CHECK(has(error_of([&] { two.table({.rows = {"experiment"}}); }), "if experiments are named (`ablate table A B`)"));
}
