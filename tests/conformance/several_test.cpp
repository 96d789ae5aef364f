// `ablate check` over several plugins at once: blocks in order, timing after the rest, and a worker that dies.
#include <regex>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

const std::string kBuilt = std::string(ABLATE_BUILD_DIR) + "/lib/ablate/plugins/";

/// A workplace whose program finds only these plugins.
struct Few : Workplace {
  explicit Few(const std::vector<std::string>& libraries) {
    const auto prefix = folder() / "prefix";
    std::filesystem::create_directories(prefix / "bin");
    std::filesystem::create_directories(prefix / "lib/ablate/plugins");
    for (const auto* program : {"ablate", "ablate-worker", "ablate-checker"})
      std::filesystem::copy_file(kBin + program, prefix / "bin" / program);
    for (const auto& library : libraries)
      std::filesystem::copy_file(library, prefix / "lib/ablate/plugins" / std::filesystem::path(library).filename());
    set("XDG_CACHE_HOME", (folder() / "cache").string());
  }
  Ended ablate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), (folder() / "prefix/bin/ablate").string());
    return start_program(arguments).wait();
  }
  Ended check(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    return ablate(std::move(arguments));
  }
};

}  // namespace

TEST_CASE("plugins that are checked in parallel are reported one after the other, in order") {
  Few place({kBuilt + "listops.so", kBuilt + "segment-mean.so", kFaulty + "check/wrong.so"});
  const auto ended = place.check({"-j", "3", "--no-timing"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  // The lines between a plugin's header and its summary belong to this plugin.
  std::string order;
  const std::regex mark("(?:^|\n)(listops|segment-mean|wrong)( \\(|: )");
  for (std::sregex_iterator at(ended.out.begin(), ended.out.end(), mark), none; at != none; ++at)
    order += (*at)[1].str() + (*at)[2].str();
  CHECK(order == "listops (listops: segment-mean (segment-mean: wrong (wrong: ");
  CHECK(says(ended.out, "\n3 plugins: 2 passed; FAILED: wrong (long, additive, padding, forms)\n"));
  CHECK_FALSE(says(ended.out, "time, one plugin"));
}

TEST_CASE("only the plugin that ends the worker of several plugins has no verdict") {
  Few place({kBuilt + "segment-mean.so", kFaulty + "check/ends_worker.so"});
  const auto ended = place.check({"-j", "2", "--no-timing", "--format", "json"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  for (const auto& plugin : json::parse(ended.out)) {
    CHECK(plugin.at("verdict") == (plugin.at("id") == "segment-mean" ? "passed" : "unchecked"));
    if (plugin.at("id") != "ends-worker") continue;
    const auto& last = plugin.at("checks").back();
    CHECK(last.at("verdict") == "unchecked");
    CHECK(says(last.at("found"), "broken off: the worker ended (signal 9"));
  }
}

TEST_CASE("a wrong compression of a third party is no fault of an attention that is tried with this compression") {
  Few place({kBuilt + "compressed.so", kBuilt + "segment-mean.so", kFaulty + "check/broken.so"});
  const auto checked = [&](int exit_code) {
    const auto ended = place.check({"compressed", "--no-timing", "--format", "json"});
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == exit_code);
    return json::parse(ended.out).at(0).at("checks");
  };
  const auto kept = [&] { return json::parse(place.ablate({"plugins", "compressed", "--format", "json"}).out).at("checks"); };
  const std::set<std::string> machine = {"cuda", "equals", "forms"};  // checks that may need something that is missing here
  int unchecked = 0;
  for (const auto& check : checked(0)) {
    INFO(check.dump());
    CHECK(check.at("verdict") != "failed");
    if (check.at("verdict") != "unchecked" || machine.count(check.at("check")) == 1) continue;
    CHECK(says(check.at("found"), "with broken, which fails "));
    ++unchecked;
  }
  CHECK(unchecked > 0);
  CHECK(kept().at("verdict") == "passed");

  // If a part ends the process, the job goes on without the part.
  place.set("ABLATE_TEST_BROKEN", "1");
  const auto with_crash = checked(1);
  CHECK(with_crash.front().at("part") == "broken");
  CHECK(says(with_crash.front().at("found"), "signal 11"));
  CHECK(with_crash.size() > 20);
  for (std::size_t i = 1; i < with_crash.size(); ++i) CHECK(with_crash[i].at("verdict") != "failed");
  CHECK(kept().at("verdict") == "passed");
  CHECK(says(kept().at("unchecked").dump(), " with broken"));
}

TEST_CASE("time is measured last, one plugin after the other, and is part of the verdict") {
  Few place({kBuilt + "segment-mean.so", kBuilt + "listops.so"});
  const auto ended = place.check({"-j", "2", "--format", "json"});
  INFO(ended.out << ended.err);
  for (const auto& plugin : json::parse(ended.out)) {
    const auto& checks = plugin.at("checks");
    const auto times = std::count_if(checks.begin(), checks.end(), [](const auto& one) { return one.at("check") == "time"; });
    CHECK(times == (plugin.at("id") == "listops" ? 0 : 1));
    if (times == 1) CHECK(checks.back().at("check") == "time");
  }
  const auto one = place.check({"segment-mean", "--quick", "--format", "json"});
  for (const auto& check : json::parse(one.out).at(0).at("checks")) CHECK(check.at("check") != "time");
}
