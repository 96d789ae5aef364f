// Growth of times with the sequence length.
#include <cmath>
#include <nlohmann/json.hpp>

#include "db/report/printers.h"
#include "tests/db/costs.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("exponents are slopes of logarithms, for measured and for published times") {
  const Costs costs;
  auto asked = request({"attention"}, {"task.length"});
  asked.statistics["exponent"], asked.published = true;
  const auto table = costs.table(asked);
  REQUIRE(table.row_facts.size() == 2);
  CHECK(table.row_facts[0].value == Approx(2));
  CHECK(table.row_facts[1].value == Approx(1));
  CHECK(table.row_facts[0].published == Approx(1));
  CHECK(table.row_facts[1].published == Approx(0).margin(1e-12));
  CHECK(has(to_text(table, Format::kText), "exponent  published"));
  CHECK(has(to_text(table, Format::kCsv), "softmax,,train/step_time exponent,,"));
  CHECK(table.row_facts[0].points == 3);
  const auto json = nlohmann::json::parse(to_text(table, Format::kJson));
  CHECK(json["exponents"][1]["row"]["attention"] == "adamra");
  CHECK(json["exponents"][1]["exponent"].get<double>() == Approx(1));
  CHECK(json["cells"][0]["published"] == 200);
}

TEST_CASE("an exponent of times that spread widely is marked, and has no more digits than these times allow") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  std::vector<nlohmann::json> trials;
  for (const auto* attention : {"softmax", "linear"})
    for (const int length : {100, 200, 400}) trials.push_back(at_length(attention, {}, length));
  put(store, "study", trials);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    auto attempt =
        took(trials[i], i < 3 ? std::pow(2.0, 2.0 * static_cast<double>(i)) : 3 * std::pow(2.0, static_cast<double>(i)));
    attempt.results["train/step_spread"] = i < 3 ? 1 : 30;
    store.put_attempt(attempt);
  }
  auto asked = request({"attention"}, {"task.length"});
  asked.statistics["exponent"];
  const auto table = make_table(Reader(file), asked);
  REQUIRE(table.row_facts.size() == 2);
  CHECK_FALSE(table.row_facts[0].unsettled);
  CHECK(table.row_facts[1].unsettled);
  // With three equally spaced logarithms, only the outer two count, each with the weight 1 / (2 ln 2).
  CHECK(table.row_facts[0].uncertainty == Approx(0.01 / std::sqrt(2.0) / std::log(2.0)));
  CHECK(table.row_facts[1].uncertainty == Approx(0.30 / std::sqrt(2.0) / std::log(2.0)));
  const auto text = to_text(table, Format::kMarkdown);
  CHECK(has(text, "| 2.00 |\n"));
  CHECK(has(text, "| ~1.0 |\n"));
  const auto exponents = nlohmann::json::parse(to_text(table, Format::kJson))["exponents"];
  CHECK(exponents[1]["unsettled"] == true);
}
