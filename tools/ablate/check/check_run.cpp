#include "tools/ablate/check/check_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <thread>

#include "core/util/plain_json.h"
#include "core/util/scratch_folder.h"
#include "tools/ablate/verdict_text.h"
#include "tools/ablate/wrapped.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr double kOpenDevice_s = 60;

}  // namespace

CheckRun::CheckRun(const CheckArguments& arguments, const Options& options)
    : arguments_(arguments), database_(options.database_file()) {
  const auto database = options.named_database();
  std::error_code none;
  if (!database.empty() && std::filesystem::exists(database, none))  // a check does not create a history
    history_.emplace(database);
  else if (!options.database.empty())
    throw Error(fmt::format("--db {}: no such file; expected a run history that will store the verdicts", options.database));
  auto inspector = local_workers();
  const auto found = find_libraries(options, inspector);
  parts_ = parts_among(found);
  libraries_ = choose(arguments.what, found, options, inspector);
  if (arguments.length > 0 &&
      std::ranges::all_of(libraries_, [](const auto& one) { return one.refusal.empty() && one.info.kind == Kind::kTask; }))
    throw Error(fmt::format("--length {}: {} is a task, expected an attention or a compression", arguments.length,
                            libraries_.front().info.id));
  blocks_.emplace(libraries_.size() + 1);
  for (std::size_t i = 0; i < libraries_.size(); ++i) {
    specs_.push_back(is_refused(i) ? CheckJob() : spec_of(libraries_[i]));
    watch_.remember(libraries_of(i));
    examinations_.emplace_back(libraries_[i].info, [this, i](const std::string& line) {
      if (!is_timing_ || is_one()) head(i);
      tell(is_timing_ && !is_one() ? libraries_.size() : i, line);
    });
  }
}

int CheckRun::run() {
  const auto why = device_refusal();
  on_device_ = why.empty();
  if (on_device_) {
    check_all();
    time_all();
    keep();
    if (is_one())
      close(0);
    else
      tell(libraries_.size(), totals());
  } else {
    for (auto& one : examinations_) one.leave("device", arguments_.device, why);
    const auto text = fmt::format("nothing was checked with --device {}: {}", arguments_.device, db::one_row(why));
    if (!as_json()) print("{}\n", wrapped(text, 2, 0));
  }
  if (as_json()) print("{}\n", plain_json(to_json(), 2));
  return static_cast<int>(exit_code());
}

bool CheckRun::has_time(std::size_t i) const {
  return !arguments_.quick && !arguments_.no_timing && arguments_.device == "cpu" && libraries_[i].info.kind != Kind::kTask &&
         !examinations_[i].broke_off();
}

CheckJob CheckRun::spec_of(const FoundLibrary& library) const {
  CheckJob job{.library = library.path.string(),
               .hashes = {{library.path.string(), library.info.content_hash}},
               .parameters = parameters_of(library.info, arguments_.parameters, parts_),
               .device = arguments_.device,
               .quick = arguments_.quick,
               .only = {arguments_.only.begin(), arguments_.only.end()},
               .length = arguments_.length};
  for (const auto& [id, part] : parts_) {
    job.parts.push_back(part.path.string());
    job.hashes[part.path.string()] = part.info.content_hash;
  }
  return job;
}

std::vector<UsedPlugin> CheckRun::libraries_of(std::size_t i) const {
  std::vector<UsedPlugin> all;
  for (const auto& [path, hash] : specs_[i].hashes) all.push_back({.content_hash = hash, .path = path});
  return all;
}

/// Returns why the device cannot compute anything, or "" if it can.
std::string CheckRun::device_refusal() {
  if (arguments_.device == "cpu") return "";
  return checkers_.need(say_line).ask(OpenDeviceJob{arguments_.device}, kOpenDevice_s).failed;
}

