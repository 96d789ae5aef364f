#include "core/host/scheduler/display.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/records/outcome.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

constexpr double kMuch = 0.5;  ///< evaluation is shown if it is at least this part of a trial's work
constexpr double kBetweenDrawings_s = 0.1;

std::string duration(double s) {
  if (!(s >= 0)) return "?";
  if (s < 60) return fmt::format("{:.{}f} s", s, s < 10 ? 1 : 0);
  if (s < 3600) return fmt::format("{} min {:02} s", static_cast<long>(s) / 60, static_cast<long>(s) % 60);
  return fmt::format("{} h {:02} min", static_cast<long>(s) / 3600, static_cast<long>(s) / 60 % 60);
}

std::size_t columns(int to) {
  winsize size{};
  return ioctl(to, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 100;
}

}  // namespace

Display::Display(Output& to, const Clock& clock, std::function<Rest()> rest, double silence_s)
    : to_(to), clock_(clock), rest_(std::move(rest)), silence_s_(silence_s), start_s_(clock.now_s()) {
  const char* terminal = std::getenv("TERM");
  live_ = isatty(to.descriptor()) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

Display::~Display() {
  if (drawn_ > 0) write("");
}

void Display::started(int job, const std::string& label, double evaluation) {
  running_[job] = {.label = one_line(label, 1000),
                   .start_s = clock_.now_s(),
                   .evaluation = evaluation,
                   .last_line_s = clock_.now_s(),
                   .last_change_s = clock_.now_s()};
  refresh();
}

void Display::progress(int job, const Progress& now) {
  auto& trial = running_[job];
  trial.last_change_s = clock_.now_s();
  trial.step = now.step, trial.steps = now.steps, trial.loss = now.loss;
  if (std::isfinite(now.dev)) {
    const auto unit = now.dev_metric.unit.empty() ? "" : " " + now.dev_metric.unit;
    trial.dev = now.dev_metric.unit == "%" ? fmt::format("dev {:.1f} %", now.dev) : fmt::format("dev {:.3g}{}", now.dev, unit);
  }
  refresh();
}

void Display::ended(int job, const std::string& outcome, const std::string& what, double wall_s, bool counts) {
  ++done_;
  if (counts && counts_as_failed(outcome)) ++failed_;
  const auto label = std::exchange(running_[job].label, "");
  running_.erase(job);
  const auto all = total(rest_());
  write(fmt::format("[{:>{}}/{}] {:<7} {:>8}  {}  {}\n", done_, std::to_string(all).size(), all, outcome, duration(wall_s),
                    label, one_line(what)));
  refresh(true);
}

void Display::ended_late(int job, const std::string& what, double wall_s) {
  const auto label = std::exchange(running_[job].label, "");
  running_.erase(job);
  write(fmt::format("{:<7} {:>8}  {}  {}\n", "late", duration(wall_s), label, one_line(what)));
  refresh(true);
}

void Display::note(const std::string& text) {
  write(one_line(text) + "\n");
  refresh(true);
}

void Display::write(const std::string& text) {
  if (to_.write(erasing() + text)) drawn_ = 0;
}

std::string Display::erasing() const { return drawn_ > 0 ? fmt::format("\033[{}F\033[J", drawn_) : ""; }

std::string Display::total_line(const Rest& rest) const {
  const auto all = total(rest);
  std::string text = fmt::format("{} of {} trials ended", done_, all);
  if (failed_ > 0) text += fmt::format(", {} failed", failed_);
  // The estimate includes fractions of running trials, so that it changes before the first trial ends. The estimate for the
  // grid is never shorter than the estimate for a running trial.
  double shares = static_cast<double>(done_), longest = 0;
  for (const auto& [job, trial] : running_) {
    if (trial.steps > 0) shares += static_cast<double>(trial.step) / static_cast<double>(trial.steps);
    longest = std::max(longest, seconds_left(trial));
  }
  const double elapsed = clock_.now_s() - start_s_;
  text += fmt::format(", {} running", running_.size());
  if (rest.elsewhere > 0) text += fmt::format(", {} run{} elsewhere", rest.elsewhere, rest.elsewhere == 1 ? "s" : "");
  text += fmt::format(", {}", duration(elapsed));
  if (const auto left = static_cast<double>(all) - shares; shares > 0.05 && left > 0)
    text += fmt::format(", {} left", duration(std::max(longest, elapsed * left / shares)));
  return text;
}

double Display::seconds_left(const Running& trial) const {
  if (trial.step == 0) return 0;
  return (clock_.now_s() - trial.start_s) * static_cast<double>(trial.steps - trial.step) / static_cast<double>(trial.step);
}

std::string Display::line(const Running& trial) const {
  std::string text = "  " + trial.label;
  if (trial.steps == 0) {
    text += "  starting";
  } else {
    text += fmt::format("  step {}/{}", trial.step, trial.steps);
    if (trial.step > 0) text += fmt::format("  loss {:.3f}", trial.loss);
    if (trial.evaluation >= kMuch) text += fmt::format("  evaluation {:.0f} %", 100 * trial.evaluation);
    if (!trial.dev.empty()) text += "  " + trial.dev;
    if (trial.step >= trial.steps) text += "  testing";
  }
  // A silent trial has no useful estimate: it is stopped, hangs, or evaluates for long.
  const double silent_s = clock_.now_s() - trial.last_change_s;
  if (silent_s >= silence_s_) return text + fmt::format("  no message for {}", duration(silent_s));
  if (trial.step == 0 || trial.step >= trial.steps) return text;
  return text + fmt::format("  {} left", duration(seconds_left(trial)));
}

void Display::refresh(bool now) {
  const double now_s = clock_.now_s();
  if (!now && last_s_ && now_s - *last_s_ < kBetweenDrawings_s) return;  // each message of a hundred trials calls this
  last_s_ = now_s;
  live_ ? draw() : report_silent(now_s);
}

void Display::draw() {
  if (!to_.flows()) return;  // a line that was not written must not be erased later
  const auto width = columns(to_.descriptor());
  auto screen = erasing();
  int lines = 0;
  const auto show = [&](std::string text) {
    if (text.size() >= width) text.resize(width - 1);
    screen += text + "\n";
    ++lines;
  };
  for (const auto& [job, trial] : running_) show(line(trial));
  if (const auto rest = rest_(); done_ < total(rest)) show(total_line(rest));
  if (to_.write(screen)) drawn_ = lines;
}

void Display::report_silent(double now_s) {
  if (!to_.flows()) return;
  for (auto& [job, trial] : running_) {
    if (now_s - trial.last_line_s < silence_s_) continue;
    trial.last_line_s = now_s;
    write(fmt::format("{}; running for {}\n", line(trial), duration(now_s - trial.start_s)));
  }
}

}  // namespace ablate
