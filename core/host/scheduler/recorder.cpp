#include "core/host/scheduler/recorder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "core/records/outcome.h"
#include "db/history/recovery.h"

namespace ablate {
namespace {

constexpr int kMostNames = 100;   ///< limit of rescued histories that are begun within a second
constexpr int kPatienceMs = 200;  ///< longest wait for a lock, too short to notice in a running grid
constexpr double kBetweenTries_s = 1, kBetweenShows_s = 1, kBetweenNotes_s = 60, kLastTries_s = 0.1;

std::string finished(std::size_t count) { return fmt::format("{} finished trial{}", count, count == 1 ? "" : "s"); }

/// Returns "2 finished trials wait to be written".
std::string waits(std::size_t count) { return fmt::format("{} wait{} to be written", finished(count), count == 1 ? "s" : ""); }

}  // namespace

Recorder::Recorder(db::GridStore& store, const Surroundings& outside, std::function<void(db::GridStore&)> describe, Note note,
                   std::function<void(const db::Attempt&, bool)> written)
    : store_(store), outside_(outside), describe_(std::move(describe)), note_(std::move(note)), written_(std::move(written)) {}

Recorder::~Recorder() { store_.set_patience(db::kUsualPatienceMs); }

void Recorder::begin() {
  if (describe_) describe_(store_);
  store_.set_patience(kPatienceMs);
}

std::string Recorder::put(const db::Attempt& attempt, const std::vector<MetricInfo>& metrics) {
  const auto lost = lost_, late = late_;
  waiting_.push_back({attempt, metrics});
  next_try_s_ = kAtOnce;
  retry();
  if (lost_ > lost) return "; could not be stored anywhere";
  if (late_ > late) return "; came late";
  return waiting_.empty() ? "" : "; waits to be written";
}

db::KeptFiles Recorder::limit_output() try {
  return store().limit_output(db::kMostOutputBytes);
} catch (const Error&) {  // the next written attempt will report the error
  return {};
}

db::KeptFiles Recorder::tidy_checkpoints(const std::set<std::string>& running) try {
  return store().tidy_checkpoints(running, db::kMostCheckpointBytes);
} catch (const Error&) {
  return {};
}

void Recorder::remove_checkpoints(const std::string& key) try {
  store().remove_checkpoints(key);
} catch (const Error&) {  // a checkpoint that remains is refused, or removed later
}

bool Recorder::use(const std::function<void(db::GridStore&)>& f) {
  try {
    f(store());
    return true;
  } catch (const db::Unavailable& error) {
    note_delay(error.what());
  } catch (const Error& error) {
    rescue(error.what());
  }
  return false;
}

bool Recorder::is_to_show() const { return outside_.clock.now_s() >= next_show_s_; }

void Recorder::show_running(const std::vector<db::RunningTrial>& trials) {
  next_show_s_ = outside_.clock.now_s() + kBetweenShows_s;
  write_running(trials);
}

void Recorder::write_running(const std::vector<db::RunningTrial>& trials) {
  try {
    store().put_running(trials);
  } catch (const db::Gone& error) {
    rescue(error.what());  // at once, because the end of a trial may be hours away
  } catch (const Error&) {
    // No result is lost: the next written attempt will report the error.
  }
}

void Recorder::write_waiting(db::GridStore& to) {
  while (!waiting_.empty()) {
    auto& [attempt, metrics] = waiting_.front();
    std::erase_if(metrics, [&](const MetricInfo& metric) { return defined_.contains(metric.name); });
    if (!metrics.empty()) to.put_metrics(metrics);
    for (const auto& metric : metrics) defined_.insert(metric.name);
    try {
      write(to, attempt);
    } catch (const db::UnknownTrial&) {
      if (!describe_) throw;
      describe_(to);
      write(to, attempt);
      note_("warning: the experiment was deleted during its run: it is recorded again, with trials that ended after that");
    }
    waiting_.pop_front();
    if (&to != &store_) ++apart_;
  }
}

void Recorder::write(db::GridStore& to, const db::Attempt& attempt) {
  const bool is_leased = attempt.fence > 0 && has_leases_;
  const bool in_time = !is_leased || to.put_leased(attempt);
  if (!is_leased) to.put_attempt(attempt);
  if (!in_time) ++late_;
  if (attempt.fence > 0 && written_) written_(attempt, in_time);
  if (in_time && attempt.outcome == outcome::kDone) note_unlike(to, attempt.key);
}

void Recorder::note_unlike(db::GridStore& in, const std::string& key) try {
  if (has_noted_unlike_) return;
  const auto unlike = in.unlike_numbers(key);
  if (unlike.empty()) return;
  has_noted_unlike_ = true;
  note_(
      fmt::format("warning: {}. The latest attempt counts; a plugin is not deterministic, or something outside the key has "
                  "changed. `ablate db check` lists all such attempts",
                  unlike));
} catch (const Error&) {
  // The attempt is written. If it cannot be compared now, `ablate db check` still finds a difference.
}

void Recorder::retry() {
  if (waiting_.empty() || outside_.clock.now_s() < next_try_s_) return;
  try {
    write_waiting(store());
    if (delayed_) note_("the database can be written again, and everything is in it");
    delayed_ = false;
  } catch (const db::Unavailable& error) {
    next_try_s_ = outside_.clock.now_s() + kBetweenTries_s;
    note_delay(error.what());
  } catch (const Error& error) {
    rescue(error.what());
  }
}

void Recorder::note_delay(const std::string& why) {
  if (delayed_ && outside_.clock.now_s() < next_note_s_) return;
  delayed_ = true;
  next_note_s_ = outside_.clock.now_s() + kBetweenNotes_s;
  note_(fmt::format("warning: {} Running trials go on, and no other starts; {}", why + (why.ends_with('.') ? "" : "."),
                    waiting_.empty() ? "results wait to be written" : waits(waiting_.size())));
}

void Recorder::finish(const std::function<bool()>& give_up) {
  retry();
  if (!waiting_.empty())
    note_(fmt::format("{}; after some minutes or Ctrl-C, they go to a new file beside the database", waits(waiting_.size())));
  while (!waiting_.empty()) {
    if (give_up()) rescue("the database still could not be written when the run stopped waiting");
    outside_.clock.wait(kLastTries_s);
    retry();
  }
  write_running({});
}

std::string Recorder::where_everything_is() const {
  std::string text = why_;
  if (uncopied_.empty())
    text += fmt::format(
        ". Everything, with the results of this run, is in {}: put it in the database's place, or read it with --db",
        rescued_.string());
  else
    text += fmt::format(
        ". Earlier results could not be copied ({}): they are only in {}, or in the place to which that file was moved, so "
        "replace no file. {}",
        uncopied_, store_.file().string(), db::recovery_remedy(store_.file()));
  if (apart_ > 0 && !uncopied_.empty())
    text += fmt::format(". {} has the results of this run that the database could not store: {}", rescued_.string(),
                        finished(apart_));
  if (lost_ > 0) text += fmt::format(". The results of {} could not be stored anywhere", finished(lost_));
  return text;
}

void Recorder::rescue(const std::string& why) {
  if (is_elsewhere()) {  // only once: there is no third file
    lost_ += waiting_.size();
    waiting_.clear();
    return;
  }
  why_ = why;
  const auto now = fmt::localtime(static_cast<std::time_t>(outside_.clock.since_1970_us() / 1'000'000));
  std::error_code none;
  // In containers all processes may have the same PID, so that the first name may be taken.
  const auto name_of = [&](const std::filesystem::path& folder) {
    for (int count = 1;; ++count) {
      auto file = folder / fmt::format("{}.rescued-{:%Y%m%d-%H%M%S}-{}{}.db", store_.file().stem().string(), now,
                                       outside_.process, count == 1 ? "" : fmt::format("-{}", count));
      if (!std::filesystem::exists(file, none) || count == kMostNames) return file;
    }
  };
  for (const bool copy : {true, false})
    for (const auto& folder : {store_.file().parent_path(), std::filesystem::temp_directory_path(none)})
      if (rescue_into(name_of(folder), copy))
        return note_(fmt::format("warning: {}. No further trial is started; {} are stored in {}", why,
                                 copy
                                     ? "earlier results and those of running trials"
                                     : "earlier results could not be copied and stay where they are; results of running trials",
                                 rescued_.string()));
  lost_ = waiting_.size();
  waiting_.clear();
  rescued_ = "nowhere";
}

bool Recorder::rescue_into(const std::filesystem::path& file, bool copy) {
  const auto waiting = waiting_;
  std::error_code ignored;
  bool is_own = !copy && !std::filesystem::exists(file, ignored);
  has_leases_ = copy;
  try {
    if (copy) store_.rescue(file);
    is_own = is_own || copy;
    auto made = store_.open(file);
    if (!copy && describe_) describe_(*made);
    defined_.clear();
    write_waiting(*made);
    rescue_ = std::move(made);
    rescued_ = file;
    if (copy) uncopied_.clear();
    return true;
  } catch (const Error& error) {
    if (copy) uncopied_ = error.what();
    waiting_ = waiting;
    apart_ = 0;
    if (is_own) std::filesystem::remove(file, ignored);  // else another scheduler made it
    return false;
  }
}

}  // namespace ablate
