// Trust in a table's numbers: environments, busy machines, digits, and the metric that is shown by default.
#include <cmath>
#include <nlohmann/json.hpp>

#include "db/questions/attempts/list_attempts.h"
#include "db/questions/selection/selection.h"
#include "db/questions/tables/make_table.h"
#include "db/report/digits.h"
#include "db/report/format.h"
#include "db/report/printers.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

nlohmann::json on(const std::string& attention, int seed, const std::string& device = "cpu", int threads = 1) {
  auto resolved = trial(attention, {}, seed);
  resolved["train"]["device"] = device;
  resolved["train"]["threads"] = threads;
  return resolved;
}

/// An experiment to which trials are added.
struct Study {
  Folder folder;
  std::filesystem::path file = folder / "a.db";
  Store store{file};
  std::vector<nlohmann::json> trials;

  void add(const nlohmann::json& resolved, const nlohmann::json& environment, const std::map<std::string, double>& results) {
    trials.push_back(resolved);
    put(store, "study", trials);
    store.put_metrics({{"train/step_cpu_time", "ms", "min", "", MetricKind::kCost, MetricOwner::kHost, true},
                       {"train/step_spread", "%", "min", "", MetricKind::kCost, MetricOwner::kHost}});
    auto attempt = done(resolved, 50);
    attempt.environment = environment;
    attempt.results = results;
    store.put_attempt(attempt);
  }
  Table table(std::vector<std::string> metrics, std::vector<std::string> rows = {"attention"}) const {
    return make_table(Reader(file), {{"study"}, std::move(rows), {}, std::move(metrics)});
  }
};

const nlohmann::json kHere = {{"host", "a"}, {"processor", "P"}, {"torch", "2.11.0"}, {"variables", nlohmann::json::object()}};

nlohmann::json with(nlohmann::json environment, const char* field, const nlohmann::json& value) {
  environment[field] = value;
  return environment;
}

}  // namespace

