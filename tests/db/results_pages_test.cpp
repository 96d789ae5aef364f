// The commands above the tables of experiments/results/*.md and docs/results-attentions.md print these tables again from the
// raw cells of experiments/results.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/db/pages.h"

using namespace ablate;
using namespace ablate::db;

namespace {

using nlohmann::json;
using Row = std::vector<std::string>;

/// A section of a page: its commands, and the rows of its first table.
struct Section {
  std::vector<std::string> commands;
  std::vector<Row> rows;
};

/// Returns a section's lines, and "" at its end. A command that continues in the next line becomes one line.
/// @param page path from the root of the source tree
/// @param heading beginning of the page's title or of a section's heading
std::vector<std::string> lines_of(const std::string& page, const std::string& heading) {
  std::istringstream in(content(std::filesystem::path(ABLATE_SOURCE_DIR) / page));
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# ") || line.starts_with("## ")) inside = line.substr(line.find(' ') + 1).starts_with(heading);
    if (!inside) continue;
    std::string more;
    while (line.starts_with("    ablate ") && line.ends_with(" \\") && std::getline(in, more))
      line = line.substr(0, line.size() - 1) + more.substr(more.find_first_not_of(' '));
    lines.push_back(line);
  }
  REQUIRE_FALSE(lines.empty());
  lines.emplace_back();
  return lines;
}

/// Returns "table quickstart" for "    ablate table quickstart  # why".
std::string command_of(const std::string& line) { return line.substr(11, line.find("  #") - 11); }

Section section(const std::string& page, const std::string& heading) {
  Section found;
  bool table_ended = false;
  for (const auto& line : lines_of(page, heading)) {
    if (line.starts_with("    ablate ")) found.commands.push_back(command_of(line));
    if (line.starts_with("| ") && !table_ended) found.rows.push_back(fields_of(line));
    table_ended = table_ended || (!found.rows.empty() && line.empty());
  }
  REQUIRE(found.rows.size() > 1);
  found.rows.erase(found.rows.begin());  // the header
  return found;
}

/// Returns the rows of a Markdown table, without the text around it.
std::string rows_of(const std::string& answer) {
  std::istringstream in(answer);
  std::string rows;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("|")) rows += line + "\n";
  return rows;
}

/// Imports the files of a section, and runs the commands for its tables.
class Pages : public Imports {
 public:
  explicit Pages(const Section& section) {
    for (const auto& command : section.commands) {
      if (command.starts_with("import ")) {
        import_cells(*this, command.substr(7));
        imported_ = true;
      } else if (command.starts_with("table ") && imported_) {
        const auto answer = json::parse((*this)(command + " --format json"));
        cells_.insert(cells_.end(), answer["cells"].begin(), answer["cells"].end());
        CHECK(has(answer["notes"].dump(), "they did not run here"));
      }
    }
    REQUIRE(imported_);
  }

  /// Returns the cells of a metric, in order. Skips cells whose row and column lack one of these parameter values.
  std::vector<json> cells(const std::string& metric, const json& values) const {
    std::vector<json> found;
    for (const auto& cell : cells_) {
      auto all = cell["row"];
      all.update(cell["column"]);
      const auto is_so = [&](const auto& item) { return all.contains(item.key()) && all[item.key()] == item.value(); };
      const auto items = values.items();
      if (cell["metric"] == metric && std::all_of(items.begin(), items.end(), is_so)) found.push_back(cell);
    }
    return found;
  }

 private:
  bool imported_ = false;
  std::vector<json> cells_;
};

int decimals_of(const std::string& number) {
  const auto point = number.find('.');
  return point == std::string::npos ? 0
                                    : static_cast<int>(number.find_first_not_of("0123456789", point + 1) == std::string::npos
                                                           ? number.size() - point - 1
                                                           : number.find_first_not_of("0123456789", point + 1) - point - 1);
}

/// Formats a cell in the form of `there`: mean and deviation "70.5 ± 2.9", sorted values of seeds "99.9, 78.2", or mean "43".
std::string as_there(const json& cell, const std::string& there) {
  const int decimals = decimals_of(there);
  if (there.find("±") != std::string::npos)
    return fmt::format("{:.{}f} ± {:.{}f}", cell["mean"].get<double>(), decimals, cell["sd"].get<double>(), decimals);
  if (there.find(", ") == std::string::npos) return fmt::format("{:.{}f}", cell["mean"].get<double>(), decimals);
  std::vector<double> outcomes;
  for (const auto& sample : cell["samples"]) outcomes.push_back(sample[1].get<double>());
  std::sort(outcomes.rbegin(), outcomes.rend());
  std::string text;
  for (const auto value : outcomes) text += fmt::format("{}{:.{}f}", text.empty() ? "" : ", ", value, decimals);
  return text;
}

