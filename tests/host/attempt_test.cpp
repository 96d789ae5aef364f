// The record of a trial, made from its messages and its end.
#include "core/host/scheduler/attempt_in_progress.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;
using nlohmann::json;

namespace {

const Trial kTrial{.spec = {.attention = {{{.id = "linear"}}}}};
const PlannedTrial kPlanned{.trial = &kTrial, .key = "k"};
const VerdictMemory kNoVerdicts("");

EndedEvent end(int status, bool late = false) {
  return {.status = status, .wall_s = 2.5, .cpu_s = 2.0, .peak_resident_bytes = 1 << 20, .output = "tail", .late = late};
}

const json kProgress = {{"step", 40},
                        {"steps", 100},
                        {"loss", 0.5},
                        {"curve", {{"train/loss", 20, 0.7}, {"train/loss", 40, 0.5}}},
                        {"metrics", json::array({MetricInfo{"train/loss", "", "min", "d"}})}};
const json kResults = {{"results", {{"test/accuracy", 81.0}}},
                       {"main_metric", "test/accuracy"},
                       {"definitions", json::array()},
                       {"curve", {{"train/loss", 100, 0.2}}},
                       {"metrics", json::array()}};

}  // namespace

TEST_CASE("a trial that does not finish keeps its curves and its progress, and has no results") {
  const int killed = 9;
  const auto [event, outcome, reason] = GENERATE_COPY(
      table<Event, std::string, std::string>({{end(killed, true), "timeout", "ran longer than the 3 s of its time limit"},
                                              {end(11), "failed", "signal 11 (Segmentation fault)"},
                                              {end(1 << 8), "failed", "exit code 1"},
                                              {end(0), "failed", "ended without a result"},
                                              {NotStartedEvent{1, "no process"}, "refused", "no process"}}));
  AttemptInProgress trial(kPlanned, {}, 0, 0, kNoVerdicts);
  trial.take(kProgress);
  CHECK(trial.progress().step == 40);
  trial.end(event, 3);
  const auto& attempt = trial.attempt();
  CHECK(attempt.outcome == outcome);
  CHECK(attempt.reason == reason);
  CHECK(attempt.curve.size() == 2);
  REQUIRE(trial.metrics().size() == 1);
  CHECK(json(trial.metrics().front()) == kProgress["metrics"][0]);
  CHECK(attempt.step == 40);
  CHECK(attempt.steps == 100);
  CHECK(attempt.results.empty());
}

TEST_CASE("the reason of a failure names all known facts about a signal 9 that ablate did not send") {
  AttemptInProgress trial(kPlanned, {}, 0, 0, kNoVerdicts);
  auto event = end(9);
  event.killed = "the kernel's memory killer";
  trial.end(event, 3);
  CHECK(trial.attempt().reason == "signal 9 (Killed): the kernel's memory killer");
}

TEST_CASE("an attempt that ran out of memory is recorded with that outcome, whichever process reports it") {
  const auto outcome_of = [](const json& said, const EndedEvent& ended) {
    AttemptInProgress trial(kPlanned, {}, 0, 0, kNoVerdicts);
    if (!said.is_null()) trial.take(said);
    trial.end(ended, 3);
    return trial.attempt().outcome + ": " + trial.attempt().reason;
  };
  auto killed = end(9);
  killed.memory = "it held 2 GiB of memory of its own, and --memory allows 1 GiB";
  CHECK(outcome_of(nullptr, killed) == "oom: " + killed.memory);
  CHECK(outcome_of({{"failed", "std::bad_alloc"}, {"fault", false}, {"ran_out_of", "the host's memory"}}, end(1 << 8)) ==
        "oom: the host's memory did not suffice: std::bad_alloc");
  CHECK(outcome_of({{"failed", "no memory of its youth"}, {"fault", false}}, end(1 << 8)) == "failed: no memory of its youth");
}

TEST_CASE("a trial with a memory limit that gets no host memory is recorded as over its limit") {
  const json lacks_host = {{"failed", "std::bad_alloc"}, {"fault", false}, {"ran_out_of", "the host's memory"}};
  const json lacks_device = {{"failed", "CUDA error"}, {"fault", false}, {"ran_out_of", "the device's memory"}};
  const int aborted = 6;
  const auto was_over = [](const json& said, int status, std::int64_t memory_bytes) {
    AttemptInProgress trial(kPlanned, {}, 0, 0, kNoVerdicts);
    trial.take(said);
    trial.end(end(status), 3, memory_bytes);
    CHECK(trial.attempt().outcome == "oom");
    return trial.was_over_limit();
  };
  CHECK(was_over(lacks_host, 1 << 8, 1 << 30));
  CHECK_FALSE(was_over(lacks_host, 1 << 8, 0));
  CHECK_FALSE(was_over(lacks_host, aborted, 1 << 30));
  CHECK_FALSE(was_over(lacks_device, 1 << 8, 1 << 30));
}

