// Broken plugins: each costs one trial, or is refused with its reason, and the host is unharmed.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

std::string faults(const std::string& list) {
  return kTiny + "[attention]\nplugin = \"faulty\"\n[grid]\nattention.fault = [" + list + "]\n";
}

json outcomes(Workplace& place) {
  json result;
  for (const auto& row : place.query("SELECT \"attention.fault\" AS fault, outcome, reason FROM runs"))
    result[row.at("fault").get<std::string>()] = {row.at("outcome"), row.at("reason")};
  return result;
}

}  // namespace

TEST_CASE("a trial that crashes, throws, exits or diverges is recorded, and the grid goes on", "[isolation]") {
  Workplace place;
  const auto ended = place.run(
      {"--plugins", kFaulty + "trial", "run",
       place
           .study(faults(
               R"("none", "throw-in-factory", "throw", "throw-int", "segfault", "abort", "exit", "nan", "memory", "wrong-shape")"))
           .string()});
  CHECK(ended.exit_code == 1);
  CHECK(says(ended.err, "1 done, 0 done before, 9 failed"));
  const auto rows = outcomes(place);
  REQUIRE(rows.size() == 10);
  const auto expect = [&](const char* fault, const char* reason) {
    INFO(fault << ": " << rows.at(fault).dump());
    CHECK(rows.at(fault).at(0) == "failed");
    CHECK(says(rows.at(fault).at(1), reason));
  };
  CHECK(rows.at("none").at(0) == "done");
  expect("throw-in-factory", "the factory has thrown");
  expect("throw", "attend has thrown");
  expect("throw-int", "no std::exception");
  expect("segfault", "signal 11");
  expect("abort", "signal 6");
  expect("exit", "ended without a result");
  expect("nan", "loss is nan at step");
  expect("memory", "alloc");
  expect("wrong-shape", "");
  // The tail of the output is kept, and failed cells are shown as what they are.
  CHECK(
      says(place.run({"show", place.query("SELECT run FROM runs WHERE \"attention.fault\" = 'segfault'")[0]["run"].dump()}).out,
           "about to: segfault"));
  const auto table = place.run({"table", "tiny", "--rows", "attention.fault"});
  CHECK(table.exit_code == 0);
  CHECK(says(table.out, "signal 11"));
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

TEST_CASE("even the death of the worker costs only what it ran") {
  Workplace place;
  const auto ended =
      place.run({"--plugins", kFaulty + "trial", "run", place.study(faults("\"kill-worker\", \"none\"")).string(), "-j", "1"});
  CHECK(ended.exit_code == 1);
  const auto rows = outcomes(place);
  CHECK(rows.at("kill-worker").at(0) == "failed");
  CHECK(says(rows.at("kill-worker").at(1), "the worker ended (signal 9"));
  CHECK(rows.at("none").at(0) == "done");
}

TEST_CASE("failed trials are tried again, done ones are not") {
  Workplace place;
  const std::vector<std::string> command{"--plugins", kFaulty + "trial", "run",
                                         place.study(faults("\"throw\", \"none\"")).string()};
  CHECK(place.run(command).exit_code == 1);
  CHECK(says(place.run(command).err, "0 done, 1 done before, 1 failed"));
}

TEST_CASE("libraries that cannot be loaded are refused with a reason, and the others are listed") {
  Workplace place;
  const auto listed = place.run({"--plugins", kFaulty + "load", "plugins", "--json"});
  REQUIRE(listed.exit_code == 0);
  std::map<std::string, std::string> refusals;
  bool softmax = false;
  for (const auto& library : json::parse(listed.out)) {
    if (library.contains("refusal"))
      refusals[std::filesystem::path(library.at("path").get<std::string>()).stem()] = library.at("refusal");
    softmax = softmax || library.value("id", "") == "softmax";
  }
  CHECK(softmax);
  CHECK(refusals.size() == 5);
  CHECK(says(refusals["crash_on_load"], "signal 11"));
  CHECK(says(refusals["throw_on_load"], "signal 6"));
  CHECK(says(refusals["bad_default"], "size: the default is 0, expected an integer in [1, 10]"));
  CHECK(says(refusals["no_symbol"], "ablate_plugin"));
  CHECK(says(refusals["old_sdk"], "SDK version 999"));

  const auto asked = place.run({"--plugins", kFaulty + "load", "plugins", "old_sdk"});
  CHECK(asked.exit_code == 3);
  CHECK(says(asked.err, "SDK version 999"));
}
