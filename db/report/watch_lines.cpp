#include "db/report/watch_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/records/outcome.h"
#include "core/util/sha256.h"
#include "core/util/shell_word.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

constexpr const char *kPlain = "", *kStrong = "\033[1m", *kFaint = "\033[2m", *kGood = "\033[32m", *kBad = "\033[31m";
constexpr std::size_t kCurve = 16;     ///< characters of a curve of losses
constexpr std::size_t kBar = 50;       ///< columns
constexpr std::size_t kLabel = 16;     ///< columns that a label gets before other fields are shown
constexpr std::size_t kReasons = 5;    ///< reasons of failures
constexpr double kLongUnchanged = 60;  ///< seconds without a step, after which the trial's line shows "no step for"

/// Returns the first columns of a text, with "…" if anything is left out.
std::string cut(const std::string& text, std::size_t columns) {
  if (width(text) <= columns) return text;
  if (columns == 0) return "";
  std::size_t end = 0, used = 0;
  for (; end < text.size(); ++end)
    if ((static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80 && ++used == columns) break;
  return text.substr(0, end) + "…";
}

std::string padded(const std::string& text, std::size_t columns, bool right) {
  const auto missing = std::string(columns - std::min(columns, width(text)), ' ');
  return right ? missing + text : text + missing;
}

/// Line made of pieces. Cuts text beyond the width of the view.
class Line {
 public:
  explicit Line(const WatchView& view) : view_(view) {}

  Line& add(const std::string& piece, const char* style = kPlain) {
    const auto text = cut(one_row(piece), view_.width - std::min(view_.width, used_));
    used_ += width(text);
    text_ += view_.colour && *style != '\0' && !text.empty() ? style + text + "\033[0m" : text;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  const WatchView& view_;
  std::string text_;
  std::size_t used_ = 0;
};

/// All lines of the output.
class Picture {
 public:
  explicit Picture(const WatchView& view) : view_(view) {}

  Line line() const { return Line(view_); }
  void put(const Line& line) { lines_.push_back(line.text()); }
  void title(const std::string& text) { put(line().add(text, kFaint)); }
  void gap() {
    if (!lines_.empty()) lines_.emplace_back();
  }
  const WatchView& view() const { return view_; }

  std::vector<std::string> cut_to_height() && {
    if (view_.height > 1 && lines_.size() > view_.height) {
      const auto more = lines_.size() - view_.height + 1;
      lines_.resize(view_.height - 1);
      put(line().add(fmt::format("… {} more lines", more), kFaint));
    }
    return std::move(lines_);
  }

 private:
  const WatchView& view_;
  std::vector<std::string> lines_;
};

/// Column in the list of running trials.
struct WatchedField {
  int keep;  ///< on a narrow terminal, the field with the lowest number is left out first
  bool right;
  std::vector<std::string> texts;

  std::size_t columns() const {
    std::size_t most = 0;
    for (const auto& text : texts) most = std::max(most, width(text));
    return most == 0 ? 0 : most + 2;
  }
};

std::string step_text(const WatchedTrial& trial) {
  if (trial.steps == 0) return "starting";
  return fmt::format("{}/{}", trial.step, trial.steps) + (trial.step >= trial.steps ? " testing" : "");
}

std::string left_text(const WatchedTrial& trial, double unchanged_s) {
  if (!trial.host.empty()) return fmt::format("on {}, not visible from this host", trial.host);
  if (unchanged_s >= kLongUnchanged) return fmt::format("no step for {}", duration_text(unchanged_s));
  return trial.left_s ? duration_text(*trial.left_s) + " left" : "";
}

void put_running(Picture& picture, const WatchState& state, const SeenLosses& seen) {
  if (state.running.empty()) return;
  std::vector<WatchedField> fields = {{4, true, {}}, {2, true, {}}, {0, false, {}}, {1, true, {}}, {3, true, {}}};
  for (const auto& trial : state.running) {
    fields[0].texts.push_back(step_text(trial));
    fields[1].texts.push_back(trial.loss ? "loss " + brief(*trial.loss) : "");
    fields[2].texts.push_back(sparkline(seen.of(trial), kCurve));
    fields[3].texts.push_back(duration_text(trial.elapsed_s));
    fields[4].texts.push_back(left_text(trial, seen.unchanged_s(trial)));
  }
  const auto taken = [&] {
    std::size_t columns = 0;
    for (const auto& field : fields) columns += field.columns();
    return columns;
  };
  for (int keep = 0; taken() + kLabel + 2 > picture.view().width && keep < 4; ++keep)
    for (auto& field : fields)
      if (field.keep == keep) std::fill(field.texts.begin(), field.texts.end(), "");
  std::size_t label = 0;
  for (const auto& trial : state.running) label = std::max(label, width(one_row(trial.label)));
  label = std::min(label, picture.view().width - std::min(picture.view().width, taken() + 2));
  picture.title("running");
  for (std::size_t i = 0; i < state.running.size(); ++i) {
    const auto& trial = state.running[i];
    const auto name = one_row(trial.label.empty() ? short_digest(trial.key) : trial.label);
    auto line = picture.line();
    line.add("  ").add(padded(cut(name, label), label, false), kStrong);
    for (const auto& field : fields)
      if (const auto columns = field.columns(); columns > 0)
        line.add("  ").add(padded(field.texts[i], columns - 2, field.right));
    picture.put(line);
  }
}

void put_failures(Picture& picture, const WatchState& state) {
  if (state.failures.empty()) return;
  picture.title("failed");
  const auto shown = std::min(state.failures.size(), kReasons);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& one = state.failures[i];
    picture.put(picture.line()
                    .add(fmt::format("  {} × ", one.trials))
                    .add(one.reason, kBad)
                    .add(fmt::format("  (attempt {}: `ablate show {}`)", one.attempt, one.attempt), kFaint));
  }
  if (shown < state.failures.size())
    picture.put(picture.line().add(fmt::format("  {} other reasons", state.failures.size() - shown), kFaint));
}

void put_latest(Picture& picture, const WatchState& state) {
  if (state.latest.empty()) return;
  picture.title("ended last");
  for (const auto& one : state.latest) {
    auto line = picture.line();
    line.add(fmt::format("  {}  ", one.attempt)).add(one.outcome, one.outcome == outcome::kDone ? kGood : kBad);
    line.add("  " + one.label);
    if (one.value) line.add(fmt::format("  {} {}", one.metric, brief(*one.value)));
    picture.put(line.add("  " + duration_text(one.wall_s)));
  }
}

void put_queue(Picture& picture, const WatchState& state) {
  if (state.next.empty()) return;
  picture.title(state.is_running ? "queued" : "not finished");
  for (const auto& label : state.next) picture.put(picture.line().add("  " + label));
  if (const auto more = state.queued - static_cast<std::int64_t>(state.next.size()); more > 0)
    picture.put(picture.line().add(fmt::format("  and {} more", more), kFaint));
}

void put_bar(Picture& picture, const WatchState& state) {
  if (state.trials == 0) return;
  double ended = static_cast<double>(state.done + state.failed);
  for (const auto& trial : state.running)
    if (trial.steps > 0) ended += std::min(1.0, static_cast<double>(trial.step) / static_cast<double>(trial.steps));
  const double share = std::clamp(ended / static_cast<double>(state.trials), 0.0, 1.0);
  if (picture.view().width < 20) return;
  const auto columns = std::min(kBar, picture.view().width - 6);
  const auto full = static_cast<std::size_t>(share * static_cast<double>(columns));
  std::string bar, rest;
  for (std::size_t i = 0; i < columns; ++i) (i < full ? bar : rest) += i < full ? "█" : "░";
  picture.put(picture.line().add(bar, kGood).add(rest, kFaint).add(fmt::format(" {:3.0f} %", std::floor(100 * share))));
}

void put_state(Picture& picture, const WatchState& state, const SeenLosses& seen) {
  picture.gap();
  auto head = picture.line();
  head.add(state.experiment, kStrong)
      .add(fmt::format("  {} trial{}: {} done", state.trials, state.trials == 1 ? "" : "s", state.done));
  if (state.failed > 0) head.add(", ").add(fmt::format("{} failed", state.failed), kBad);
  if (state.is_running)
    head.add(fmt::format(", {} running, {} queued", state.running.size(), state.queued));
  else
    head.add(state.queued > 0 ? fmt::format(", {} not finished; nothing runs", state.queued) : "; nothing runs");
  if (state.imported > 0) head.add(fmt::format("; {} imported", state.imported));
  picture.put(head);
  if (state.is_running) {
    const auto left = state.left_s ? fmt::format(", about {} left", duration_text(*state.left_s)) : "";
    picture.put(picture.line().add(fmt::format("since {}{}", duration_text(state.elapsed_s), left)));
  }
  put_bar(picture, state);
  put_running(picture, state, seen);
  put_failures(picture, state);
  put_latest(picture, state);
  put_queue(picture, state);
}

}  // namespace

