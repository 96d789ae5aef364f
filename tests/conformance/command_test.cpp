// `ablate check` on right and wrong plugins, plugins that crash or hang, and libraries that cannot be loaded.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

const std::string kWrong = kFaulty + "check/wrong.so";

/// A workplace with its own cache, because other tests must not see new verdicts while they run.
struct Place : Workplace {
  Place() { set("XDG_CACHE_HOME", std::string(ABLATE_BUILD_DIR) + "/tests/cache-of-checks"); }
};

std::vector<std::string> lines(const std::string& text) {
  std::istringstream all(text);
  std::vector<std::string> each;
  for (std::string line; std::getline(all, line);) each.push_back(line);
  return each;
}

std::set<std::string> names(const json& checks, const std::string& verdict) {
  std::set<std::string> all;
  for (const auto& check : checks)
    if (check.at("verdict") == verdict) all.insert(check.at("check").get<std::string>());
  return all;
}

json check(Place& place, const std::string& fault, int exit_code) {
  const auto ended = place.run({"check", kWrong, "--no-timing", "--format", "json", "--timeout", fault == "hang" ? "15" : "300",
                                "--set", "fault=" + fault});
  INFO(ended.out << ended.err);
  REQUIRE(ended.exit_code == exit_code);
  const auto answer = json::parse(ended.out);
  REQUIRE(answer.size() == 1);
  CHECK(answer[0].at("id") == "wrong");
  CHECK(answer[0].at("verdict") == (exit_code == 0 ? "passed" : "failed"));
  return answer[0].at("checks");
}

/// Returns the text of the only failed check.
std::string found(const json& checks, const std::string& name) {
  CHECK(names(checks, "failed") == std::set<std::string>{name});
  for (const auto& each : checks)
    if (each.at("verdict") == "failed") return each.at("found");
  return "";
}

}  // namespace

TEST_CASE("a right plugin passes, and a faulty plugin fails the named checks") {
  Place place;
  CHECK(names(check(place, "none", 0), "passed").count("memory") == 1);
  const auto wrong = check(place, "padding", 1);
  CHECK(names(wrong, "failed") == std::set<std::string>{"additive", "forms", "long", "padding"});
  CHECK(names(wrong, "passed").count("gradient") == 1);
  const auto shown = place.run({"check", kWrong, "--no-timing"});  // the fault "padding" is the default
  CHECK(shown.exit_code == 1);
  CHECK(says(shown.out, "FAILED     padding"));
  CHECK(says(shown.out, "passed     gradient"));
  CHECK(says(shown.out, "FAILED: long, additive, padding, forms"));
  CHECK_FALSE(says(shown.out, "FAILED: long, additive, padding, forms,"));  // no other check failed
}

TEST_CASE("a check that --only selects and --quick leaves out is unchecked, and the reason names the quick run") {
  Place place;
  const auto shown = flat(place.run({"check", kWrong, "--quick", "--only", "forms"}).out);
  CHECK(says(shown, flat("a quick run leaves out this check; without --quick it runs")));
  CHECK_FALSE(says(shown, flat("none of its promises requires this check")));
}

TEST_CASE("a crash, an exit or a hang is a failed check, and earlier checks are shown") {
  Place place;
  for (const auto& [fault, reason] :
       {std::pair{"crash", "signal 11"}, {"exit", "ended the process"}, {"hang", "within 15 s"}}) {
    const auto checks = check(place, fault, 1);
    INFO(checks.dump());
    CHECK(names(checks, "passed").count("gradient") == 1);
    CHECK(says(found(checks, "evaluation"), reason));  // the first check with an item without tokens
    CHECK(checks.back().at("check") == "evaluation");
  }
  const auto idle =
      place.run({"check", kWrong, "--only", "evaluation", "--no-timing", "--timeout", "5", "--set", "fault=wait"});
  INFO(idle.out);
  CHECK(idle.exit_code == 0);
  CHECK(says(idle.out, "unchecked  evaluation"));
  CHECK(says(flat(idle.out), "did not end within 5 s, and used"));
  CHECK_FALSE(says(idle.out, "FAILED"));
  const auto thrown = check(place, "throw", 1);
  CHECK(names(thrown, "failed") == std::set<std::string>{"evaluation", "calls", "inputs", "empty", "forms"});
  CHECK(names(thrown, "passed").count("memory") == 1);
}

