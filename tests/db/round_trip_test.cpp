// After `ablate export` and `ablate import`, every table is the same.
#include <map>

#include "core/host/study/named_tables.h"
#include "core/util/trimmed.h"
#include "tests/db/imports.h"
#include "tests/db/tuned_study.h"

using namespace ablate;
using namespace ablate::db;

namespace {

namespace fs = std::filesystem;

const fs::path kStudies = fs::path(ABLATE_SOURCE_DIR) / "experiments";

/// Returns the file and the text of each study, by the name of its experiment.
std::map<std::string, std::pair<std::string, std::string>> studies() {
  std::map<std::string, std::pair<std::string, std::string>> all;
  for (const auto& entry : fs::recursive_directory_iterator(kStudies)) {
    if (entry.path().extension() != ".toml") continue;
    const auto text = content(entry.path());
    constexpr std::string_view kName = "\nname = \"";
    const auto at = text.find(kName);
    const auto from = at + kName.size();
    all[at == std::string::npos ? entry.path().stem().string() : text.substr(from, text.find('"', from) - from)] = {
        entry.path(), text};
  }
  return all;
}

/// Runs commands, exports and imports. Answers leave out the notes about the origin of trials.
class RoundTrip : public Imports {
 public:
  /// Adds the study to an experiment, as if the experiment had run here.
  void know(const std::string& experiment, const std::string& study, const std::string& text) {
    Store(file()).put_experiment({experiment, "", study, text, {}});
  }
  std::vector<std::string> answers(const std::vector<std::string>& commands) {
    std::vector<std::string> all;
    for (const auto& command : commands) {
      std::istringstream in((*this)(command));
      all.emplace_back();
      for (std::string line; std::getline(in, line);)
        if (!has(line, " imported from ")) all.back() += line + "\n";
      all.back() = trimmed(all.back());
      answered += exit_code == 0 ? 1 : 0;
    }
    return all;
  }
  /// Exports the history and imports it into an empty history.
  void turn_round(const std::string& format) {
    const auto out = path("out." + format);
    (*this)("export --format " + format + " --out " + out);
    REQUIRE(exit_code == 0);
    const auto metrics = Reader(file()).metrics();
    fs::remove(file());
    if (format == "jsonl") Store(file()).put_metrics({metrics.begin(), metrics.end()});  // JSON lines have no units
    (*this)("import " + out);
    REQUIRE(exit_code == 0);
  }
  int answered = 0;
};

}  // namespace

TEST_CASE("raw cells that are imported, exported and imported again give the same tables, also named tables") {
  const auto known = studies();
  int files = 0, named = 0;
  for (const auto& entry : fs::directory_iterator(kStudies / "results")) {
    if (entry.path().extension() != ".csv") continue;
    ++files;
    const auto name = entry.path().stem().string();
    INFO(name);
    REQUIRE(known.contains(name));
    const auto& [study, text] = known.at(name);
    std::vector<std::string> commands = {"table " + name, "table " + name + " --rows seed --format csv"};
    for (const auto& table : named_tables(text, study)) commands.push_back("table " + name + " --table " + table.name);
    RoundTrip run;
    run("import " + entry.path().string());
    run.know(name, study, text);
    const auto before = run.answers(commands);
    CHECK(run.answered >= 2);
    named += run.answered - 2;
    run.turn_round("csv");
    run.know(name, study, text);
    CHECK(run.answers(commands) == before);
    run.turn_round("jsonl");
    run.know(name, study, text);
    CHECK(run.answers(commands) == before);
  }
  CHECK(files == 25);
  CHECK(named >= 20);
}

