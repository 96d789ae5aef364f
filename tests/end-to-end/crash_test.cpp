// Report of a trial that crashes: the function, and its callers.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

#if !defined(__SANITIZE_ADDRESS__)  // a sanitizer reports crashes itself

namespace {

struct Crash {
  std::string reason, output;
  json signal;
};

/// Runs the trial of a fault. Returns its reason, output and signal in the history.
Crash crash(const std::string& fault) {
  Workplace place;
  const auto ended = place.run({"--plugins", kFaulty + "trial", "run",
                                place.study(kTiny + "[attention]\nplugin = \"faulty\"\nfault = \"" + fault + "\"\n").string()});
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  const auto row = place.query("SELECT attempt, reason, signal, output FROM attempts")[0];
  const auto shown = place.run({"show", row.at("attempt").dump()});
  CHECK(says(shown.out, "faulty.so"));
  return {row.at("reason"), row.at("output"), row.at("signal")};
}

}  // namespace

TEST_CASE("a crash names the plugin's function, and ends the trial by its own signal") {
  for (const auto& [fault, signal] : {std::pair{"null-write", 11}, {"null-call", 11}, {"segfault", 11}, {"abort", 6}}) {
    const auto [reason, output, found] = crash(fault);
    INFO(fault << ": " << reason << "\n" << output);
    CHECK(found == signal);
    CHECK(says(reason, "signal " + std::to_string(signal)));
    CHECK(says(output, "about to: " + std::string(fault)));
    CHECK(says(output, "Faulty::attended(at::"));
    CHECK(says(output, " in faulty.so"));
    CHECK(says(output, "ablate::Model::forward("));
    CHECK(says(output, " in ablate-worker"));
    CHECK_FALSE(says(output, "trace_crashes"));
    CHECK_FALSE(says(output, "backward::"));
  }
}

TEST_CASE("a stack overflow is reported too, briefly") {
  const auto [reason, output, signal] = crash("recursion");
  INFO(output);
  CHECK(signal == 11);
  CHECK(says(output, "about to: recursion"));  // the frames have not displaced earlier output
  CHECK(count_of(output, "recurse_without_end(long) in faulty.so") >= 20);
  CHECK(count_of(output, "recurse_without_end") <= 30);
}

TEST_CASE("a crash that cannot be reported still ends the trial") {
  const auto corrupt = crash("corrupt-heap");  // the report needs memory
  CHECK((corrupt.signal == 6 || corrupt.signal == 11));
  CHECK(crash("crash-unheard").signal == 11);  // the report never ends, and is terminated
}

#endif