TEST_CASE("a table over environments that may change numbers reports the differences") {
  Study study;
  const std::map<std::string, double> accuracy = {{"test/accuracy", 50}};
  for (const int seed : {1, 2}) study.add(on("softmax", seed), kHere, accuracy);
  CHECK(study.table({"test/accuracy"}).notes.empty());
  SECTION("a variable") {
    study.add(on("softmax", 3), with(kHere, "variables", {{"ATEN_CPU_CAPABILITY", "default"}}), accuracy);
    CHECK(study.table({"test/accuracy"}).notes ==
          std::vector<std::string>{
              "computed in 2 environments, whose numbers may differ: variables.ATEN_CPU_CAPABILITY = unset / "
              "default (2 / 1 trials)"});
  }
  SECTION("instructions: the note also names rows that mix instructions") {
    const auto by = [](const char* capability, const char* kernels) {
      return with(with(kHere, "cpu_capability", capability), "kernels", kernels);
    };
    study.add(on("linear", 1), by("AVX512", "avx512"), accuracy);
    study.add(on("linear", 2), by("AVX512", "avx512"), accuracy);
    study.add(on("delta", 1), by("AVX2", "avx2"), accuracy);
    REQUIRE(study.table({"test/accuracy"}).notes.size() == 1);  // no row mixes instructions
    study.add(on("delta", 2), by("AVX2", "none"), accuracy);
    const auto notes = study.table({"test/accuracy"}).notes;
    REQUIRE(notes.size() == 2);
    CHECK(notes[1] == "seeds of one row computed by different instructions: delta (AVX2, kernels avx2 / AVX2, kernels none)");
    study.add(on("linear", 3), {{"host", "old"}}, accuracy);  // an environment without instructions
    CHECK(study.table({"test/accuracy"}).notes == notes);
  }
  SECTION("the instructions of bfloat16 products count only for trials with dtype mixed") {
    const auto by = [](const char* products) { return with(kHere, "kernels_bfloat16", products); };
    study.add(on("linear", 1), by("amx"), accuracy);
    study.add(on("linear", 2), by("avx512"), accuracy);
    CHECK(study.table({"test/accuracy"}).notes.empty());
    const auto mixed = [](int seed) {
      auto trial = on("delta", seed);
      trial["train"]["dtype"] = "mixed";
      return trial;
    };
    study.add(mixed(1), by("amx"), accuracy);
    CHECK(study.table({"test/accuracy"}).notes.empty());  // only delta has dtype mixed, and amx makes all its products
    study.add(on("delta", 1), with(by("avx512"), "kernels", "avx512"), accuracy);  // float32: not counted below
    study.add(mixed(2), by("avx512"), accuracy);
    const auto notes = study.table({"test/accuracy"}).notes;
    REQUIRE(notes.size() == 2);
    CHECK(has(notes[0], "kernels_bfloat16 = amx / avx512 (1 / 1 trials)"));
    CHECK(notes[1] == "seeds of one row computed by different instructions: delta (bfloat16 by amx / bfloat16 by avx512)");
  }
  SECTION("a resumed trial counts in both environments, for the fields that differ") {
    const auto went_on = [](const nlohmann::json& patch) {
      return with(with(kHere, "kernels", "avx512"), "resumed", {{"step", 5}, {"environments", {patch}}});
    };
    study.add(on("softmax", 3), with(kHere, "kernels", "avx512"), accuracy);
    study.add(on("softmax", 4), went_on({{"kernels", "avx2"}, {"variables", {{"A", "1"}}}}), accuracy);
    auto notes = study.table({"test/accuracy"}).notes;
    REQUIRE(notes.size() == 2);  // the row's instructions differ, too
    CHECK(has(notes[0], "in 2 environments"));
    CHECK(has(notes[0], "kernels = avx512 / avx2 (2 / 1 trials); variables.A = unset / 1 (4 / 1 trials)"));
    study.add(on("delta", 1), with(went_on({{"torch", "2.10"}}), "torch", "2.12"), accuracy);
    CHECK(has(study.table({"test/accuracy"}).notes.at(0), "torch = 2.11.0 / 2.10 / 2.12 (4 / 1 / 1 trials)"));
  }
  SECTION("a single resumed trial is enough, and its row has several instructions") {
    Study own;
    own.add(on("softmax", 1),
            with(with(kHere, "cpu_capability", "AVX2"), "resumed", {{"environments", {{{"cpu_capability", "AVX512"}}}}}),
            accuracy);
    const auto notes = own.table({"test/accuracy"}).notes;
    REQUIRE(notes.size() == 2);
    CHECK(notes[1] == "seeds of one row computed by different instructions: softmax (AVX2 / AVX512)");
  }
  SECTION("settings that change only times, the machine's name, and unrecorded settings do not count") {
    study.add(on("softmax", 3), with(kHere, "variables", {{"OMP_WAIT_POLICY", "PASSIVE"}}), accuracy);
    study.add(on("softmax", 4), with(kHere, "host", "b"), accuracy);
    study.add(on("softmax", 5), {{"host", "old"}}, accuracy);
    CHECK(study.table({"test/accuracy"}).notes.empty());
  }
  SECTION("variables that override a trial's number of threads, and preloaded libraries, count") {
    int seed = 3;
    for (const auto* name : {"OMP_DYNAMIC", "OMP_THREAD_LIMIT", "LD_PRELOAD"})
      study.add(on("softmax", seed++), with(kHere, "variables", {{name, "1"}}), accuracy);
    const auto note = study.table({"test/accuracy"}).notes.at(0);
    for (const auto* name : {"OMP_DYNAMIC", "OMP_THREAD_LIMIT", "LD_PRELOAD"})
      CHECK(has(note, std::string("variables.") + name + " = unset / 1 ("));
  }
  SECTION("the GPU counts for trials that run on a GPU") {
    study.add(on("softmax", 3), with(kHere, "gpus", {"H200"}), accuracy);
    study.add(on("softmax", 4), with(kHere, "gpus", nlohmann::json::array()), accuracy);
    study.add(on("softmax", 5), with(kHere, "variables", {{"CUDA_VISIBLE_DEVICES", "1"}}), accuracy);
    CHECK(study.table({"test/accuracy"}).notes.empty());
    study.add(on("linear", 3, "cuda"), with(kHere, "gpus", {"H200"}), accuracy);
    study.add(on("linear", 4, "cuda"), with(kHere, "gpus", {"A100", "A100"}), accuracy);
    CHECK(study.table({"test/accuracy"}).notes.at(0) ==
          "computed in 2 environments, whose numbers may differ: gpus = H200 / A100 + A100 (1 / 1 trials)");
  }
  SECTION("libraries and the processor count, and the machines that measured costs are reported once") {
    study.add(on("softmax", 3), {{"host", "b"}, {"processor", "Q"}, {"torch", "2.11.0"}, {"libraries", {{"mkl", "2024"}}}},
              {{"test/accuracy", 50}, {"train/step_time", 5}});
    study.add(on("softmax", 4), with(kHere, "libraries", {{"mkl", "2025"}}), {{"test/accuracy", 50}, {"train/step_time", 5}});
    const std::string machines = "measured on 2 machines, whose costs are not comparable: a (P), b (Q)";
    const std::string libraries = "libraries.mkl = 2024 / 2025 (1 / 1 trials)";
    CHECK(has(study.table({"test/accuracy"}).notes.at(0), libraries + "; processor = P / Q (3 / 1 trials)"));
    const auto costs = study.table({"train/step_time"}).notes;
    REQUIRE(costs.size() == 2);
    CHECK(costs[0] == machines);
    CHECK(has(costs[1], "may differ: " + libraries));
    CHECK_FALSE(has(costs[1], "processor"));
    const auto both = study.table({"test/accuracy", "train/step_time"}).notes;
    REQUIRE(both.size() == 2);
    CHECK(has(both[1], "processor"));
    // A task's metric in seconds is not a cost of the machine.
    study.store.put_metrics({{"test/accuracy", "s", "min", ""}});
    CHECK(study.table({"test/accuracy"}).notes.size() == 1);
  }
}

