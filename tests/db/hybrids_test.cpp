// Attentions that consist of several attentions: names of their rows and attempts.
#include <nlohmann/json.hpp>

#include "db/questions/attempts/list_attempts.h"
#include "db/questions/tables/make_table.h"
#include "db/report/printers.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

using nlohmann::json;
using Labels = std::vector<std::vector<std::string>>;

json with(const json& attention, int seed = 1) {
  auto resolved = trial("softmax", {}, seed);
  resolved["attention"] = attention;
  return resolved;
}

const json kLinear = {{"plugin", "linear"}, {"heads", 1}}, kSoftmax = {{"plugin", "softmax"}, {"heads", 1}};

/// Returns a mixture of local attention and another attention.
json mixed(const json& other, int window = 4) {
  return {{"plugin", "mixed"}, {"parts", {{{"plugin", "local"}, {"heads", 1}, {"window", window}}, other}}};
}

struct History {
  Folder folder;
  std::filesystem::path file = folder / "a.db";
  Store store{file};

  explicit History(const std::vector<json>& attentions) {
    std::vector<json> trials;
    for (const auto& attention : attentions) trials.push_back(with(attention));
    put(store, "study", trials);
    for (const auto& one : trials) store.put_attempt(done(one, 60));
  }
  Table table(const TableRequest& request = {{"study"}, {}, {}, {}}) const { return make_table(Reader(file), request); }
};

}  // namespace

TEST_CASE("a row with several layers or parts has all their names") {
  const History history(
      {kSoftmax, kLinear, json::array({kLinear, kSoftmax}), mixed(kLinear), json::array({mixed(kLinear), kSoftmax})});
  const auto table = history.table();
  CHECK(table.row_paths == std::vector<std::string>{"attention"});
  CHECK(table.rows ==
        Labels{{"softmax"}, {"linear"}, {"linear / softmax"}, {"mixed(local, linear)"}, {"mixed(local, linear) / softmax"}});
  CHECK(table.row_values[2][0] == "linear / softmax");
  CHECK(has(to_text(table, Format::kCsv), "\n\"mixed(local, linear)\",test/accuracy,%,60,"));
  CHECK(history.table({.experiments = {"study"}, .statistics = {{"baseline", {"attention=linear / softmax"}}}})
            .cell(0, 0, 0)
            .number("ratio") == 1);

  const auto list = list_attempts(Reader(history.file), {});
  REQUIRE(list.lines.size() == 5);
  CHECK(list.lines[0].label == "attention=mixed(local, linear) / softmax");
  CHECK(list.lines[4].label == "attention=softmax");
}

TEST_CASE("the parts of an attention can be named in --rows, and parts that vary are shown") {
  const History history({kSoftmax, mixed(kLinear), mixed(kLinear, 8), mixed(kSoftmax)});
  const auto table = history.table();
  CHECK(table.row_paths == std::vector<std::string>{"attention", "attention.parts.0.window"});
  CHECK(table.rows ==
        Labels{{"softmax", "-"}, {"mixed(local, linear)", "4"}, {"mixed(local, linear)", "8"}, {"mixed(local, softmax)", "4"}});
  CHECK(history.table({{"study"}, {"attention.parts.1"}, {}, {}}).rows == Labels{{"-"}, {"linear"}, {"softmax"}});
}

TEST_CASE("layers are listed in order, and the attention can be named even if all trials have lists") {
  json twelve = json::array();
  for (int i = 0; i < 12; ++i) twelve.push_back(i == 2 ? kSoftmax : kLinear);
  const History history(std::vector<json>{twelve});
  const auto rows = history.table({{"study"}, {"attention"}, {}, {}}).rows;
  CHECK(rows ==
        Labels{{"linear / linear / softmax / linear / linear / linear / linear / linear / linear / linear / linear / linear"}});
}