/// Runs all checks except timing.
void CheckRun::check_all() {
  std::deque<ScratchFolder> scratch;
  std::vector<ListenedCheck> jobs;
  for (std::size_t i = 0; i < libraries_.size(); ++i) {
    const auto& [path, info, refusal, warnings] = libraries_[i];
    if (is_refused(i)) {
      tell(i, fmt::format("{}\n  {}\n\n", path_text(path), wrapped("refused: " + db::one_row(refusal), 4, 2)));
      blocks_->close(i);
      continue;
    }
    specs_[i].scratch = info.kind == Kind::kTask ? scratch.emplace_back().path().string() : "";
    specs_[i].timed = false;
    jobs.push_back(job_of(i));
  }
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  while (!jobs.empty()) {
    run_side_by_side(std::move(jobs), arguments_.at_a_time > 0 ? arguments_.at_a_time : cores, arguments_.timeout_s, checkers_);
    jobs.clear();
    for (std::size_t i = 0; i < libraries_.size(); ++i) {
      if (!may_go_on(i)) continue;
      go_on(i);
      jobs.push_back(job_of(i));
    }
  }
}

/// True if a job broke off, its parts may be the cause, and each of these parts can be replaced by another of its kind.
bool CheckRun::may_go_on(std::size_t i) const {
  if (is_refused(i)) return false;
  const auto culprits = examinations_[i].culprits();
  const auto& paths = specs_[i].parts;
  return !culprits.empty() && std::all_of(culprits.begin(), culprits.end(), [&](const std::string& id) {
    const auto& culprit = parts_.at(id);
    return std::any_of(parts_.begin(), parts_.end(), [&](const auto& other) {
      return other.second.info.kind == culprit.info.kind &&
             std::find(culprits.begin(), culprits.end(), other.first) == culprits.end() &&
             std::find(paths.begin(), paths.end(), other.second.path.string()) != paths.end();
    });
  });
}

/// Prepares a repetition of the job without the parts that may have broken it.
void CheckRun::go_on(std::size_t i) {
  for (const auto& id : examinations_[i].culprits()) {
    auto& paths = specs_[i].parts;
    paths.erase(std::remove(paths.begin(), paths.end(), parts_.at(id).path.string()), paths.end());
  }
  examinations_[i].without_culprits();
}

/// Measures time for one plugin at a time, when no other check runs, because other checks would slow it down.
void CheckRun::time_all() {
  is_timing_ = true;
  std::vector<ListenedCheck> jobs;
  for (std::size_t i = 0; i < libraries_.size(); ++i) {
    if (is_refused(i) || !has_time(i)) continue;
    specs_[i].timed = true;
    jobs.push_back(job_of(i));
  }
  if (jobs.empty()) return;
  if (!is_one()) tell(libraries_.size(), "time, one plugin after the other\n" + Examination::heading(Kind::kAttention));
  run_side_by_side(std::move(jobs), 1, arguments_.timeout_s, checkers_);
  if (!is_one()) tell(libraries_.size(), "\n");
}

ListenedCheck CheckRun::job_of(std::size_t i) {
  auto& one = examinations_[i];
  return {.job = specs_[i],
          .hear =
              [this, i, &one](const CheckSaid& said) {
                one.hear(said);
                if (!one.refused().empty()) throw Error(one.refused());
              },
          .end =
              [this, i, &one](const JobOutcome& outcome, const std::string& failed) {
                one.end(outcome, failed, arguments_.timeout_s);
                if (const auto why = watch_.overwritten(libraries_of(i)); !why.empty()) one.spoil(why);
                leave_missing(i);
                if (!is_timing_ && !is_one() && !may_go_on(i)) close(i);
              },
          .again = [&one] { one.again(); }};
}