/// Returns "delta" for "delta (4 tokens)", "infinity" for "infinity x rbf, causal".
std::string plugin_of(const std::string& label) { return label.substr(0, label.find_first_of(" ,")); }

/// Returns 4 for "based (4 tokens)", 0 for a label with "(none)", and null for a label without a convolution.
json convolution_of(const std::string& label) {
  if (has(label, "(none)")) return 0;
  const auto at = label.find(" token");
  return at == std::string::npos ? json(nullptr) : json(std::stoi(label.substr(label.find('(') + 1)));
}

/// Compares fields of a row (`metrics`: column and metric of each) with cells of these settings. False if a cell is missing.
bool compare(const Pages& run, const Row& row, const json& values,
             const std::vector<std::pair<std::size_t, std::string>>& metrics) {
  for (const auto& [column, metric] : metrics) {
    auto there = row.at(column);
    if (metric == "model/parameters") std::erase(there, ',');
    const auto cells = run.cells(metric, values);
    if (cells.empty()) return false;
    INFO(row.front() << ", " << metric);
    REQUIRE(cells.size() == 1);
    CHECK(as_there(cells[0], there) == there);
  }
  return true;
}

}  // namespace

TEST_CASE("the attentions on pictures: every row, in the study's order") {
  const auto page = section("docs/results-attentions.md", "On pictures");
  const Pages run(page);
  for (const auto& row : page.rows)
    CHECK(compare(run, row, {{"attention", plugin_of(row[0])}, {"model.causal", has(row[0], "causal")}},
                  {{1, "model/parameters"}, {2, "test/accuracy"}, {4, "train/step_cpu_time"}, {5, "memory/peak_tensor"}}));
  const auto in_order = run.cells("test/accuracy", json::object());
  REQUIRE(page.rows.size() == 32);
  REQUIRE(in_order.size() == 32);
  for (std::size_t i = 0; i < 32; ++i) CHECK(plugin_of(page.rows[i][0]) == in_order[i]["row"]["attention"]);
}

TEST_CASE("the attentions on recall and on MAD: the rows that have run since runtime version 4") {
  for (const auto& [heading, rows, metrics] :
       {std::tuple(
            "On recall", 13,
            std::vector<std::pair<std::size_t, std::string>>{{2, "test/accuracy"},
                                                             {3, "test/accuracy@pairs=2"},
                                                             {4, "test/accuracy@pairs=4"},
                                                             {5, "test/accuracy@pairs=8"},
                                                             {6, "train/step_cpu_time"},
                                                             {7, "memory/peak_tensor"}}),
        std::tuple("On MAD", 9,
                   std::vector<std::pair<std::size_t, std::string>>{{2, "test/accuracy"}, {3, "train/step_cpu_time"}})}) {
    const auto page = section("docs/results-attentions.md", heading);
    const Pages run(page);
    int found = 0;
    for (const auto& row : page.rows)
      found +=
          compare(run, row, {{"attention", plugin_of(row[0])}, {"attention.convolution", convolution_of(row[0])}}, metrics);
    CHECK(found == rows);
  }
}

TEST_CASE("routing, small: every row, in the study's order; and the row of reformer in 'ListOps, text, pathfinder'") {
  const auto page = section("experiments/results/routing-small.md", "Routing: learned");
  const Pages run(page);
  const auto bits = run.cells("test/bits_per_dimension", json::object()),
             steps = run.cells("train/step_cpu_time", json::object());
  REQUIRE(page.rows.size() == 9);
  REQUIRE(bits.size() == 9);
  for (std::size_t i = 0; i < 9; ++i) {
    INFO(page.rows[i][0] << " " << bits[i]["row"]);
    CHECK(as_there(bits[i], page.rows[i][3]) == page.rows[i][3]);
    CHECK(as_there(steps[i], page.rows[i][4]) == page.rows[i][4]);
  }
  const auto half_an_hour = section("experiments/results/lra-small-first.md", "ListOps, text, pathfinder");
  const Pages of_reformer(half_an_hour);
  const auto row =
      std::find_if(half_an_hour.rows.begin(), half_an_hour.rows.end(), [](const Row& one) { return one[0] == "reformer"; });
  REQUIRE(row != half_an_hour.rows.end());
  CHECK(compare(of_reformer, *row, {{"task", "listops"}}, {{1, "test/accuracy"}}));
  CHECK(compare(of_reformer, *row, {{"task", "text"}}, {{2, "test/accuracy"}}));
}

