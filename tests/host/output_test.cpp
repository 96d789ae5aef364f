// Output to a descriptor that accepts no output.
#include "core/util/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "core/host/scheduler/display.h"
#include "tests/support/catch.h"

using ablate::Output;

namespace {

using std::chrono::milliseconds;

/// A pipe that is full until it is read.
class Blocked {
 public:
  Blocked() {
    REQUIRE(pipe(ends_) == 0);
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    fcntl(ends_[1], F_SETFL, O_NONBLOCK);
    const std::string much(1 << 16, '.');
    while (::write(ends_[1], much.data(), much.size()) > 0) {
    }
    while (::write(ends_[1], ".", 1) > 0) {
    }
    fcntl(ends_[1], F_SETFL, 0);
  }
  ~Blocked() {
    for (const int end : ends_) close(end);
  }
  int descriptor() const { return ends_[1]; }

  /// Returns everything that was written, without the text that filled the pipe.
  std::string read(const Output& output) const {
    std::string all;
    char chunk[65536];
    for (bool last = false;;) {
      const auto n = ::read(ends_[0], chunk, sizeof(chunk));
      if (n > 0) {
        all.append(chunk, static_cast<std::size_t>(n));
      } else if (last) {
        return all.substr(all.find_first_not_of('.'));
      } else {
        last = output.flows();
        std::this_thread::sleep_for(milliseconds(1));
      }
    }
  }

 private:
  int ends_[2];
};

}  // namespace

TEST_CASE("output that nobody reads blocks no writer, and left-out lines are counted") {
  Blocked pipe;
  Output output(pipe.descriptor(), milliseconds(10));
  int taken = 0, left_out = 0;
  bool was_left_out = false;
  for (int i = 0; i < 20'000; ++i) {
    const bool is_taken = output.write("line " + std::to_string(i) + std::string(40, ' ') + "\n");
    (is_taken ? taken : left_out) += 1;
    CHECK_FALSE((was_left_out && is_taken));  // otherwise the order would change
    was_left_out = !is_taken;
  }
  CHECK_FALSE(output.flows());
  CHECK(left_out > 0);
  const auto all = pipe.read(output);
  std::string expected;
  for (int i = 0; i < taken; ++i) expected += "line " + std::to_string(i) + std::string(40, ' ') + "\n";
  CHECK((all == expected + "(" + std::to_string(left_out) + " lines are missing here, because no program read the output)\n"));
  CHECK(output.write("now\n"));
  CHECK(pipe.read(output) == "now\n");
}

TEST_CASE("written lines keep their order among the lines of other writers") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  Output output(ends[1]);
  for (int i = 0; i < 100; ++i) {
    output.write("a");
    REQUIRE(::write(ends[1], "b", 1) == 1);
  }
  char all[300];
  REQUIRE(::read(ends[0], all, sizeof(all)) == 200);
  for (int i = 0; i < 200; ++i) CHECK(all[i] == (i % 2 == 0 ? 'a' : 'b'));
  for (const int end : ends) close(end);
}

TEST_CASE("a grid whose lines nobody reads is delayed once, and its lines are written later") {
  Blocked pipe;
  Output output(pipe.descriptor(), milliseconds(10));
  std::size_t waiting = 100;
  ablate::Display display(
      output, ablate::machine_clock(), [&] { return ablate::Display::Rest{waiting}; }, 60);
  for (int job = 1; job <= 100; ++job) {
    --waiting;
    display.started(job, "trial");
    display.note("a note");
    display.ended(job, "done", "well", 1);
  }
  const auto all = pipe.read(output);
  CHECK(all.find("[  1/100] done") != std::string::npos);
  CHECK(all.find("[100/100] done") != std::string::npos);
}