TEST_CASE("a tuned study is the same after a round trip: dev chooses the same values, by the same seeds") {
  const std::string text = "[table.chosen]\nrows = [\"attention\"]\nmetric = [\"test/accuracy\", \"dev/accuracy\"]\n";
  auto apart = kPoints;
  for (auto& point : apart) point.seed += 100, point.tunes = true;
  for (const int seed : {1, 2, 3}) apart.push_back({"softmax", 3e-3, seed, 5, 50.0 + seed});
  for (const int seed : {1, 2, 3}) apart.push_back({"linear", 1e-2, seed, 5, 30.0 + seed});
  apart.push_back({"alone", 1e-3, 7, 5, 31, 1, true});  // imported without a cell
  const std::vector<std::string> commands = {"table study", "table study --table chosen",
                                             "table study --rows attention,train.learning_rate",
                                             "table study --rows attention --against attention=softmax"};
  for (const auto& points : {kPoints, apart}) {
    const Tuned study(points);
    RoundTrip run;
    fs::copy_file(study.file(), run.file());
    run.know("study", "study.toml", text);
    const auto before = run.answers(commands);
    REQUIRE(run.answered == 4);
    REQUIRE(has(before[0], "the best mean of dev/accuracy over "));
    for (const std::string format : {"csv", "jsonl"}) {
      run.turn_round(format);
      INFO(format);
      CHECK(has(run("table study --table chosen"), "was imported without named tables"));
      run.know("study", "study.toml", text);
      CHECK(run.answers(commands) == before);
    }
    // Each of two files has half of the trials: cells are recognised by the values that their trials share.
    run("export --out " + run.path("whole.csv"));
    std::istringstream lines(content(run.path("whole.csv")));
    std::string halves[2];
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line); ++number)
      for (std::size_t half : {0, 1})
        if (number == 0 || number % 2 == half) halves[half] += line + "\n";
    fs::remove(run.file());
    for (const auto& half : halves) run.import(half);
    run.know("study", "study.toml", text);
    CHECK(run.answers({commands[1]}) == std::vector{before[1]});
  }
}

TEST_CASE("imported trials stay in their cells if a merge adds another grid of the experiment") {
  const Tuned study(kPoints);
  RoundTrip run;
  fs::copy_file(study.file(), run.file());
  run.turn_round("csv");
  const auto before = run.answers({"table study --rows attention"});
  const auto other = run.path("other.db");
  fs::rename(run.file(), other);
  std::vector<TunedPoint> more = {{"local", 1e-3, 1, 50, 20}, {"local", 3e-3, 1, 60, 30}};
  const Tuned later(more);
  fs::copy_file(later.file(), run.file());
  run("merge " + other);
  const auto merged = run("table study --rows attention");
  const auto line = [](const std::string& table, const std::string& row) {
    const auto from = table.find("\n" + row);
    REQUIRE(from != std::string::npos);
    return table.substr(from, table.find('\n', from + 1) - from);
  };
  for (const auto* row : {"softmax", "linear"}) {
    INFO(merged << before[0]);
    CHECK(has(line(merged, row), has(line(before[0], row), "71.0") ? "71.0" : "41.0"));
  }
  CHECK(has(line(merged, "local"), "30"));
  run("merge " + other);
  CHECK(run("table study --rows attention") == merged);
}

TEST_CASE("a merge reports that a newer grid lists fewer trials, and how tables show the others again") {
  Imports run;
  std::vector<nlohmann::json> trials;
  for (const int seed : {1, 2, 3}) trials.push_back(trial("softmax", {}, seed));
  const auto other = run.path("other.db");
  for (const bool is_later : {false, true}) {
    const auto file = is_later ? std::filesystem::path(other) : run.file();
    Store store(file);
    const auto grid = is_later ? std::vector{trials[0]} : trials;
    put(store, "study", grid);
    for (const auto& one : grid) store.put_attempt(done(one, 60));
  }
  run("merge " + other);
  CHECK(has(
      run.errors,
      "note: study: tables show only the later of two grids. They leave out 2 trials that are done in the earlier grid only. "
      "To list them again without repeating them, run `ablate run experiments/study.toml --set train.steps=20 --db "));
  CHECK(has(run("table study --rows attention"), "60"));
  run("merge " + other);
  CHECK(run.errors.empty());
}