TEST_CASE("a library that cannot be loaded exits 3 with a reason, and a wrong or missing argument exits 2") {
  Place place;
  const auto expect = [&](const std::vector<std::string>& arguments, int code, const char* reason) {
    const auto ended = place.run(arguments);
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == code);
    CHECK(says(ended.err, reason));
  };
  expect({"check", kFaulty + "load/old_sdk.so"}, 3, "SDK version 999");
  expect({"check", kFaulty + "load/crash_on_load.so"}, 3, "signal 11");
  expect({"check", kFaulty + "load/bad_default.so"}, 3, "expected an integer in [1, 10]");
  expect({"check", kFaulty + "load/kill_worker_on_load.so"}, 3, "cannot be loaded");
  expect({"check", "./no-such.so"}, 2, "no such file");
  expect({"check", "softmx"}, 2, "did you mean softmax?");
  expect({"check", "softmx", "linear", "adamraa"}, 2,
         "no plugin softmx (did you mean softmax?), no plugin adamraa (did you mean adamra?); looked in");
  expect({"check", "softmax,linear"}, 2, "no plugin softmax,linear (write them apart: softmax linear)");
  expect({"check", kWrong, "--set", "falt=none"}, 2, "did you mean fault?");
  expect({"check", "softmax", "--set", "heads=many"}, 2, "expected an integer in [1, 64]");
  expect({"check", "--set", "heads=2"}, 2, "a single plugin");
}