TEST_CASE("tables on the page are printed exactly") {
  const std::string pages = "experiments/results/", attentions = "docs/results-attentions.md";
  for (const auto& [page, heading, tables] :
       {std::tuple(pages + "compression-lookup.md", "Compression: values by their keys", 5),
        std::tuple(pages + "compression-pictures.md", "Compression: pictures", 1),
        std::tuple(pages + "convolution.md", "Convolution or state", 2),
        std::tuple(pages + "content.md", "Content, a draw, or a neighbourhood", 3),
        std::tuple(pages + "hybrids.md", "Hybrids: one softmax layer", 1),
        std::tuple(pages + "hybrids-text.md", "Hybrids on text", 1),
        std::tuple(pages + "rate-windows.md", "Windows of learning", 1),
        std::tuple(pages + "state-tracking.md", "State tracking", 2),
        std::tuple(pages + "adamra-decided.md", "AdaMRA: resolutions and router", 2),
        std::tuple(pages + "sticky.md", "Sticky memories", 1),
        std::tuple(pages + "performer-kernels.md", "Performer's error by kernel", 1),
        std::tuple(pages + "density-windows.md", "Clusters beside windows", 1),
        std::tuple(attentions, "What no other study trains", 1),
        std::tuple(attentions, "Small studies: states, copies, documents", 6),
        std::tuple(attentions, "Why routing finds nothing", 1)}) {
    INFO(heading);
    Imports run;
    int found = 0;
    std::string command, there;  // the latest table command, and the lines of its table so far
    for (const auto& line : lines_of(page, heading)) {
      if (line.starts_with("    ablate import ")) import_cells(run, command_of(line).substr(7));
      if (line.starts_with("    ablate table ")) command = command_of(line);
      if (line.starts_with("|")) there += line + "\n";
      if (there.empty() || line.starts_with("|")) continue;
      INFO(command);
      CHECK(rows_of(run(command + " --format markdown")) == there);
      ++found;
      there.clear();
    }
    CHECK(found == tables);
  }
}

TEST_CASE("README's table equals the table of the raw cells, except for times") {
  const auto rows = [](const std::string& text) {
    static const std::regex time(R"(~?[0-9.]+ ± [0-9.]+ +([0-9.]+ ± [0-9.]+\n))"), space(" +");
    const auto table = text.substr(text.find("\nattention ") + 1);
    return std::regex_replace(std::regex_replace(table.substr(0, table.find("\n\n") + 1), time, "$1"), space, " ");
  };
  Imports run;
  import_cells(run, "experiments/results/quickstart.csv");
  const auto printed =
      run("table quickstart --rows attention,attention.compression,attention.rates,attention.rate --metric "
          "test/accuracy,train/step_time,memory/peak_tensor");
  CHECK(has(rows(printed), "softmax - - - 66.8 ± 0.6 15.49 ± 0.00\n"));
  CHECK(rows(content(std::filesystem::path(ABLATE_SOURCE_DIR) / "README.md")) == rows(printed));
}

TEST_CASE("the query beside each file of raw cells writes this file again, except for the keys of imported trials") {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(ABLATE_SOURCE_DIR) / "experiments/results")) {
    if (entry.path().extension() != ".csv") continue;
    INFO(entry.path().filename());
    ++files;
    Imports run;
    import_cells(run, "experiments/results/" + entry.path().filename().string());
    const auto query = content(std::filesystem::path(entry.path()).replace_extension(".sql"));
    const std::regex key("[0-9a-f]{64},");  // a trial's key is the first match in a line; an image's digest follows
    const auto without_keys = [&](const std::string& text) {
      std::string all;
      std::istringstream in(text);
      for (std::string line; std::getline(in, line);)
        all += std::regex_replace(line, key, "", std::regex_constants::format_first_only) + "\n";
      return all;
    };
    CHECK(without_keys(run.words({"query", "--format", "csv", query})) == without_keys(content(entry.path())));
  }
  CHECK(files == 25);
}
