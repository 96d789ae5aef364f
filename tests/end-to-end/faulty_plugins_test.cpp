// Broken plugins in trials: each costs one trial, and the host is unharmed. (Refused plugins: tests/faulty.)
#include <sched.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

std::string faults(const std::string& list) {
  return kTiny + "[attention]\nplugin = \"faulty\"\n[grid]\nattention.fault = [" + list + "]\n";
}

json outcomes(Workplace& place) {
  json result;
  for (const auto& row : place.query("SELECT \"attention.fault\" AS fault, outcome, reason FROM trials"))
    result[row.at("fault").get<std::string>()] = {row.at("outcome"), row.at("reason")};
  return result;
}

}  // namespace

TEST_CASE("a trial that crashes, throws, exits or diverges is recorded, and the grid goes on", "[isolation]") {
  const std::map<std::string, std::string> reasons = {
      {"throw-in-factory", "the factory has thrown"},
      {"null-factory", "attention faulty: its factory returned nothing"},
      {"unpromised", "asks for a part \"memory\", which is no parameter that names plugins"},
      {"throw", "attend has thrown"},
      {"throw-int", "no std::exception"},
      {"throw-lines", "first [2Jsecond \uFFFD line"},
      {"throw-on-step", "on_step has thrown"},
      {"segfault", "signal 11"},
      {"abort", "signal 6"},
      {"exit", "ended without a result"},
      {"close", "exit code 1"},
      {"nan", "loss is nan at step"},
      {"nan-in-evaluation", "dev loss is nan"},
      {"memory", "alloc"},
      {"wrong-shape", "mat1 and mat2 shapes cannot be multiplied"},
      {"broadcast",
       "returned an output of Float [10, 1, 8] on cpu, expected Float [10, 24, 8] on cpu (batch, length, d_model)"},
      {"wrong-type", "returned an output of Double [10, 24, 8]"},
      {"undefined", "returned no output, expected Float [10, 24, 8]"},
      {"bad-loss", "auxiliary loss of Float [10, 24] on cpu, expected a scalar"},
      {"forge", "into the channel that the host keeps for results"},
      {"forge-and-crash", "into the channel that the host keeps for results"},
      {"threads", "torch computes with 7 threads at the end of the trial, and with 1 at its beginning"},
      {"odd-metric", "a metric named \"Share \"of\" \", expected snake_case"},
  };
  // A trial with odd but harmless behaviour is done, and so is a trial that reports a metric without a number.
  const std::vector<std::string> harmless = {"none",  "strided", "exit-at-end", "nan-metric",
                                             "print", "fork",    "chdir",       "orphan"};
  std::string list;
  for (const auto& fault : harmless) list += "\"" + fault + "\", ";
  for (const auto& [fault, reason] : reasons) list += "\"" + fault + "\", ";
  Workplace place;
  const auto ended = place.run({"--plugins", kFaulty + "trial", "run", place.study(faults(list)).string()});
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  const auto rows = outcomes(place);
  REQUIRE(rows.size() == harmless.size() + reasons.size());
  for (const auto& [fault, reason] : reasons) {
    INFO(fault << ": " << rows.at(fault).dump());
    CHECK(rows.at(fault).at(0) == (fault == "memory" ? "oom" : "failed"));
    CHECK(says(rows.at(fault).at(1), reason));
    CHECK_FALSE(says(rows.at(fault).at(1), "\n"));
  }
  for (const auto& fault : harmless) {
    INFO(fault << ": " << rows.at(fault).dump());
    CHECK(rows.at(fault).at(0) == "done");
  }
  // The tail of the output is stored, and failed cells show their failure.
  CHECK(says(
      place.run({"show", place.query("SELECT attempt FROM trials WHERE \"attention.fault\" = 'segfault'")[0]["attempt"].dump()})
          .out,
      "about to: segfault"));
  const auto table = place.run({"table", "tiny", "--rows", "attention.fault"});
  CHECK(table.exit_code == 0);
  CHECK(says(table.out, "signal 11"));
  CHECK(place.query("SELECT \"attention/faulty/share\" AS s FROM trials WHERE \"attention.fault\" = 'nan-metric'")[0]["s"]
            .is_null());
  // No process that a trial started outlives the trial.
  CHECK(Process({"pgrep", "-fx", "sleep 98765"}).wait().exit_code == 1);
}

