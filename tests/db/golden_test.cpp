// Tables in every format, compared byte by byte with the files under tests/db/golden. After an intended change of the output,
// `ABLATE_GOLDEN=rewrite ctest --preset release -R unit.db_golden` rewrites them. The commit message must mention the change.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "db/questions/tables/make_table.h"
#include "db/report/printers.h"
#include "tests/db/costs.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

/// Compares a table with the files of this name, one for each format, or writes the files.
void check_golden(const std::string& name, const Table& table) {
  const auto* const wish = std::getenv("ABLATE_GOLDEN");
  for (const auto& format : format_names()) {
    const auto text = to_text(table, format_from_name(format));
    const std::filesystem::path file = std::filesystem::path(ABLATE_SOURCE_DIR) / "tests/db/golden" / (name + "." + format);
    if (wish != nullptr && std::string(wish) == "rewrite") std::ofstream(file, std::ios::binary) << text;
    INFO(file.string());
    CHECK(content(file) == text);
  }
}

/// Study with all cases of a table: seeds, tasks, an absent parameter, failures of each kind, values that are not finite,
/// texts with control characters of formats, verdicts of each kind, times of a busy machine, published numbers.
class Everything {
 public:
  Everything() {
    Store store(file_);
    for (const auto* task : {"image", "text_of|bytes"})
      for (const auto& [attention, rates] :
           {std::pair("softmax", std::vector<std::string>{}), std::pair("adamra", std::vector<std::string>{"1/2", "1/4"}),
            std::pair("adamra", std::vector<std::string>{"1/8"}), std::pair("50%_linear & co", std::vector<std::string>{})})
        for (const int seed : {1, 2, 3}) {
          auto one = trial(attention, rates, seed);
          one["task"]["plugin"] = task;
          trials_.push_back(one);
        }
    const auto id = put(store, "study", trials_);
    for (std::size_t i = 0; i < trials_.size(); ++i) put_attempt(store, i);
    store.put_published(id, {{key_of(trials_[0]), "test/accuracy", 61.5, "A paper, table 2"},
                             {key_of(trials_[3]), "test/accuracy", 63.25, "A paper, table 2"},
                             {key_of(trials_[12]), "test/accuracy", 65, "Another_paper"}});
  }
  Table table(TableRequest request) const {
    request.experiments = {"study"};
    return make_table(Reader(file_), request);
  }

 private:
  void put_attempt(Store& store, std::size_t i) {
    if (i == 5 || i == 23) return;  // this trial is missing
    auto attempt = done(trials_[i], 60 + static_cast<double>(i * i % 17) + 0.37 * static_cast<double>(i % 3));
    if (i == 4) attempt = failed(trials_[i], "signal 11 (Segmentation fault) in attend(\"x\"), a|b & {c}\nmore");
    if (i == 9) attempt = failed(trials_[i], "", "timeout");
    if (i == 10) attempt = failed(trials_[i], "out of memory");
    if (i == 11) attempt = failed(trials_[i], "another reason");
    if (i == 14) attempt.results["test/accuracy"] = std::nan("");
    attempt.results["train/step_spread"] = i % 5 == 0 ? 40 : 1;
    const auto attention = trials_[i]["attention"]["plugin"].get<std::string>();
    const PluginVerdict passed{"passed", ""}, failing{"failed", "padding, causal"}, unchecked;
    attempt.plugins = {{"attention", attention, "1.0.0", attention, "", "",
                        attention == "softmax"  ? passed
                        : attention == "adamra" ? failing
                                                : unchecked},
                       {"task", trials_[i]["task"]["plugin"].get<std::string>(), "1", "task", "", "", passed}};
    store.put_attempt(attempt);
  }

  Folder folder_;
  std::filesystem::path file_ = folder_ / "a.db";
  std::vector<nlohmann::json> trials_;
};

