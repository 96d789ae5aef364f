#include "core/trial/server/own_checkpoints.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "core/records/checkpoint_files.h"
#include "core/records/environment_parts.h"
#include "core/trial/training/checkpoint_file.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

using nlohmann::json;

std::chrono::steady_clock::duration seconds(double count) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(count));
}

/// Returns the CPU seconds of this process and of the children that it has waited for. The parent's wait4 counts the same.
double processor_seconds() {
  double all = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const auto& time : {usage.ru_utime, usage.ru_stime})
      all += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return all;
}

std::int64_t peak_resident() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

/// Returns the environments of a checkpoint's steps, the latest first. A file of an earlier ablate has only the processor.
json environments_of(const AboutCheckpoint& about, const AboutCheckpoint& here) {
  if (const auto at = about.find("environments"); at != about.end()) return *at;
  const auto& processor = about.at("processor");
  return processor == here.value("processor", json()) ? json::array() : json::array({{{"processor", processor}}});
}

}  // namespace

OwnCheckpoints::OwnCheckpoints(CheckpointPlan plan, Say say)
    : plan_(std::move(plan)), say_(std::move(say)), due_(start_ + seconds(plan_.every_s)) {
  for (const auto& path : plan_.libraries.paths)
    libraries_.push_back({.content_hash = plan_.libraries.hashes.at(path), .path = path});
  watch_.remember(libraries_);
}

std::unique_ptr<TrialRun> OwnCheckpoints::begin(const std::function<std::unique_ptr<TrialRun>()>& make) {
  auto run = make();
  const auto files = checkpoint_files(plan_.folder, plan_.key);
  for (const auto& file : files) {
    if (file.is_part) continue;
    bool is_touched = false;
    try {
      const auto [about, state] = read_checkpoint(file.path, plan_.about);
      const auto& taken = about.at("spent");
      auto environments = environments_of(about, plan_.about);
      const auto here = plan_.about.value("environment", json::object());
      std::vector<json> differences;
      for (const auto& one : environments)
        if (auto patch = environment_difference(one, here); !patch.empty()) differences.push_back(std::move(patch));
      is_touched = true;
      run->load(state);
      before_ = {.step = run->steps_done(),
                 .owner = file.owner,
                 .environments = std::move(differences),
                 .wall_s = taken.at("wall_s"),
                 .cpu_s = taken.at("cpu_s"),
                 .peak_resident_bytes = taken.at("peak_resident_bytes"),
                 .unusable = std::move(before_.unusable)};
      std::erase(environments.get_ref<json::array_t&>(), here);
      earlier_ = std::move(environments);
      good_before_ = file.path;
      break;
    } catch (const std::exception& error) {
      before_.unusable.push_back(one_line(error.what(), 400));
      if (!is_touched) continue;
      run.reset();  // part of the state may have been loaded
      run = make();
    }
  }
  if (before_.step > 0 || !before_.unusable.empty()) say_(to_json(before_));
  return run;
}

void OwnCheckpoints::after_step(const TrialRun& run) {
  const bool asked = say_.asked_to_save();
  if (!asked && Clock::now() < due_) return;
  Saved saved{.step = run.steps_done()};
  try {
    write(run);
  } catch (const std::exception& error) {
    saved.failed = one_line(error.what());
  }
  due_ = Clock::now() + seconds(plan_.every_s);
  say_(to_json(saved));
}

void OwnCheckpoints::write(const TrialRun& run) {
  if (const auto why = watch_.overwritten(libraries_); !why.empty()) throw Error(why);
  auto about = plan_.about;
  about["key"] = plan_.key;
  about["environments"] = earlier_;
  about["environments"].insert(about["environments"].begin(), plan_.about.value("environment", json::object()));
  about["step"] = run.steps_done();
  about["spent"] = spent();
  const auto file =
      std::filesystem::path(plan_.folder) / checkpoint_name(plan_.owner, plan_.fence, plan_.key, run.steps_done());
  write_checkpoint(file, about, run.save());
  // Also removes files of earlier attempts and unusable files. Files of a later owner of the trial stay.
  for (const auto& other : checkpoint_files(plan_.folder, plan_.key))
    if (std::error_code ignored; other.fence <= plan_.fence && other.path != file && other.path != good_before_)
      std::filesystem::remove(other.path, ignored);
  good_before_ = file;
}

json OwnCheckpoints::spent() const {
  const std::chrono::duration<double> wall = Clock::now() - start_;
  return {{"wall_s", before_.wall_s + wall.count()},
          {"cpu_s", before_.cpu_s + processor_seconds()},
          {"peak_resident_bytes", std::max(before_.peak_resident_bytes, peak_resident())}};
}

}  // namespace ablate