TEST_CASE("step times of a busy machine are marked, and so are numbers that are derived from them") {
  Study study;
  const auto times = [](double wall, double computing, double spread) {
    return std::map<std::string, double>{
        {"test/accuracy", 50}, {"train/step_time", wall}, {"train/step_cpu_time", computing}, {"train/step_spread", spread}};
  };
  study.add(on("settled", 1), kHere, times(51.234, 50, 4));
  study.add(on("spread", 1), kHere, times(60, 60, 10.5));
  study.add(on("waited", 1), kHere, times(108, 51, 2));
  study.add(on("threads", 1, "cpu", 2), kHere, times(108, 51, 2));  // with two threads, one may wait for the other
  study.add(on("gpu", 1, "cuda"), kHere, times(108, 51, 2));
  auto asked = study.table({"train/step_time", "test/accuracy"});
  const bool unsettled[] = {false, true, true, false, false};
  for (std::size_t r = 0; r < 5; ++r) {
    CHECK(asked.cell(r, 0, 0).unsettled == unsettled[r]);
    CHECK_FALSE(asked.cell(r, 1, 0).unsettled);
  }
  CHECK(asked.cell(0, 0, 0).uncertainty == Approx(51.234 * 0.04));
  CHECK(asked.notes ==
        std::vector<std::string>{
            "~ measured while the machine was busy, or before times settled: 2 of 5 cells with step times. The times of a "
            "trial's steps spread by more than 10 %, or its only thread waited for a processor for more than 10 % of them; run "
            "them again on an idle machine (--again)"});
  asked = study.table({"train/step_time"});
  CHECK(has(to_text(asked, Format::kText), "settled    51\nspread     ~60\nwaited     ~108\n"));
  CHECK(has(to_text(asked, Format::kCsv), "waited,train/step_time,ms,108,,,1,0,,,,,true,\n"));
  const auto json = nlohmann::json::parse(to_text(asked, Format::kJson))["cells"];
  CHECK(json[1]["unsettled"] == true);
  CHECK(json[3]["unsettled"] == false);
  // A ratio to a marked time is marked, too.
  const auto ratios = make_table(Reader(study.file), {.experiments = {"study"},
                                                      .rows = {"attention"},
                                                      .metrics = {"train/step_time"},
                                                      .statistics = {{"baseline", {"attention=waited"}}}});
  CHECK(ratios.cell(0, 0, 0).unsettled);
  CHECK(has(to_text(ratios, Format::kMarkdown), "| settled | ~0.47 |"));
}

TEST_CASE("all numbers of a column have the decimals that the typical uncertainty allows") {
  const Digits accuracies({{71.2345, 0.834}, {80.5, 0.41}, {60.25, 12}});
  CHECK(accuracies.text(71.2345, 0.834) == "71.23 ± 0.83");
  CHECK(accuracies.text(60.25, 12) == "60.25 ± 12.00");
  CHECK(accuracies.text(80.5, 0) == "80.50 ± 0.00");  // two seeds with equal numbers
  CHECK(accuracies.text(80.5, NAN) == "80.50");
  CHECK(accuracies.text(NAN) == "nan");
  const Digits coarse({{12345.6, 123.4}, {12000, 150}, {11000, 0.5}});
  CHECK(coarse.text(12345.6, 123.4) == "12346 ± 123");
  CHECK(Digits({{0.0123, 0.00099}}).text(0.0123, 0.00099) == "0.01230 ± 0.00099");
  CHECK(Digits({{51.234, 2.05, 1}}).text(51.234) == "51");      // the spread is not shown; it counts with one digit, as 2
  CHECK(Digits({{51.234, 0.0996, 1}}).text(51.234) == "51.2");  // the spread is rounded to 0.1
  // If uncertainties are unknown, the typical number has at least four digits, and the smallest number at least two.
  CHECK(Digits({{1630.2}, {99.31}}).text(99.31) == "99");
  CHECK(Digits({{1630.2}, {0.0123}}).text(1630.2) == "1630.200");
  CHECK(Digits({{1.5, 0.1}, {400, 20}, {1600, 60}}).text(1.5, 0.1) == "1.5 ± 0.1");
  CHECK(Digits({{2, 1}, {0.0012, 1}}).text(0.0012, 1) == "0.0 ± 1.0");  // digits below the uncertainty have no meaning
  // If the numbers are too far apart or too large, each has its own digits.
  CHECK(Digits({{1e12}, {1e-3}}).text(1e12) == brief(1e12));
  CHECK(Digits({{1e-9}, {1}}).text(1e-9) == brief(1e-9));
  CHECK(Digits({}).text(3) == "3.000");
  CHECK(Digits({}).text(3, 0) == "3.000 ± 0");
  CHECK(Digits({{0}, {0}}).text(0) == "0");
}