TEST_CASE("a trial that prints without end is ended by the time-out, and the others go on beside it") {
  Workplace place;
  const auto ended = place.run({"--plugins", kFaulty + "trial", "run", place.study(faults("\"print-on\", \"none\"")).string(),
                                "-j", "2", "--set", "experiment.timeout=4"});
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  const auto rows = outcomes(place);
  CHECK(rows.at("print-on").at(0) == "timeout");
  CHECK(place.query("SELECT max(length(output)) AS n FROM attempts")[0]["n"] == 8192);  // although the trial prints gigabytes
  CHECK(rows.at("none").at(0) == "done");
}

TEST_CASE("a compression that throws or returns the wrong shape fails only its trial") {
  const std::map<std::string, std::string> reasons = {
      {"factory", "factory has thrown"},
      {"write", "write has thrown"},
      {"read", "read has thrown"},
      {"on-step", "on-step has thrown"},
      {"wrong-shape",
       "compression faulty-compression: its read() returned a result of Float [10, 2, 1, 4] on cpu, expected Float [10, 2, 24, "
       "4]"
       " on cpu (batch, heads, queries, d_value)"},
      {"no-values", "its write() returned no values, expected Float [10, 2, 24, 4] on cpu (batch, heads, slots, d_value)"},
      {"one-head", "its write() returned values of Float [10, 1, 24, 1] on cpu, expected Float [10, 2, 24, 4]"},
      {"too-many-slots", "its write() returned keys of Float [10, 2, 48, 4] on cpu, expected Float [10, 2, 24, 4]"},
      {"wrong-type", "its write() returned values of Double [10, 2, 24, 4] on cpu, expected Float"},
      {"one-mass", "its write() returned mass of Float [1, 1, 1] on cpu, expected Float [10, 1, 24] on cpu"},
      {"odd-slots", "its write() returned slots of Bool [10, 24] on cpu, expected Bool [10, 1, 24] on cpu"}};
  std::string all = "\"none\"";
  for (const auto& [fault, reason] : reasons) all += ", \"" + fault + "\"";
  Workplace place;
  const auto ended = place.run({"--plugins", kFaulty + "trial", "run",
                                place
                                    .study(kTiny +
                                           "[attention]\nplugin = \"compressed\"\nrate = 1\n[attention.compression]\nplugin = "
                                           "\"faulty-compression\"\n[grid]\nattention.compression.fault = [" +
                                           all + "]\n")
                                    .string()});
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  for (const auto& row :
       place.query("SELECT \"attention.compression.fault\" AS fault, outcome, coalesce(reason, '') AS reason FROM trials")) {
    INFO(row.dump());
    const auto expected = reasons.find(row.at("fault"));
    CHECK(row.at("outcome") == (expected == reasons.end() ? "done" : "failed"));
    if (expected != reasons.end()) CHECK(says(row.at("reason"), expected->second));
  }
}

TEST_CASE("a trial that hangs is ended by the time-out") {
  Workplace place;
  const auto ended = place.run({"--plugins", kFaulty + "trial", "run", place.study(faults("\"hang\", \"none\"")).string(),
                                "--set", "experiment.timeout=3"});
  CHECK(ended.exit_code == 1);
  const auto rows = outcomes(place);
  CHECK(rows.at("hang").at(0) == "timeout");
  CHECK(says(rows.at("hang").at(1), "3 s"));
  CHECK(rows.at("none").at(0) == "done");
}

TEST_CASE("a trial that kills its worker again and again is found, and costs no other trial") {
  Workplace place;
  const auto ended = place.run({"--plugins", kFaulty + "trial", "run",
                                place.study(faults("\"none\", \"kill-worker\", \"strided\"")).string(), "-j", "3"});
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  const auto rows = outcomes(place);
  CHECK(rows.at("kill-worker").at(0) == "failed");
  CHECK(says(rows.at("kill-worker").at(1), "the worker ended (signal 9"));
  CHECK(rows.at("none").at(0) == "done");
  CHECK(rows.at("strided").at(0) == "done");
  CHECK(says(ended.err, "2 done, 0 done before, 1 failed"));
}