/// Learning rates chosen by dev. For linear, dev chooses the last rate, at the edge. One trial of delta has not run.
class Tuned {
 public:
  Tuned() {
    Store store(file_);
    store.put_metrics({{"test/accuracy", "%", "max", ""}, {"dev/accuracy", "%", "max", ""}});
    const auto id = store.put_experiment({"study", "", "study.toml", "[grid]", {}});
    std::vector<GridTrial> grid;
    std::vector<nlohmann::json> trials;
    std::int64_t choice = 0;
    for (const auto* attention : {"softmax", "linear", "delta"}) {
      for (const double rate : {0.001, 0.003, 0.01})
        for (const int seed : {1, 2}) {
          auto one = trial(attention, {}, seed);
          one["train"]["learning_rate"] = rate;
          grid.push_back({key_of(one), one, choice});
          trials.push_back(one);
        }
      ++choice;
    }
    store.put_trials(id, grid);
    const double dev[] = {90, 60, 80, 82, 70, 70, 50, 50, 60, 60, 65, 65, 10, 20, 30, 40, 50};
    for (std::size_t i = 0; i < std::size(dev); ++i) {
      auto attempt = done(trials[i], 0);
      attempt.results = {{"dev/accuracy", dev[i]}, {"test/accuracy", 100 - dev[i] / 2}};
      attempt.main_metric = "test/accuracy";
      store.put_attempt(attempt);
    }
  }
  Table table() const { return make_table(Reader(file_), {.experiments = {"study"}}); }

 private:
  Folder folder_;
  std::filesystem::path file_ = folder_ / "a.db";
};

}  // namespace

TEST_CASE("tables equal the golden files: seeds, failures, marks, tasks as columns") {
  const Everything study;
  check_golden("rows", study.table({}));
  check_golden("columns", study.table({.rows = {"attention", "attention.rates"}, .columns = {"task"}}));
  check_golden("metrics", study.table({.rows = {"attention"}, .metrics = {"test/accuracy", "train/step_time"}}));
  check_golden("stacked",
               study.table({.rows = {"attention"}, .columns = {"task"}, .metrics = {"test/accuracy", "train/step_time"}}));
}

TEST_CASE("tables equal the golden files: tests, intervals, published numbers, ratios") {
  const Everything study;
  check_golden("against", study.table({.columns = {"task"}, .statistics = {{"against", {"attention=softmax"}}}}));
  check_golden("interval", study.table({.columns = {"task"}, .statistics = {{"interval", {"0.25"}}}}));
  check_golden("published", study.table({.columns = {"task"}, .published = true}));
  check_golden("ratios", study.table({.rows = {"attention", "attention.rates"},
                                      .columns = {"task"},
                                      .published = true,
                                      .statistics = {{"baseline", {"attention=softmax"}}}}));
}

TEST_CASE("tables equal the golden files: with the command and the trials that they contain") {
  check_golden("provenance", Everything().table({.rows = {"attention"},
                                                 .columns = {"task"},
                                                 .metrics = {"test/accuracy"},
                                                 .statistics = {{"against", {"attention=softmax"}}},
                                                 .words = {"table", "study", "--rows", "attention\n% \"&"}}));
}

TEST_CASE("tables equal the golden files: exponents, with ratios and published numbers") {
  const Costs costs;
  auto asked = request({"attention"}, {"task.length"});
  asked.statistics["exponent"];
  check_golden("exponent", costs.table(asked));
  asked.published = true;
  asked.metrics = {"train/step_time", "test/accuracy"};
  check_golden("exponent-published", costs.table(asked));
  asked.statistics["baseline"] = {"attention=softmax"};
  check_golden("exponent-ratios", costs.table(asked));
}

TEST_CASE("tables equal the golden files: values chosen by dev") { check_golden("tuned", Tuned().table()); }

TEST_CASE("tables equal the golden files: an author's text with control characters of LaTeX, Typst, HTML and Markdown") {
  const std::string hostile = "\\input{x} $a^2$ #f(1) ~ _b_ `c` <d> [e] @f \"g\" 'h' *i* // & % {j} |k| {";
  check_golden("hostile", Everything().table({.rows = {"attention"},
                                              .columns = {"task"},
                                              .statistics = {{"rename", {"softmax=" + hostile, "attention=" + hostile}},
                                                             {"caption", {hostile}},
                                                             {"label", {"tab:main"}}}}));
}