TEST_CASE("the default metric is a metric of the selected trials, and is meaningful") {
  Study study;
  const auto cost = on("softmax", 1);
  const auto benched = with(kHere, "run_for", "bench");
  const std::map<std::string, double> all = {{"test/accuracy", 0.4}, {"dev/accuracy", 0.5}, {"train/step_time", 12}};
  study.add(cost, benched, all);
  const auto main_of = [&] { return study.table({}).metrics.at(0).name; };
  CHECK(main_of() == "train/step_time");
  {
    const auto learned = on("linear", 2);
    put(study.store, "other", {learned});
    auto attempt = done(learned, 80);
    study.store.put_attempt(attempt);
  }
  CHECK(main_of() == "train/step_time");  // another experiment's trials do not matter
  CHECK(make_table(Reader(study.file), {{"other"}, {}, {}, {}}).metrics.at(0).name == "test/accuracy");
  CHECK(make_table(Reader(study.file), {{}, {}, {}, {}}).metrics.at(0).name == "test/accuracy");
  CHECK(list_attempts(Reader(study.file), {"study"}).metrics.at(0).name == "train/step_time");
  CHECK(list_attempts(Reader(study.file), {"other"}).metrics.at(0).name == "test/accuracy");
  study.add(on("linear", 1), kHere, all);  // an older attempt, without run_for
  CHECK(main_of() == "test/accuracy");
  Study quick;
  auto once = cost;  // as few evaluations as in a bench
  once["train"]["test_batches"] = once["train"]["evaluate_batches"] = 1;
  once["train"]["steps"] = once["train"]["evaluate_every"] = 7;
  quick.add(once, kHere, all);  // few evaluations alone do not make a bench
  CHECK(quick.table({}).metrics.at(0).name == "test/accuracy");
  quick.add(once, with(kHere, "run_for", "study"), all);
  CHECK(quick.table({}).metrics.at(0).name == "test/accuracy");
  CHECK(list_attempts(Reader(quick.file), {"study"}).metrics.at(0).name == "test/accuracy");
  Study one;  // a bench whose only metric is an accuracy
  one.add(cost, benched, {{"test/accuracy", 0.4}});
  CHECK(one.table({}).metrics.at(0).name == "test/accuracy");
}

TEST_CASE("a metric with two slashes is an ordinary metric") {
  Study study;
  study.add(on("adamra", 1), kHere, {{"attention/adamra/kept", 0.5}, {"attention/gated/open", 0.25}});
  CHECK(study.table({"attention/adamra/kept"}).cell(0, 0, 0).mean == 0.5);
  const auto message = [&](const std::string& name) { return error_of([&] { study.table({name}); }); };
  CHECK(has(message("kept"), "\"kept\" (did you mean attention/adamra/kept?)"));
  CHECK(has(message("adamra/kept"), "(did you mean attention/adamra/kept?)"));
  CHECK(has(message("attention/adamra/kpt"), "(did you mean attention/adamra/kept?)"));
}

TEST_CASE("CSV has an empty field for a missing value, and a dash if the value is a dash") {
  Study study;
  auto dash = on("softmax", 1);
  dash["attention"]["mode"] = "-";
  study.add(dash, kHere, {{"test/accuracy", 1}});
  study.add(on("softmax", 2), kHere, {{"test/accuracy", 2}});
  const auto csv = to_text(study.table({"test/accuracy"}, {"attention.mode"}), Format::kCsv);
  CHECK(has(csv, "\n-,test/accuracy"));
  CHECK(has(csv, "\n,test/accuracy"));
}
