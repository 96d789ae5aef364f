// A task that throws, crashes or lies in one of its calls: the reason is reported, and no other trial is affected.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

struct Case {
  const char *where, *how;
  int exit_code;
  const char* reason;
};

std::string study(const std::string& rows) {
  return R"(
[experiment]
name = "bad"
[task]
plugin = "faulty-task"
[attention]
plugin = "linear"
[model]
layers = 1
d_model = 8
hidden = 8
[train]
steps = 2
batch = 10
[grid]
rows = [)" +
         rows + "]\n";
}

std::string row(const std::string& where, const std::string& how) {
  return "{ task.where = \"" + where + "\", task.how = \"" + how + "\" },";
}

}  // namespace

TEST_CASE("a task that fails before any trial ends the run with its reason, and nothing is written") {
  // Exit code 2: the user may be able to repair a reported error (missing data). Exit code 3: the library crashed or lied.
  const auto one = GENERATE(Case{"factory", "throw", 2, "factory has thrown, as it was asked to"},
                            Case{"info", "throw", 2, "info has thrown, as it was asked to"},
                            Case{"load", "throw", 2, "load has thrown, as it was asked to"},
                            Case{"digest", "throw", 2, "digest has thrown, as it was asked to"},
                            Case{"size", "throw", 2, "size has thrown, as it was asked to"},
                            Case{"load", "throw-int", 2, "no std::exception"}, Case{"info", "crash", 3, "signal 11"},
                            Case{"load", "crash", 3, "signal 11"}, Case{"info", "exit", 3, "ended without an answer"},
                            Case{"load", "close", 3, "exit code 1"}, Case{"info", "kill-worker", 3, "signal 9"},
                            Case{"info", "lie", 3, "length = -1, expected 1 to"},
                            Case{"info", "lie-less", 3, "the vocabulary of the field symbol = 1, expected 2 to"},
                            Case{"digest", "lie", 3, "digest() is empty"},
                            Case{"info", "take-metric", 3, "a metric accuracy that the host writes itself"},
                            Case{"info", "take-step", 3, "a metric best_step that the host writes itself"},
                            Case{"size", "lie", 3, "train split has -1 examples, expected 0 to"});
  INFO(one.where << " " << one.how);
  Workplace place;
  const auto ended =
      place.run({"--plugins", kFaulty + "trial", "run", place.study(study(row(one.where, one.how))).string(), "-j", "1"});
  INFO(ended.err);
  CHECK(ended.exit_code == one.exit_code);
  CHECK(says(ended.err, "task faulty-task: "));
  CHECK(says(ended.err, one.reason));
  CHECK_FALSE(place.has_database());
}

TEST_CASE("a task that fails in a trial fails only that trial") {
  Workplace place;
  const auto ended =
      place.run({"--plugins", kFaulty + "trial", "run",
                 place
                     .study(study(row("nowhere", "throw") + row("read", "throw") + row("read", "crash") + row("read", "lie") +
                                  row("read", "lie-less") + row("read", "leave-out") + row("read", "fork") +
                                  row("load", "fork") + row("read", "judge-nan") + row("read", "judge-huge")))
                     .string()});
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  std::map<std::string, std::pair<std::string, std::string>> rows;
  for (const auto& r :
       place.query("SELECT \"task.where\" AS w, \"task.how\" AS h, outcome, coalesce(reason, '') AS reason FROM trials"))
    rows[r["w"].get<std::string>() + " " + r["h"].get<std::string>()] = {r["outcome"], r["reason"]};
  REQUIRE(rows.size() == 10);
  CHECK(rows["nowhere throw"].first == "done");
  CHECK(rows["read throw"].second == "read has thrown, as it was asked to");
  CHECK(says(rows["read crash"].second, "signal 11"));
  CHECK(says(rows["read lie"].second, "handed out the id 99 of the field "));
  CHECK(says(rows["read lie-less"].second, "handed out the label -7"));
  CHECK(says(rows["read judge-nan"].second, "judges example 0 with depth = nan"));
  CHECK(says(rows["read judge-huge"].second, "with values of depth whose sum is inf"));
  CHECK(says(rows["read leave-out"].second, "handed out the label -1"));
  // If a plugin forks, the copy of the process must not answer for a trial or for the worker.
  CHECK(rows["read fork"].first == "done");
  CHECK(rows["load fork"].first == "done");
  CHECK(place.query("SELECT count(*) AS n FROM attempts")[0]["n"] == 10);
}

TEST_CASE("a task that changes the working folder changes it only for itself") {
  Workplace place;
  const auto ended = place.run(
      {"--plugins", kFaulty + "trial", "run", place.study(study(row("load", "chdir") + row("load", "look"))).string()});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
}

TEST_CASE("a library that meddles with the worker's process while it is loaded") {
  Workplace place;
  const auto meddled =
      place.run({"--plugins", kFaulty + "trial", "run",
                 place.study("[task]\nplugin = \"meddle\"\n[attention]\nplugin = \"linear\"\n[train]\nsteps = 2\n").string()});
  INFO(meddled.err);
  CHECK(meddled.exit_code == 0);
  CHECK(place.query("SELECT count(*) AS n FROM attempts WHERE outcome = 'done'")[0]["n"] == 1);
}
