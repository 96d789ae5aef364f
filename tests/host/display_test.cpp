// A grid's lines when the output is not a terminal.
#include "core/host/scheduler/display.h"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/simulated_clock.h"
#include "tests/support/temporary.h"

using ablate::Display;
using ablate::Output;

namespace {

/// Makes a function that reports this many waiting trials.
auto waiting(std::size_t trials) {
  return [trials] { return Display::Rest{trials}; };
}

class Written {
 public:
  ~Written() { close(file_); }
  std::string text() const { return read_text(folder_ / "out"); }

 private:
  TemporaryFolder folder_;
  int file_ = open((folder_ / "out").c_str(), O_WRONLY | O_CREAT, 0600);

 public:
  Output to{file_};
};

}  // namespace

TEST_CASE("a long trial shows its progress, its loss, and the time that is left") {
  Written out;
  SimulatedClock clock;
  Display display(out.to, clock, waiting(1), 0.2);
  display.started(1, "attention=linear", 0.874);
  display.progress(1, {.step = 30, .steps = 90, .loss = 0.6931, .dev_metric = {"dev/accuracy", "%", "max", ""}, .dev = 51.5});
  CHECK(out.text().empty());
  clock.wait(0.25);
  display.progress(1, {.step = 30, .steps = 90, .loss = 0.6931, .dev = std::nan("")});
  const auto line = out.text();
  CHECK(
      line.starts_with("  attention=linear  step 30/90  loss 0.693  evaluation 87 %  dev 51.5 %  0.5 s left; running for 0."));
  display.refresh();
  CHECK(out.text() == line);  // no new line before the interval has passed
  clock.wait(0.25);
  display.progress(1, {.step = 60, .steps = 90, .loss = std::nan(""), .dev = std::nan("")});
  CHECK(out.text().size() > line.size());
}

TEST_CASE("the line of a silent trial shows how long it is silent, not the time that is left") {
  Written out;
  SimulatedClock clock;
  Display display(out.to, clock, waiting(0), 0.2);
  display.started(1, "a");
  clock.wait(0.25);
  display.refresh();
  CHECK(out.text().starts_with("  a  starting  no message for "));
  display.progress(1, {.step = 30, .steps = 90, .loss = 0.5, .dev = std::nan("")});
  clock.wait(0.25);
  display.refresh();
  const auto second = out.text().substr(out.text().find('\n') + 1);
  CHECK(second.starts_with("  a  step 30/90  loss 0.500  no message for "));
  CHECK(second.find(" left") == std::string::npos);
}

TEST_CASE("output that cannot be written changes nothing, and no text controls the terminal") {
  const int device = open("/dev/full", O_WRONLY);
  Output full(device);
  const SimulatedClock clock;
  Display display(full, clock, waiting(0), 60);
  display.started(1, "a");
  display.note("b");
  display.ended(1, "done", "c", 1);
  close(device);
  Written out;
  Display other(out.to, clock, waiting(0), 60);
  other.started(1, "name=\033[2J\nline");
  other.ended(1, "failed", "why\033]0;title\007", 1);
  CHECK(out.text() == "[1/1] failed     1.0 s  name= [2J line  why ]0;title\n");
}

TEST_CASE("the total counts trials that ended, that run here and elsewhere, and that wait") {
  Written out;
  const SimulatedClock clock;
  Display::Rest rest{2, 1};
  Display display(
      out.to, clock, [&] { return rest; }, 60);
  for (const int job : {1, 2}) display.started(job, std::to_string(job));
  display.ended(1, "done", "", 1);
  rest = {3, 0};  // the trial that ran elsewhere now waits here
  display.ended(2, "done", "", 1);
  CHECK(out.text() == "[1/5] done       1.0 s  1  \n[2/5] done       1.0 s  2  \n");
}