TEST_CASE("results count only with a clean end, whatever the clock says") {
  AttemptInProgress clean(kPlanned, {}, 0, 0, kNoVerdicts);
  clean.take(kProgress);
  clean.take(kResults);
  clean.end(end(0, true), 3);  // late, but done before it could be ended
  CHECK(clean.attempt().outcome == "done");
  CHECK(clean.attempt().results.at("test/accuracy") == 81.0);
  CHECK(clean.attempt().results.at("time/wall") == 2.5);
  CHECK(clean.attempt().curve.size() == 3);
  for (const int status : {11, 1 << 8}) {
    AttemptInProgress crashed(kPlanned, {}, 0, 0, kNoVerdicts);
    crashed.take(kResults);
    crashed.end(end(status), 3);
    CHECK(crashed.attempt().outcome == "failed");
    CHECK(crashed.attempt().results.empty());
  }
}

TEST_CASE("a step's time is printed in a readable unit") {
  const auto [ms, text] = GENERATE(std::pair(24.81, "24.8 ms"), std::pair(999.4, "999 ms"), std::pair(2850.0, "2.85 s"));
  AttemptInProgress trial(kPlanned, {}, 0, 0, kNoVerdicts);
  auto results = kResults;
  results["results"]["train/step_time"] = ms;
  trial.take(results);
  trial.end(end(0), 3);
  CHECK(trial.summary().ends_with(std::string(", ") + text + " a step"));
}

TEST_CASE("a crash report names the function, and the trial's own message comes first") {
  AttemptInProgress crashed(kPlanned, {}, 0, 0, kNoVerdicts);
  crashed.take({{"crashed", "Cosine::attend in cosine.so"}});
  crashed.end(end(11), 0);
  CHECK(crashed.attempt().reason == "signal 11 (Segmentation fault) in Cosine::attend in cosine.so");
  AttemptInProgress thrown(kPlanned, {}, 0, 0, kNoVerdicts);
  thrown.take({{"failed", "loss is nan at step 3"}, {"fault", false}});
  thrown.end(end(6), 0);
  CHECK(thrown.attempt().reason == "loss is nan at step 3; then signal 6 (Aborted)");
}

TEST_CASE("an invalid message from a trial fails this trial, and no other") {
  const auto message =
      GENERATE(json::object(), json({{"results", 7}}), json({{"step", "x"}}), json({{"failed", 3}}),
               json({{"curve", {1, 2}}, {"step", 1}}), json({{"metrics", {{{"name", 1}}}}}), json({{"failed", "why"}}));
  const bool results_first = GENERATE(true, false);
  AttemptInProgress trial(kPlanned, {}, 0, 0, kNoVerdicts);
  if (results_first) trial.take(kResults);
  trial.take(message);
  if (!results_first) trial.take(kResults);
  trial.end(end(0), 0);
  CHECK(trial.attempt().outcome == "failed");
  CHECK(trial.attempt().reason.starts_with("it sent a message of an unknown kind: "));
}

TEST_CASE("a trial names the result that it is judged by") {
  const json definition = MetricInfo{"test/bits_per_byte", "bits", "min", "d"};
  json results = {{"results", {{"test/accuracy", 30.0}, {"test/bits_per_byte", 1.9375}}},
                  {"curve", json::array()},
                  {"metrics", json::array()},
                  {"definitions", json::array({definition})},
                  {"main_metric", "test/bits_per_byte"}};
  AttemptInProgress trial(kPlanned, {}, 0, 0, kNoVerdicts);
  trial.take(results);
  trial.end(end(0), 3);
  CHECK(trial.attempt().main_metric == "test/bits_per_byte");
  CHECK(trial.summary() == "test/bits_per_byte 1.938 bits");

  const Trial one_of_several{.cell = 0};  // a trial of [grid.tune]: its summary shows the metric on dev
  const PlannedTrial planned{.trial = &one_of_several, .key = "k"};
  results["results"]["dev/bits_per_byte"] = 2.5;
  results["definitions"].push_back(MetricInfo{"dev/bits_per_byte", "bits", "min", "d"});
  AttemptInProgress tuned(planned, {}, 0, 0, kNoVerdicts);
  tuned.take(results);
  tuned.end(end(0), 3);
  CHECK(tuned.summary() == "dev/bits_per_byte 2.5 bits");

  results["main_metric"] = "test/perplexity";
  AttemptInProgress wrong(kPlanned, {}, 0, 0, kNoVerdicts);
  wrong.take(results);
  wrong.end(end(0), 3);
  CHECK(wrong.attempt().outcome == "failed");
  CHECK(wrong.attempt().reason == "its main metric test/perplexity is not among its results");
}

