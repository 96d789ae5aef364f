// ablate watch: shows a running grid, using only its history.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/clock.h"
#include "core/util/error.h"
#include "core/util/output.h"
#include "core/util/stop_on_signal.h"
#include "db/history/reader.h"
#include "db/questions/attempts/watch_state.h"
#include "db/report/watch_lines.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"
#include "tools/ablate/whole_number.h"

namespace ablate {
namespace {

// VT100 and xterm control sequences, which every current terminal supports.
constexpr std::string_view kEnter = "\033[?1049h\033[?25l", kLeave = "\033[?25h\033[?1049l", kHome = "\033[H",
                           kEndOfLine = "\033[K", kBelow = "\033[J";
constexpr std::chrono::milliseconds kPatience(500);

volatile std::sig_atomic_t asked_to_pause = 0;

void on_pause(int /*signal*/) { asked_to_pause = 1; }

/// Output on stdout that fills a terminal's window. While a Screen exists, the terminal shows its alternate screen, also after
/// Ctrl-Z and `fg`. The destructor restores the former screen. Only one Screen may exist at a time.
class Screen {
 public:
  Screen() : output_(STDOUT_FILENO) {
    std::signal(SIGTSTP, on_pause);
    enter();
  }

  ~Screen() {
    leave();
    std::signal(SIGTSTP, SIG_DFL);
  }

  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// True if stdout is a terminal that can move its cursor.
  static bool is_there() {
    const char* terminal = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
  }

  struct Size {
    std::size_t columns = 100, rows = 0;  ///< 0: unknown
    bool operator==(const Size&) const = default;
  };
  /// Returns the current size; polled several times a second instead of handling SIGWINCH.
  static Size size() {
    winsize found{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0) return {};
    return {found.ws_col, found.ws_row};
  }

  /// @param lines no wider than the window, without line ends
  void show(const std::vector<std::string>& lines) {
    std::string all(kHome);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      all += lines[i];
      all += kEndOfLine;
      if (i + 1 < lines.size()) all += "\r\n";
    }
    all += kBelow;
    output_.write(all);
  }

  /// Stops this process on Ctrl-Z. Returns true if it stopped: the screen must be drawn again.
  bool stop_if_asked() {
    if (asked_to_pause == 0) return false;
    asked_to_pause = 0;
    leave();
    std::raise(SIGSTOP);
    enter();
    return true;
  }

 private:
  void enter() { output_.write(kEnter); }
  void leave() {
    output_.finish(kPatience);
    output_.write(kLeave);
    output_.finish(kPatience);
  }

  Output output_;
};

constexpr double kBetweenGlances_s = 0.05;  ///< interval of polling signals and the window's size
constexpr double kMostOfTheTime = 4;        ///< least pause between readings, as a multiple of the time that a reading takes
constexpr int kEnoughSilence = 2;           ///< readings without a running trial before an unfinished grid counts as stopped

struct Arguments {
  std::string experiment, shared;
  bool once = false;
  int every_s = 1;
};

/// The watched experiments of a history, as last read.
class Watched {
 public:
  Watched(std::filesystem::path file, const std::string& experiment) : file_(std::move(file)) {
    if (!experiment.empty()) names_ = {experiment};
    named_ = !experiment.empty();
  }

  /// Reads a snapshot of the history and closes it at once, so that no writer waits. If it fails, throws Error and
  /// leaves the states unchanged.
  void look() {
    auto& clock = machine_clock();
    const double start_s = clock.now_s();
    const db::Reader reader(file_);
    auto names = names_;
    if (!named_) {
      for (const auto& name : db::running_experiments(reader))
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      if (names.empty()) names = {db::latest_experiment(reader)};
      if (names == std::vector<std::string>{""})
        throw Error(fmt::format("{} has no experiments yet: `ablate run FILE` makes one", path_text(file_)));
    }
    std::vector<db::WatchState> states;
    for (const auto& name : names) states.push_back(db::watch_state(reader, name, clock.since_1970_us()));
    names_ = std::move(names);
    states_ = std::move(states);
    seen_.take(states_, clock.now_s());
    left_out_ = reader.left_out();
    took_s_ = clock.now_s() - start_s;
  }

