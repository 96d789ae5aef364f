#include "tools/ablate/questions/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace ablate {
namespace {

// VT100 and xterm control sequences, which every terminal of today has.
constexpr std::string_view kEnter = "\033[?1049h\033[?25l", kLeave = "\033[?25h\033[?1049l", kHome = "\033[H",
                           kEndOfLine = "\033[K", kBelow = "\033[J";
constexpr std::chrono::milliseconds kPatience(500);

volatile std::sig_atomic_t asked_to_pause = 0;

void on_pause(int /*signal*/) { asked_to_pause = 1; }

}  // namespace

Screen::Screen() : output_(STDOUT_FILENO) {
  std::signal(SIGTSTP, on_pause);
  enter();
}

Screen::~Screen() {
  leave();
  std::signal(SIGTSTP, SIG_DFL);
}

bool Screen::is_there() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

Screen::Size Screen::size() {
  winsize found{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0) return {};
  return {found.ws_col, found.ws_row};
}

void Screen::enter() { output_.write(kEnter); }

void Screen::leave() {
  output_.finish(kPatience);
  output_.write(kLeave);
  output_.finish(kPatience);
}

void Screen::show(const std::vector<std::string>& lines) {
  std::string all(kHome);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    all += lines[i];
    all += kEndOfLine;
    if (i + 1 < lines.size()) all += "\r\n";
  }
  all += kBelow;
  output_.write(all);
}

bool Screen::stop_if_asked() {
  if (asked_to_pause == 0) return false;
  asked_to_pause = 0;
  leave();
  std::raise(SIGSTOP);
  enter();
  return true;
}

}  // namespace ablate
