// `ablate watch` on a terminal: a history that changes during the watch, a window that gets narrow, Ctrl-C.
#include <pty.h>
#include <sys/ioctl.h>

#include <chrono>
#include <filesystem>

#include "tests/db/fixture.h"
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"
#include "tests/support/terminal.h"

using namespace ablate;
using namespace ablate::db;

namespace {

constexpr const char *kEnter = "\033[?1049h", *kLeave = "\033[?1049l";

/// Program on its own terminal.
class OnTerminal {
 public:
  OnTerminal(std::vector<std::string> command, const std::filesystem::path& folder, const std::string& no_colour = "1") {
    winsize size{24, 100, 0, 0};
    pid_ = forkpty(&master_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      setenv("TERM", "xterm", 1);
      setenv("ABLATE_DB", "", 1);
      setenv("NO_COLOR", no_colour.c_str(), 1);
      if (chdir(folder.c_str()) != 0) _exit(126);
      std::vector<char*> arguments;
      for (auto& word : command) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    fcntl(master_, F_SETFL, O_NONBLOCK);
  }
  ~OnTerminal() {
    if (pid_ > 0) kill(pid_, SIGKILL), waitpid(pid_, nullptr, 0);
    close(master_);
  }

  /// Waits until the program prints the text, after the text of the last call. Returns false after 30 s.
  bool prints(const std::string& text) {
    for (int tries = 0; tries < 600; ++tries) {
      read_all();
      if (const auto at = seen_.find(text, from_); at != std::string::npos) return from_ = at + text.size(), true;
      usleep(50'000);
    }
    return false;
  }
  void type(const std::string& keys) const {
    REQUIRE(write(master_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
  }
  void resize(unsigned short columns) const {
    const winsize size{24, columns, 0, 0};
    REQUIRE(ioctl(master_, TIOCSWINSZ, &size) == 0);
  }
  int exit_code() {
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) read_all(), usleep(10'000);
    read_all();
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  const std::string& seen() const { return seen_; }

 private:
  void read_all() {
    char buffer[4096];
    for (ssize_t got = 0; (got = read(master_, buffer, sizeof buffer)) > 0;)
      seen_.append(buffer, static_cast<std::size_t>(got));
  }

  int master_ = -1;
  pid_t pid_ = -1;
  std::string seen_;
  std::size_t from_ = 0;
};

/// Grid of two trials. This process records the first trial as running.
struct Running {
  TemporaryFolder folder;
  Store store{folder / "ablate.db"};
  nlohmann::json first = trial("softmax", {}, 1), second = trial("linear", {}, 1);
  std::int64_t started_us = 0;

  Running() {
    put(store, "grid", {first, second});
    using namespace std::chrono;
    started_us = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
    step(100, 3);
  }
  void step(std::int64_t step, double loss) { store.put_running({{key_of(first), started_us, step, 400, loss}}); }
  void end() {
    for (const auto& resolved : {first, second}) store.put_attempt(done(resolved, 70));
    store.put_running({});
  }
  std::vector<std::string> watch() const { return {kBin + "ablate", "watch"}; }
};

}  // namespace

TEST_CASE("on a terminal, the display follows the grid and the window size until the grid ends") {
  if (!has_terminals()) return;
  Running grid;
  OnTerminal terminal(grid.watch(), grid.folder.path());
  REQUIRE(terminal.prints(kEnter));
  REQUIRE(terminal.prints("100/400"));
  grid.step(200, 2);
  REQUIRE(terminal.prints("200/400"));
  grid.step(300, 1);
  REQUIRE(terminal.prints("█▅▁"));                             // the losses 3, 2, 1
  CHECK(terminal.seen().find("\033[3") == std::string::npos);  // NO_COLOR
  terminal.resize(36);
  REQUIRE(terminal.prints("…"));  // text that no longer fits
  grid.end();
  REQUIRE(terminal.prints(kLeave));
  CHECK(terminal.prints("grid: 2 done, 0 failed; `ablate table grid` prints the table"));
  CHECK(terminal.exit_code() == 0);
}

TEST_CASE("Ctrl-C ends only the watch, with 130, and restores the terminal") {
  if (!has_terminals()) return;
  Running grid;
  OnTerminal terminal(grid.watch(), grid.folder.path(), "");
  REQUIRE(terminal.prints("100/400"));
  CHECK(says(terminal.seen(), "\033[32m"));
  terminal.type("\003");
  CHECK(terminal.exit_code() == 130);
  REQUIRE(terminal.prints("\033[?25h"));
  CHECK(terminal.prints(kLeave));
  CHECK(terminal.prints("grid continues"));
}

TEST_CASE("the display stays while the history is missing, and goes on when it is back") {
  if (!has_terminals()) return;
  Running grid;
  OnTerminal terminal(grid.watch(), grid.folder.path());
  REQUIRE(terminal.prints("100/400"));
  std::filesystem::rename(grid.folder / "ablate.db", grid.folder / "away.db");
  REQUIRE(terminal.prints("as it was last seen: no run history"));
  REQUIRE(terminal.prints("100/400"));
  std::filesystem::rename(grid.folder / "away.db", grid.folder / "ablate.db");
  grid.step(222, 2);
  REQUIRE(terminal.prints("222/400"));
  terminal.type("\003");
  CHECK(terminal.exit_code() == 130);
}

TEST_CASE("a grid whose process was killed is not shown as running") {
  Workplace place;
  const auto resolved = trial("softmax", {}, 1);
  {
    Store store(place.folder() / "ablate.db");
    put(store, "grid", {resolved});
  }
  if (const auto child = fork(); child == 0) {
    Store(place.folder() / "ablate.db").put_running({{key_of(resolved), 5, 1, 9, 2}});
    kill(getpid(), SIGKILL);
  } else {
    waitpid(child, nullptr, 0);
  }
  const auto watched = place.run({"watch"});
  CHECK(watched.exit_code == 0);
  CHECK(says(watched.out, "grid  1 trial: 0 done, 1 not finished; nothing runs"));
}