  const std::vector<db::WatchState>& states() const { return states_; }
  const db::SeenLosses& seen() const { return seen_; }
  const std::vector<std::string>& left_out() const { return left_out_; }
  double took_s() const { return took_s_; }

  bool runs() const {
    return any([](const auto& state) { return state.is_running; });
  }
  bool has_more() const {
    return any([](const auto& state) { return state.queued > 0; });
  }

 private:
  template <class F>
  bool any(F&& f) const {
    return std::any_of(states_.begin(), states_.end(), f);
  }

  std::filesystem::path file_;
  bool named_ = false;
  std::vector<std::string> names_;
  std::vector<db::WatchState> states_;
  db::SeenLosses seen_;
  std::vector<std::string> left_out_;
  double took_s_ = 0;
};

bool wants_colour() {
  const char* set = std::getenv("NO_COLOR");  // https://no-color.org
  return set == nullptr || *set == '\0';
}

/// Redraws until no trial runs. Throws Interrupted.
void follow(Watched& watched, int every_s) {
  Screen screen;
  auto& clock = machine_clock();
  std::string trouble;
  for (int silent = 0; watched.runs() || (watched.has_more() && silent < kEnoughSilence);) {
    auto size = Screen::size();
    const auto show = [&] {
      size = Screen::size();
      screen.show(db::watch_lines(watched.states(), watched.seen(), trouble, {size.columns, size.rows, wants_colour()}));
    };
    show();
    const double until_s = clock.now_s() + std::max<double>(every_s, kMostOfTheTime * watched.took_s());
    while (clock.now_s() < until_s) {
      clock.wait(kBetweenGlances_s);
      stop_if_asked();
      if (screen.stop_if_asked() || Screen::size() != size) show();
    }
    try {
      watched.look();
      trouble.clear();
      silent = watched.runs() ? 0 : silent + 1;
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {  // the history is locked, missing or replaced, and may come back
      trouble = error.what();
    }
  }
}

void watch(const std::filesystem::path& file, const Arguments& arguments) {
  const StopOnSignal stops;
  Watched watched(file, arguments.experiment);
  watched.look();
  const bool live = !arguments.once && Screen::is_there();
  if (live && watched.runs()) {
    try {
      follow(watched, arguments.every_s);
    } catch (const Interrupted&) {
      for (const auto& state : watched.states())
        if (state.is_running) say("{} continues; `ablate watch` shows it again\n", db::one_row(state.experiment));
      throw;
    }
  }
  for (const auto& line : db::watch_lines(watched.states(), watched.seen(), "", {.width = Screen::size().columns}))
    print("{}\n", line);
  if (!watched.runs())
    for (const auto& state : watched.states()) print("{}\n", db::watch_summary(state));
  for (const auto& line : watched.left_out()) say("warning: {}\n", line);
}

}  // namespace

void add_watch(CLI::App& app, const DatabaseFile& database, const SharesStanding& shares, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("watch", "Watch a running grid from another terminal: running, failed and queued trials");
  command->group(kQuestions);
  command->add_option("EXPERIMENT", arguments->experiment, "this experiment; default: the running experiments, else the latest")
      ->type_name("")
      ->check(not_empty());
  command->add_flag("--once", arguments->once, "print the state once and exit; the default without a terminal");
  if (shares)
    command
        ->add_option("--shared", arguments->shared,
                     "print once the state of a shared grid, from the copies of its shares in DIR and from Slurm's queue")
        ->type_name("DIR")
        ->check(not_empty())
        ->excludes("EXPERIMENT");
  command->add_option("--every", arguments->every_s, "seconds between two readings; default: 1, as often as a grid reports")
      ->type_name("SECONDS")
      ->check(whole_number(1, 3600, "seconds"));
  command->footer(
      "It only reads the history. It ends when no trial is running; Ctrl-C ends only the watch. The curve shows the "
      "losses since the watch started. NO_COLOR is honoured.\nExample:\n  ablate watch quickstart --every 5");
  command->callback([arguments, database, shares, &exit_code] {
    if (arguments->shared.empty())
      watch(database(), *arguments);
    else
      print("{}", shares(arguments->shared));
    exit_code = 0;
  });
}

}  // namespace ablate