TEST_CASE("an attempt stores what was known about its plugins when it started") {
  const TemporaryFolder folder;
  const VerdictMemory verdicts(folder / "verdicts");
  verdicts.put({"attention", "mine", "c0de"}, "cpu", {.verdict = "failed", .failed = {"padding", "causal"}});
  verdicts.put({"task", "recall", "7a5c"}, "cpu", {.verdict = "passed"});
  verdicts.put({"attention", "causal", "c"}, "cpu", {.verdict = "passed", .lengths = {{"causal", 2113}, {"bidirectional", 9}}});
  PlannedTrial planned = kPlanned;
  planned.plugins = std::vector<UsedPlugin>{{"attention", "mine", "1.0.0", "c0de", "", ""},
                                            {"attention", "mine", "1.0.0", "edited", "", ""},
                                            {"task", "recall", "1.0.0", "7a5c", "", ""},
                                            {"attention", "causal", "1.0.0", "c", "", "", {}, "causal", 4500}};
  const AttemptInProgress trial(planned, {}, 0, 0, verdicts);
  verdicts.put({"attention", "mine", "edited"}, "cpu", {.verdict = "passed"});  // after the attempt has started
  const auto& plugins = trial.attempt().plugins;
  CHECK(plugins.at(0).verdict.verdict == "failed");
  CHECK(plugins.at(0).verdict.failed_checks == "padding, causal");
  CHECK(plugins.at(1).verdict.verdict == "unchecked");
  CHECK(plugins.at(2).verdict.verdict == "passed");
  CHECK(plugins.at(2).checked_length() == 0);
  CHECK(plugins.at(3).checked_length() == 2113);
  CHECK(plugins.at(3).length == 4500);
}

TEST_CASE("an attempt that resumes reports its checkpoint, and its time includes the time before the checkpoint") {
  AttemptInProgress trial(kPlanned, {{"host", "h"}}, 0, 0, kNoVerdicts);
  const std::vector<json> differences{{{"kernels", "avx2"}, {"variables", {{"MKL_CBWR", nullptr}}}}};
  const Resumed resumed{
      .step = 30, .owner = "0wner", .environments = differences, .wall_s = 100, .cpu_s = 50, .peak_resident_bytes = 2 << 20};
  trial.take(to_json(resumed));
  CHECK(trial.is_resumed());
  CHECK(trial.take_resumed() == resumed);
  CHECK_FALSE(trial.take_resumed());
  trial.take(kProgress);
  trial.take(kResults);
  trial.end(Event(end(0)), 3);
  const auto& attempt = trial.attempt();
  CHECK(attempt.outcome == "done");
  CHECK(attempt.environment.at("host") == "h");
  CHECK(attempt.environment.at("resumed") == json{{"step", 30}, {"attempt", "0wner"}, {"environments", differences}});
  CHECK(attempt.wall_s == 102.5);
  CHECK(attempt.results.at("time/wall") == 102.5);
  CHECK(attempt.results.at("time/cpu") == 52);
  CHECK(attempt.results.at("memory/peak_resident") == 2);

  AttemptInProgress anew(kPlanned, {{"host", "h"}}, 0, 0, kNoVerdicts);
  anew.take(to_json(Resumed{.unusable = {"one is damaged"}}));
  CHECK_FALSE(anew.is_resumed());
  CHECK_FALSE(anew.attempt().environment.contains("resumed"));
}

TEST_CASE("an attempt that is interrupted reports the step from which it can resume") {
  AttemptInProgress trial(kPlanned, {}, 0, 0, kNoVerdicts);
  trial.take(to_json(Saved{20}));
  trial.take(to_json(Saved{40}));
  CHECK(trial.saves() == 2);
  trial.end("interrupted", "interrupted by SIGTERM", 3);
  CHECK(trial.attempt().reason == "interrupted by SIGTERM; the trial can resume after step 40");
  AttemptInProgress full(kPlanned, {}, 0, 0, kNoVerdicts);
  full.take(to_json(Saved{40, "No space left on device"}));
  full.end("interrupted", "interrupted by SIGTERM", 3);
  CHECK(full.attempt().reason == "interrupted by SIGTERM");
}