void SeenLosses::take(const std::vector<WatchState>& states, double now_s) {
  std::map<Name, Seen> now;
  for (const auto& state : states)
    for (const auto& trial : state.running) {
      const Name name{trial.key, trial.started_us};
      if (now.contains(name)) continue;  // the trial belongs to two experiments
      auto& seen = now[name];
      if (const auto before = trials_.find(name); before != trials_.end()) seen = std::move(before->second);
      seen.now_s = now_s;
      if (seen.step == trial.step) continue;
      seen.step = trial.step;
      seen.changed_s = now_s;
      if (!trial.loss || ++seen.skipped < seen.every) continue;
      seen.skipped = 0;
      seen.losses.push_back(*trial.loss);
      if (seen.losses.size() <= kMost) continue;
      for (std::size_t i = 0; 2 * i < seen.losses.size(); ++i) seen.losses[i] = seen.losses[2 * i];
      seen.losses.resize((seen.losses.size() + 1) / 2);
      seen.every *= 2;
    }
  trials_ = std::move(now);
}

std::span<const double> SeenLosses::of(const WatchedTrial& trial) const {
  const auto found = trials_.find({trial.key, trial.started_us});
  return found == trials_.end() ? std::span<const double>() : found->second.losses;
}

double SeenLosses::unchanged_s(const WatchedTrial& trial) const {
  const auto found = trials_.find({trial.key, trial.started_us});
  return found == trials_.end() ? 0 : found->second.now_s - found->second.changed_s;
}

std::vector<std::string> watch_lines(const std::vector<WatchState>& states, const SeenLosses& seen, const std::string& trouble,
                                     const WatchView& view) {
  Picture picture(view);
  if (!trouble.empty()) picture.put(picture.line().add("as it was last seen: " + trouble, kBad));
  for (const auto& state : states) put_state(picture, state, seen);
  return std::move(picture).cut_to_height();
}

std::string watch_summary(const WatchState& state) {
  auto text = fmt::format("{}: {} done, {} failed", one_row(state.experiment), state.done, state.failed);
  if (state.queued > 0) text += fmt::format(", {} not finished", state.queued);
  if (state.imported > 0) text += fmt::format(", {} imported", state.imported);
  if (state.done + state.imported > 0)
    text += fmt::format("; `ablate table {}` prints the table", shell_word(one_row(state.experiment)));
  return text;
}

}  // namespace ablate::db