TEST_CASE("a plugin is found by its id, and a compression is taken from the plugin folders") {
  Place place;
  const auto ended = place.run({"check", "segment-mean", "--no-timing"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(says(ended.out, "segment-mean (compression"));
  CHECK(says(ended.out, "all passed"));
  // A check with --length stores this length in its verdict.
  CHECK(place.run({"check", "segment-mean", "--no-timing", "--length", "2400"}).exit_code == 0);
  const auto kept = json::parse(place.run({"plugins", "segment-mean", "--format", "json"}).out).at("checks");
  CHECK(kept.at("lengths") == json{{"any", 2400}});
  CHECK(says(place.run({"plugins", "segment-mean"}).out, "without timing; longest checked lengths: 2,400"));
}

TEST_CASE("a check that cannot run on this machine is shown with its reason, and has neither passed nor failed") {
  Place place;
  const auto ended = place.run({"check", "segment-mean", "--no-timing", "--format", "json"});
  REQUIRE(ended.exit_code == 0);
  const auto checks = json::parse(ended.out)[0].at("checks");
  const auto cuda = std::find_if(checks.begin(), checks.end(), [](const auto& check) { return check.at("check") == "cuda"; });
  REQUIRE(cuda != checks.end());
  if (cuda->at("verdict") != "unchecked") return;  // a machine with a GPU
  CHECK(cuda->at("error").is_null());
  const std::string why = cuda->at("found");
  const auto shown = place.run({"check", "segment-mean", "--no-timing"});
  CHECK(shown.exit_code == 0);
  CHECK(says(flat(shown.out), flat(fmt::format("{} checks, all passed; 1 unchecked: cuda: {}\n", checks.size() - 1, why))));
  CHECK(says(shown.out, "unchecked  cuda "));
}

TEST_CASE("if the device is missing, no check runs, and the command does not fail") {
  Place place;
  place.set("CUDA_VISIBLE_DEVICES", "");
  const auto shown = place.run({"check", "softmax", "--device", "cuda:7"});
  INFO(shown.out << shown.err);
  CHECK(shown.exit_code == 0);
  CHECK(says(flat(shown.out), "nothing was checked with --device cuda:7: CUDA was requested, "));
  const auto answer = json::parse(place.run({"check", "softmax", "--device", "cuda:7", "--format", "json"}).out);
  CHECK(answer.at(0).at("verdict") == "unchecked");
  CHECK(names(answer.at(0).at("checks"), "unchecked") == std::set<std::string>{"device"});
  const auto wrong = place.run({"check", "softmax", "--device", "gpu"});
  CHECK(wrong.exit_code == 2);
  CHECK(says(wrong.err, "found gpu, expected cpu, cuda or cuda:N"));
}

TEST_CASE("--only runs the checks of one name, and a check that does not apply is unchecked") {
  Place place;
  const auto one = json::parse(place.run({"check", "softmax", "--only", "cross", "--format", "json"}).out).at(0);
  CHECK(names(one.at("checks"), "passed") == std::set<std::string>{"cross"});
  CHECK(names(one.at("checks"), "unchecked").empty());  // the job that measures time runs no other check
  const auto unchecked = place.run({"check", "local", "--only", "cross", "--format", "json"});
  CHECK(unchecked.exit_code == 0);
  const auto none = json::parse(unchecked.out).at(0);
  CHECK(none.at("verdict") == "unchecked");
  CHECK(names(none.at("checks"), "unchecked") == std::set<std::string>{"cross"});
  CHECK(none.at("checks").size() == 1);
  CHECK(
      says(flat(place.run({"check", "softmax", "--only", "time", "--no-timing"}).out), "time is measured only for attentions"));
  // The value is TOML with its quotes, as in `ablate run`.
  CHECK(place.run({"check", kWrong, "--only", "padding", "--no-timing", "--set", "fault=\"padding\""}).exit_code == 1);
}

TEST_CASE("a request that cannot be checked prints one line and exits 2") {
  Place place;
  const auto expect = [&](std::vector<std::string> arguments, const std::string& why) {
    arguments.insert(arguments.begin(), "check");
    const auto ended = place.run(arguments);
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == 2);
    CHECK(ended.out == "");
    CHECK(says(ended.err, why));
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  };
  expect({"softmax", "--only", "paddin"}, "there is no check paddin (did you mean padding?)");
  expect({"softmax", "--set", "heads=3"}, "--set heads = 3: softmax cannot be made with these values at the suite's sizes");
  expect({"mixed", "--set", R"(parts=[{"plugin":"nope"}])"}, "there is no attention nope");
  expect({"compressed", "--set", "slots=8", "--set", R"(compression={"plugin":"clustering"})"}, "compressed cannot be made");
  expect({"entmax", "--set", "k=8"},
         "--set k=8 has no effect: entmax reads it only if weights = top-k; set weights, or leave out k");
  expect({"mixed", "--set", R"(parts=[{"plugin":"entmax","k":8}])"}, "--set parts.0.k=8 has no effect: entmax reads it");
  expect({"recall", "--length", "4500"}, "--length 4500: recall is a task, expected an attention or a compression");
  expect({"softmax", "--length", "4500", "--quick"}, "--length with --quick");
  expect({"compressed", "--set", "compression=rbf"}, R"(as --set 'compression={"plugin":"rbf"}')");
}

TEST_CASE("an exception is shown without a bound, and an error is shown with the allowed error") {
  Place place;
  const auto thrown = place.run({"check", kWrong, "--no-timing", "--set", "fault=throw", "--only", "calls"});
  CHECK(says(thrown.out, "FAILED     calls"));
  CHECK_FALSE(says(thrown.out, "reason for the tolerance"));
  const auto off = place.run({"check", kWrong, "--no-timing", "--set", "fault=padding", "--only", "padding"});
  CHECK(says(off.out, "FAILED     padding"));
  CHECK(says(flat(off.out), "; reason for the tolerance: "));
  for (const auto& line : lines(thrown.out + off.out)) {
    INFO(line);
    CHECK((line.size() <= 100 || line.find(' ') == std::string::npos));
  }
  CHECK(off.out.find("off by") == off.out.rfind("off by"));  // only in the heading of the column
}

TEST_CASE("a task that cannot be made is unchecked, which is no success if the task was named") {
  Place place;
  place.set("ABLATE_DATA", place.folder().path().string());
  const auto ended = place.run({"check", "lm"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(says(ended.out, "unchecked  data "));
  const auto only = place.run({"check", "lm", "--only", "files"});
  CHECK(only.exit_code == 1);
  CHECK(says(only.out, "unchecked  data "));
  CHECK(says(flat(ended.out), "lm: nothing was checked; 1 unchecked: data: lm: data = \"enwik8\" was not found"));
}

TEST_CASE("a task is checked on the user's own data, which no seed changes") {
  Place place;
  int number = 0;
  for (const auto& [name, rows] : {std::pair{"train", 300}, {"val", 100}, {"test", 100}}) {
    std::string text = "Source\tTarget\n";
    for (int i = 0; i < rows; ++i, ++number) {
      const int a = number % 10, b = number / 10 % 10, c = number / 100;
      text += fmt::format("[SM {} {} {} ]\t{}\n", a, b, c, (a + b + c) % 10);
    }
    place.folder().write(fmt::format("basic_{}.tsv", name), text);
  }
  const auto ended =
      place.run({"check", "listops", "--set", "data=" + place.folder().path().string(), "--set", "max_length=8"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(says(ended.out, "passed     another seed, another digest"));
}
