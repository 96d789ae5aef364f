// Grids on devices: the number of trials that a device can hold.
#include <algorithm>
#include <set>

#include "core/host/scheduler/limits.h"
#include "tests/host/simulated/grid.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::simulated;

namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr double kLasts_s = 10;

/// A device, and trials. From the middle of its run on, each trial uses 3 GiB and a context of the device.
struct DeviceGrid {
  explicit DeviceGrid(const std::vector<std::string>& devices) : grid(static_cast<int>(devices.size())) {
    for (std::size_t i = 0; i < devices.size(); ++i) grid.computes_on(static_cast<int>(i) + 1, devices[i]);
    grid.machine.act = [this](std::uint64_t seed, int) {
      starts_s.emplace_back(seed, grid.clock.now_s());
      return Act{.end = Act::End::kAnswers, .takes_s = kLasts_s, .device_bytes = tells ? 3 * kGiB : 0};
    };
    grid.room.device_bytes = [this](const std::string& device) {
      asked.insert(device);
      const double now_s = grid.clock.now_s();
      const auto hold = std::count_if(starts_s.begin(), starts_s.end(), [&](const auto& start) {
        return now_s >= start.second + kLasts_s / 2 && now_s < start.second + kLasts_s;
      });
      return in_all - hold * kOfOne;
    };
  }

  static constexpr std::int64_t kOfOne = 3 * kGiB + DeviceRoom::kContext_bytes;
  Grid grid;
  std::vector<std::pair<std::uint64_t, double>> starts_s;  ///< seed and time of each start
  std::set<std::string> asked;
  std::int64_t in_all = 4 * kOfOne + kGiB;
  bool tells = true;
};

}  // namespace

TEST_CASE("as many trials share a device as fit in its memory") {
  DeviceGrid on(std::vector<std::string>(8, "cuda"));
  SECTION("the first trial runs alone until it reports its memory") {
    CHECK(on.grid.run({.at_a_time = 8}).done == 8);
    REQUIRE(on.starts_s.size() == 8);
    CHECK(on.starts_s[1].second == Approx(on.starts_s[0].second + kLasts_s / 2).margin(0.5));
    CHECK(on.grid.machine.most_together == 4);
    CHECK(on.asked == std::set<std::string>{"cuda"});
  }
  SECTION("one trial runs at a time if the memory does not suffice for two") {
    on.in_all = 2 * DeviceGrid::kOfOne - 1;
    CHECK(on.grid.run({.at_a_time = 8}).done == 8);
    CHECK(on.grid.machine.most_together == 1);
  }
  SECTION("two trials run at a time if the memory suffices exactly") {
    on.in_all = 2 * DeviceGrid::kOfOne;
    CHECK(on.grid.run({.at_a_time = 8}).done == 8);
    CHECK(on.grid.machine.most_together == 2);
  }
  SECTION("never more trials run than requested") {
    CHECK(on.grid.run({.at_a_time = 2}).done == 8);
    CHECK(on.grid.machine.most_together == 2);
  }
  SECTION("as many trials run as requested if the device's memory is unknown") {
    on.grid.room.device_bytes = Room().device_bytes;
    CHECK(on.grid.run({.at_a_time = 8}).done == 8);
    CHECK(on.grid.machine.most_together == 8);
  }
  SECTION("a trial that reports nothing is waited for, but not forever") {
    on.tells = false;
    on.grid.machine.act = [&](std::uint64_t seed, int) {
      on.starts_s.emplace_back(seed, on.grid.clock.now_s());
      return Act{.end = Act::End::kAnswers, .takes_s = 200};
    };
    CHECK(on.grid.run({.at_a_time = 2}).done == 8);
    CHECK(on.starts_s[1].second == Approx(on.starts_s[0].second + DeviceRoom::kUnshown_s).margin(1));
  }
}

TEST_CASE("trials on the CPU and on another device do not wait for a device's memory") {
  DeviceGrid on({"cuda:0", "cpu", "cuda:1", "cpu"});
  on.in_all = 0;
  CHECK(on.grid.run({.at_a_time = 4}).done == 4);
  CHECK(on.grid.machine.most_together == 4);
  CHECK(on.asked == std::set<std::string>{"cuda:0", "cuda:1"});
}

TEST_CASE("two names of one device count as the same device") {
  DeviceGrid on({"cuda", "cuda:0"});
  on.in_all = DeviceGrid::kOfOne;
  CHECK(on.grid.run({.at_a_time = 2}).done == 2);
  CHECK(on.grid.machine.most_together == 1);
}