/// Reports the checks of --only that have not run and will not run.
void CheckRun::leave_missing(std::size_t i) {
  auto& one = examinations_[i];
  if (one.broke_off() || one.tells_of({"data", "device"})) return;  // no check ran
  for (const auto& name : arguments_.only) {
    const bool is_time = name == "time", is_left = is_time && !has_time(i);
    if (one.tells_of({name}) || (is_time && !is_timing_ && !is_left)) continue;
    one.leave(name, libraries_[i].info.id,
              is_left ? "time is measured only for attentions and compressions, on the CPU, without --quick and --no-timing"
              : arguments_.quick
                  ? "a quick run leaves out this check; without --quick it runs if the plugin's promises require it"
                  : "none of its promises requires this check");
  }
}

void CheckRun::tell(std::size_t block, const std::string& text) {
  if (!as_json() && on_device_) blocks_->add(block, text);
}

/// Prints the heading before a plugin's first line; a plugin whose request was refused gets no heading.
void CheckRun::head(std::size_t i) {
  if (!headed_.insert(i).second) return;
  const auto& [path, info, refusal, warnings] = libraries_[i];
  tell(i, fmt::format("{} ({} {}), {}\n{}", info.id, to_text(info.kind), info.version, path_text(path),
                      Examination::heading(info.kind)));
}

void CheckRun::close(std::size_t i) {
  if (!is_refused(i)) head(i);
  if (!is_refused(i)) {
    const auto summary = fmt::format("{}: {}", libraries_[i].info.id, examinations_[i].summary());
    tell(i, fmt::format("{}\n\n", wrapped(summary, 2, 0)));
  }
  blocks_->close(i);
}

/// "19 plugins: 15 passed; FAILED: mine (padding); unchecked: lm, retrieval; broken off: linear; refused: 1"
std::string CheckRun::totals() const {
  std::vector<std::string> failed, unchecked, broken_off;
  std::size_t passed = 0, refused = 0;
  for (std::size_t i = 0; i < libraries_.size(); ++i) {
    const auto verdict = examinations_[i].verdict();
    const auto& id = libraries_[i].info.id;
    if (is_refused(i))
      ++refused;
    else if (verdict.has_failed())
      failed.push_back(fmt::format("{} ({})", id, verdict.failed_text()));
    else if (verdict.passed())
      ++passed;
    else if (examinations_[i].is_spoilt())
      broken_off.push_back(id);
    else
      unchecked.push_back(id);
  }
  auto text = fmt::format("{} plugins: {} passed", libraries_.size(), passed);
  if (!failed.empty()) text += fmt::format("; FAILED: {}", fmt::join(failed, ", "));
  if (!unchecked.empty()) text += fmt::format("; unchecked: {}", fmt::join(unchecked, ", "));
  if (!broken_off.empty()) text += fmt::format("; broken off: {}", fmt::join(broken_off, ", "));
  if (refused > 0) text += fmt::format("; refused: {}", refused);
  return wrapped(text, 2, 0) + "\n";
}

json CheckRun::to_json() const {
  json all = json::array();
  for (std::size_t i = 0; i < libraries_.size(); ++i)
    all.push_back(is_refused(i)
                      ? json{{"path", libraries_[i].path.string()}, {"verdict", "failed"}, {"refusal", libraries_[i].refusal}}
                      : examinations_[i].to_json());
  return all;
}

ExitCode CheckRun::exit_code() const {
  auto code = ExitCode::kDone;
  for (std::size_t i = 0; i < libraries_.size(); ++i) {
    const auto verdict = examinations_[i].verdict();
    // A named plugin that could not be checked, such as a task without data, must not count as passed. A named check that does
    // not apply may count as passed.
    const bool nothing =
        !arguments_.what.empty() && on_device_ && verdict.verdict == "unchecked" && !examinations_[i].tells_of(arguments_.only);
    if (is_refused(i))
      code = code == ExitCode::kDone ? ExitCode::kPlugin : code;
    else if (verdict.has_failed() || (!examinations_[i].ran_out_of_time() && (examinations_[i].is_spoilt() || nothing)))
      code = ExitCode::kTrialsFailed;
  }
  return code;
}

}  // namespace ablate
