// A grid's lines where the output is no terminal.
#include "core/host/scheduler/display.h"

#include <cmath>
#include <thread>

#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using ablate::Display;

namespace {

class Written {
 public:
  ~Written() { std::fclose(file); }
  std::string text() const { return read_text(folder_ / "out"); }

 private:
  TemporaryFolder folder_;

 public:
  std::FILE* file = std::fopen((folder_ / "out").c_str(), "w");
};

}  // namespace

TEST_CASE("a long trial is not silent: how far it is, its loss, and how long it will take") {
  Written out;
  Display display(out.file, 2, 0.2);
  display.started(1, "attention=linear", 0.874);
  display.progress(1, {.step = 30, .steps = 90, .loss = 0.6931, .dev_metric = {"dev/accuracy", "%", "max", ""}, .dev = 51.5});
  CHECK(out.text().empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  display.refresh();
  const auto line = out.text();
  CHECK(
      line.starts_with("  attention=linear  step 30/90  loss 0.693  evaluation 87 %  dev 51.5 %  0.5 s left; running for 0."));
  display.refresh();
  CHECK(out.text() == line);  // once in a while, not all the time
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  display.progress(1, {.step = 60, .steps = 90, .loss = std::nan(""), .dev = std::nan("")});
  CHECK(out.text().size() > line.size());
}

TEST_CASE("what cannot be written changes nothing, and no text steers the terminal") {
  std::FILE* full = std::fopen("/dev/full", "w");
  Display display(full, 1, 60);
  display.started(1, "a");
  display.note("b");
  display.ended(1, "done", "c", 1);
  std::fclose(full);
  Written out;
  Display other(out.file, 1, 60);
  other.started(1, "name=\033[2J\nline");
  other.ended(1, "failed", "why\033]0;title\007", 1);
  CHECK(out.text() == "[1/1] failed     1.0 s  name= [2J line  why ]0;title\n");
}
