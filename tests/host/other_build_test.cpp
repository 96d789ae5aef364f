// The first message of a worker from another build, sent by a script.
#include <fmt/format.h>

#include <filesystem>

#include "core/host/client/start_worker.h"
#include "core/shared/build_identity.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"
#include "tests/support/temporary.h"

using namespace ablate;

namespace {

/// A worker that sends this line, and then nothing.
struct Saying {
  explicit Saying(const std::string& line) {
    const auto program = folder.write("worker", fmt::format("#!/bin/sh\necho '{}'\necho $$ > '{}'\nexec cat > /dev/null\n",
                                                            line, (folder / "process").string()));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    setenv("ABLATE_WORKER", program.c_str(), 1);
  }
  ~Saying() { unsetenv("ABLATE_WORKER"); }

  TemporaryFolder folder;
};

std::string hello(const std::string& build) {
  return fmt::format(R"({{"event": "ready", "environment": {{}}, "most_jobs": 7, "word": "w"{}}})", build);
}

}  // namespace

TEST_CASE("a worker of another build is refused at its first message, at once") {
  const auto own = build_identity();
  CHECK(own.size() == 16);
  {
    const Saying same(hello(fmt::format(R"(, "build": "{}")", own)));
    CHECK(start_worker(kWorker, 60)->most_jobs() == 7);
  }
  const auto line = GENERATE(as<std::string>(), hello(R"(, "build": "0123456789abcdef")"), hello(""), hello(R"(, "build": 3)"),
                             R"({"event": "ready", "of": "another shape"})");
  INFO(line);
  const Saying other(line);
  auto executors = local_workers();
  std::vector<std::string> notes;
  const auto start = [&] { executors.need([&](const std::string& note) { notes.push_back(note); }); };
  CHECK_THROWS_MATCHES(start(), OtherBuild, Catch::Predicate<OtherBuild>([&](const OtherBuild& error) {
                         const std::string what = error.what();
                         const auto found = line.find("0123") == std::string::npos ? "none" : "0123456789abcdef";
                         return error.is_first && error.code() == ExitCode::kUsage &&
                                what.find(fmt::format("found {}, expected {}.", found, own)) != std::string::npos;
                       }));
  CHECK(notes.empty());  // a second try would have the same result
}

TEST_CASE("threads of a worker wait without spinning, unless the user has set OMP_WAIT_POLICY") {
  const Saying worker(fmt::format(
      R"({{"event": "ready", "environment": {{"policy": "'"$OMP_WAIT_POLICY"'"}}, "most_jobs": 1, "word": "w", "build": "{}"}})",
      build_identity()));
  unsetenv("OMP_WAIT_POLICY");
  for (const char* expected : {"PASSIVE", "ACTIVE"}) {
    CHECK(start_worker(kWorker, 60)->environment().at("policy") == expected);
    setenv("OMP_WAIT_POLICY", "ACTIVE", 1);
  }
  unsetenv("OMP_WAIT_POLICY");
}
