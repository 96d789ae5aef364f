// Limits of a job: a job that uses too much memory, and a job on some processors only.
#include <sched.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/trial/served.h"

using nlohmann::json;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

json end_of(const Served& served, const ablate::StartCommand& command) {
  served.send(command);
  return served.end_of(command.job);
}

/// Allocates and touches `mib` mebibytes, and holds them for three seconds.
void hold(const json& spec, const ablate::Say& say) {
  std::vector<char> held(static_cast<std::size_t>(spec.at("mib").get<std::int64_t>() * kMiB));
  std::memset(held.data(), 1, held.size());
  for (int i = 0; i < 30; ++i) nap(0.1);
  say({{"held", held.back()}});
}

/// Returns the processors that this process may run on, in order.
std::vector<int> own_processors() {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof(set), &set) == 0);
  std::vector<int> all;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) all.push_back(i);
  return all;
}

}  // namespace

TEST_CASE("a job above its memory limit is killed, and its last message has the amount; its parent's memory does not count") {
  std::vector<char> shared;
  const Served served(Actions({{"hold", hold}}), [&] { shared.assign(200 * kMiB, 1); });
  const auto over = end_of(served, {.job = 1, .kind = "hold", .spec = {{"mib", 150}}, .memory_bytes = 100 * kMiB});
  CHECK(over.at("status") == 9);
  const std::string why = over.at("memory");
  INFO(why);
  REQUIRE(why.starts_with("it held 1"));  // the job may be measured while it still grows
  CHECK(std::stod(why.substr(8)) >= 100);
  CHECK(std::stod(why.substr(8)) < 160);
  CHECK(why.ends_with(" MiB of memory of its own, and --memory allows 100 MiB"));
  CHECK(over.at("said").empty());
  const auto within = end_of(served, {.job = 2, .kind = "hold", .spec = {{"mib", 50}}, .memory_bytes = 100 * kMiB});
  CHECK(within.at("status") == 0);
  CHECK(within.at("memory") == "");
  CHECK(within.at("said").size() == 1);
}

TEST_CASE("a job that allocates far more than its limit at once is refused, and reports it") {
  const Served served(Actions({{"ask",
                                [](const json&, const ablate::Say&) {
                                  std::vector<char> all(static_cast<std::size_t>(2000 * kMiB), 1);
                                  nap(5);
                                }},
                               {"device", [](const json&, const ablate::Say&) {
                                  throw ablate::OutOfMemory(ablate::OutOfMemory::kDevice, "CUDA out of memory");
                                }}}));
  const auto refused = end_of(served, {.job = 1, .kind = "ask", .spec = json::object(), .memory_bytes = 100 * kMiB});
  CHECK(refused.at("status") != 9);
  CHECK(refused.at("said") ==
        json::array({{{"failed", "std::bad_alloc"}, {"fault", false}, {"ran_out_of", "the host's memory"}}}));
  const auto device = end_of(served, {.job = 2, .kind = "device", .spec = json::object()});
  CHECK(device.at("said").at(0).at("ran_out_of") == "the device's memory");
}

TEST_CASE("a job's memory is reported while it runs") {
  const Served served(Actions({{"hold", hold}}));
  served.send(ablate::StartCommand{.job = 1, .kind = "hold", .spec = {{"mib", 64}}});
  for (;;) {
    const auto event = served.next();
    REQUIRE(event.at("event") != "ended");
    if (event.at("event") != "size" || event.at("bytes") < 64 * kMiB) continue;  // not all memory is touched yet
    CHECK(event.at("bytes") < 96 * kMiB);
    return;
  }
}

TEST_CASE("a job runs on its given processors, or on all") {
  const auto all = own_processors();
  const int last = all.back();
  const Served served(Actions({{"where", [](const json&, const ablate::Say& say) { say({{"on", own_processors()}}); }}}));
  const auto on = [&](int job, std::vector<int> processors) {
    return end_of(served, {.job = job, .kind = "where", .spec = json::object(), .processors = std::move(processors)})
        .at("said")
        .at(0)
        .at("on")
        .get<std::vector<int>>();
  };
  CHECK(on(1, {last}) == std::vector{last});
  CHECK(on(2, {}).size() == all.size());
  CHECK(on(3, {100000}).size() == all.size());
}

TEST_CASE("a job restores its own processors and its own limits") {
  const auto all = own_processors();
  const int last = all.back();
  const Served served(Actions({{"look", [](const json&, const ablate::Say& say) {
                                  served_state->restore();  // first, like a trial's process
                                  rlimit data{};
                                  getrlimit(RLIMIT_DATA, &data);
                                  say({{"on", own_processors()}, {"limited", data.rlim_cur != RLIM_INFINITY}});
                                }}}));
  const auto ended =
      end_of(served, {.job = 1, .kind = "look", .spec = json::object(), .memory_bytes = 100 * kMiB, .processors = {last}});
  CHECK(ended.at("said").at(0) == json{{"on", {last}}, {"limited", true}});
}