TEST_CASE("failed trials are retried if this is requested, and done trials are not") {
  Workplace place;
  const auto study = place.study(faults("\"throw\", \"none\"")).string();
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--plugins", kFaulty + "trial", "run", study});
    return place.run(more);
  };
  CHECK(run({}).exit_code == 1);
  const auto next = run({});
  CHECK(next.exit_code == 1);
  CHECK(says(next.err, "0 done, 1 done before, 0 failed, 1 set aside"));
  CHECK(says(next.err,
             "set aside, since they failed before: 1 failed; tried again by: ablate run " + study + " --retry failed\n"));
  const auto dry = run({"--dry-run", "--by-cost"});
  CHECK(says(dry.out, "; set aside (--retry failed)\n"));
  CHECK(says(dry.out, "0 of them are to run\n"));
  CHECK(says(run({"--retry", "all"}).err, "0 done, 1 done before, 1 failed"));
  CHECK(says(run({"--retry", "failed", "--retry", "timeout"}).err, "0 done, 1 done before, 1 failed"));
  const auto last = run({"--retry", "failed"});
  CHECK(says(last.err, "set aside, since they failed 3 times: 1; only --again runs them, and done trials, too: ablate run"));
  CHECK(says(last.err, "0 done, 1 done before, 0 failed, 1 set aside"));
  CHECK(says(run({"--again"}).err, "1 done, 0 done before, 1 failed"));
}

TEST_CASE("a trial that exceeds the command's memory or time limit is ended, and the others go on") {
  Workplace place;
  const auto ended = place.run(
      {"--plugins", kFaulty + "trial", "run", place.study(faults("\"grow\", \"hang\", \"none\"")).string(), "--memory", "300M",
       "--timeout", "6", "-j", "1", "--notify", "echo $ABLATE_EVENT $ABLATE_FAILED >> " + (place.folder() / "told").string()});
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  const auto rows = outcomes(place);
  CHECK(rows.at("grow").at(0) == "oom");
  CHECK(says(rows.at("grow").at(1), " MiB of memory of its own, and --memory allows 300 MiB"));
  CHECK(rows.at("hang").at(0) == "timeout");
  CHECK(rows.at("hang").at(1) == "ran longer than the 6 s of its time limit");
  CHECK(rows.at("none").at(0) == "done");
  CHECK(says(ended.err, "  1 oom: it held "));
  for (int i = 0; i < 100 && !says(read_text(place.folder() / "told"), "end 2\n"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(read_text(place.folder() / "told") == "failure 1\nend 2\n");
}

TEST_CASE("a running trial has its own processors and its own limit of memory") {
  Workplace place;
  auto running = place.start(
      {"--plugins", kFaulty + "trial", "run", place.study(faults("\"hang\"")).string(), "--memory", "300M", "-j", "1"});
  pid_t trial = 0;
  const auto says_of = [&](const char* file, const char* what) {
    return says(read_text("/proc/" + std::to_string(trial) + "/" + file), what);
  };
  const auto runs = [&] { return place.has_database() && place.query("SELECT key FROM running").size() == 1; };
  for (int i = 0; i < 600 && trial == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (!runs()) continue;  // before the trial, the task is loaded in a process of its own
    for (const auto worker : children_of(running.pid()))
      for (const auto one : children_of(worker)) trial = one;
  }
  REQUIRE(trial > 0);
  const auto own = [&] {
    cpu_set_t set;
    return sched_getaffinity(trial, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
  };
  const auto data_limit = [&] { return !says_of("limits", "Max data size             unlimited"); };
  const auto shares = [&] { return says(running.printed(), "too few processors are free"); };  // if other tests use them
  for (int i = 0; i < 100 && !((own() == 1 || shares()) && data_limit()); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::this_thread::sleep_for(std::chrono::seconds(1));  // by now the trial hangs in its plugin
  CHECK((own() == 1 || shares()));
  CHECK(data_limit());
  running.send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // otherwise both signals count as one request
  running.send(SIGINT);
  running.wait();
}

TEST_CASE("other trials keep their numbers if a library changes how its process computes") {
  const auto study = [](const std::string& more) {
    return kTiny + "[grid]\nattention.plugin = [\"softmax\", \"linear\"" + more + "]\n";
  };
  const std::string sql =
      "SELECT key, \"train/loss\", \"dev/loss\", \"test/loss\" FROM trials WHERE attention <> 'meddle-numbers' ORDER BY key";
  Workplace alone, beside;
  REQUIRE(alone.run({"run", alone.study(study("")).string()}).exit_code == 0);
  const auto ended = beside.run({"--plugins", kFaulty + "trial", "run", beside.study(study(", \"meddle-numbers\"")).string()});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  const auto expected = alone.query(sql);
  REQUIRE(expected.size() == 2);
  CHECK(beside.query(sql) == expected);
}
