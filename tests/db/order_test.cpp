// An experiment's table does not depend on the order in which its runs were written.
#include <algorithm>
#include <random>

#include "db/questions/tables/make_table.h"
#include "db/report/printers.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

std::vector<nlohmann::json> grid() {
  std::vector<nlohmann::json> trials;
  for (const auto* attention : {"softmax", "adamra", "linear"})
    for (const auto* rate : {"1/2", "1/4"})
      for (int seed = 1; seed <= 3; ++seed) trials.push_back(trial(attention, {rate}, seed));
  return trials;
}

/// Attempts at a grid: the third trial failed, and the fourth was tried twice.
std::vector<Attempt> attempts() {
  std::vector<Attempt> all;
  const auto trials = grid();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    all.push_back(i == 2 ? failed(trials[i], "out of memory") : done(trials[i], 50 + 0.37 * static_cast<double>(i * i % 11)));
    all.back().started_us += static_cast<std::int64_t>(i);
    if (i == 3) all.push_back(failed(trials[i], "signal 11"));
  }
  return all;
}

/// Returns one table in four formats. The history's grid is `listed`, and `ran` has its attempts in the order of writing.
/// @param whole true for a table of all experiments
std::string table_of(const std::vector<nlohmann::json>& listed, const std::vector<Attempt>& ran, bool whole) {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  put(store, "study", listed);
  for (const auto& attempt : ran) store.put_attempt(attempt);
  TableRequest request;
  if (!whole) request.experiments = {"study"};
  request.rows = {"attention", "attention.rates"};
  std::string text;
  const auto table = make_table(Reader(file), request);
  for (const auto* format : {"text", "csv", "latex", "html"}) text += to_text(table, format_from_name(format));
  return text;
}

}  // namespace

TEST_CASE("a table does not depend on the order in which runs were written") {
  for (const bool whole : {false, true}) {
    const auto expected = table_of(grid(), attempts(), whole);
    CHECK(has(expected, "1/3: out of memory"));
    std::mt19937 random(1);
    for (int round = 0; round < 10; ++round) {
      auto ran = attempts();
      std::shuffle(ran.begin(), ran.end(), random);
      CHECK(table_of(grid(), ran, whole) == expected);
    }
  }
}

TEST_CASE("a cell's numbers do not depend on the order in which trials were listed") {
  auto listed = grid();
  // In each row the seeds are reversed. The rows keep their order.
  for (std::size_t row = 0; row < listed.size(); row += 3) std::swap(listed[row], listed[row + 2]);
  CHECK(table_of(listed, attempts(), true) == table_of(grid(), attempts(), true));
}
