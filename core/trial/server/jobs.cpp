#include "core/trial/server/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <thread>

#include "core/registry/library.h"
#include "core/registry/plugin_info.h"
#include "core/registry/scan.h"
#include "core/registry/values.h"
#include "core/shared/requirements.h"
#include "core/shared/task_info.h"
#include "core/trial/device/device.h"
#include "core/trial/model/places.h"
#include "core/trial/server/crash_trace.h"
#include "core/trial/server/planned_files.h"
#include "core/trial/server/planned_library.h"
#include "core/trial/training/batches.h"
#include "core/trial/training/trial.h"
#include "core/util/error.h"
#include "core/util/file_stamp.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

using nlohmann::json;

std::string name_of(Kind kind, const std::string& id) { return fmt::format("{} {}", to_text(kind), id); }

/// Throws Error for what a task may not say of itself: the fault is in the plugin.
void check_info(const TaskInfo& info) {
  if (const auto fault = fault_of(info); !fault.empty()) throw Error("its info() says " + fault, ExitCode::kPlugin);
}

/// As PluginInfo::code_identity has it.
std::string code_of(const Descriptor& descriptor, const std::string& path, const json& hashes) {
  if (*descriptor.code_digest != '\0') return descriptor.code_digest;
  const auto planned = hashes.find(path);
  return planned == hashes.end() ? sha256_file(path) : planned->get<std::string>();
}

constexpr std::array kSplits{std::pair{"train", Split::kTrain}, std::pair{"dev", Split::kDev}, std::pair{"test", Split::kTest}};

/// Whether any example of any split has a place without anything. Reads until it finds one.
bool has_padding(const Task& task, const TaskInfo& info) {
  constexpr std::int64_t kBatch = 64;
  const BatchReader reader(task, info, c10::kCPU);
  const auto apart = info.sampling == Sampling::kStream ? info.length : 1;
  for (const auto& [name, split] : kSplits) {
    const auto size = task.size(split);
    for (std::int64_t first = 0; first < size; first += kBatch * apart) {
      std::vector<std::int64_t> indices;
      for (auto index = first; index < std::min(size, first + kBatch * apart); index += apart) indices.push_back(index);
      if (reader.read(split, indices).mask.defined()) return true;
    }
  }
  return false;
}

/// {path: file_stamp}, "" for what is not there. Throws Error for what is there and holds no data: to open a pipe is to wait.
json files_of(Task& task) {
  namespace fs = std::filesystem;
  auto files = json::object();
  for (const auto& named : task.files()) {
    const auto file = fs::absolute(named).lexically_normal();
    std::error_code unseen;
    const auto status = fs::status(file, unseen);
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
      throw Error(fmt::format("its data {}: found a pipe, a socket or a device, expected a file or a folder", file.string()));
    files[file.string()] = file_stamp(file);
  }
  return files;
}

}  // namespace

void TorchJobs::load(const json& what) {
  const auto hashes = what.value("hashes", json::object());
  for (const std::string path : what.value("libraries", json::array())) {
    const auto& descriptor = load_as_planned(path, hashes, [this] { restore(); });
    plugins_[name_of(descriptor.kind, descriptor.id)] = &descriptor;
    if (descriptor.kind == Kind::kTask) codes_[descriptor.id] = code_of(descriptor, path, hashes);
  }
  if (what.value("cuda", false)) load_cuda();
  for (const auto& task : what.value("tasks", json::array())) {
    load_task(task);
    restore();
  }
}

void TorchJobs::restore() const {
  state_.restore();
  torch_.restore();
}

const Descriptor& TorchJobs::plugin(Kind kind, const std::string& id) const {
  const auto found = plugins_.find(name_of(kind, id));
  if (found == plugins_.end())
    throw Error(fmt::format("{} was not loaded in this worker", name_of(kind, id)), ExitCode::kPlugin);
  return *found->second;
}

std::unique_ptr<Task> TorchJobs::make_task(const json& section, int threads) {
  const auto& descriptor = plugin(Kind::kTask, section.at("plugin"));
  const JsonValues values(section, describe(descriptor));
  if (cache_folder().empty()) throw Error(std::string("no place for its data: ") + kNoCache);
  // A library of the same id that was loaded since is other code, with a folder of its own.
  const auto& code = codes_.at(descriptor.id);
  const auto& cache =
      caches_.try_emplace(descriptor.id + ' ' + code, cache_folder() / "tasks" / descriptor.id, code).first->second;
  auto made = descriptor.make_task({values, cache.path(), threads});
  if (!made) throw Error(fmt::format("task {}: its factory returned nothing", descriptor.id), ExitCode::kPlugin);
  return made;
}

void TorchJobs::load_task(const json& planned) {
  const auto& section = planned.at("section");
  const std::string digest = planned.at("digest");
  auto& known = tasks_[section.dump()];
  if (known) return;
  const PlannedFiles files(planned.at("files"));
  auto made = make_task(section, 1);
  made->info();
  made->load();
  files.check();
  if (const auto found = made->digest(); found != digest)
    throw Error(
        fmt::format("task {}: its data changed after the study was planned (their digest is {}, and was {}): run the "
                    "command again for the new data",
                    section.at("plugin").get<std::string>(), found.substr(0, 12), digest.substr(0, 12)));
  known = std::move(made);
}

Task& TorchJobs::task(const json& section) const {
  const auto found = tasks_.find(section.dump());
  if (found == tasks_.end() || !found->second) throw std::logic_error("a trial whose task was not loaded");
  return *found->second;
}

void TorchJobs::run(const std::string& kind, const json& spec, const Say& say) try {
  restore();  // a library's handler of the fork has run
  trace_crashes(say);
  if (kind == "inspect") {
    const auto& descriptor = load_library(spec.at("path").get<std::string>());
    restore();
    // Depends on whose process it is, so that it is no property of the file.
    if (const auto lost = state_.lost(); !lost.empty())
      return say({{"failed", "changes the process that loads it for good: " + lost}});
    try {
      say(to_json(describe(descriptor)));
    } catch (const Error& error) {
      say({{"refusal", error.what()}});
    }
  } else if (kind == "describe-task" || kind == "prepare-task") {
    load(spec);
    const auto made = make_task(spec.at("section"), static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    const auto info = made->info();
    check_info(info);
    const auto shape = shape_of(info);
    json answer{{"length", shape.length}, {"train_length", info.train_length > 0 ? info.train_length : info.length},
                {"causal", shape.causal}, {"holes", shape.holes},
                {"pooled", shape.pooled}, {"stream", shape.stream}};
    auto files = files_of(*made);
    if (kind == "prepare-task") {
      made->load();
      const auto digest = made->digest();
      if (digest.empty()) throw Error("its digest() is empty, expected a hash of its data", ExitCode::kPlugin);
      answer["digest"] = digest;
      for (const auto& [name, split] : kSplits) {
        const auto size = made->size(split);
        if (size < 0 || size > kMostOfATask)
          throw Error(fmt::format("its {} split has {} examples, expected 0 to {}", name, size, kMostOfATask),
                      ExitCode::kPlugin);
        if (split == Split::kTrain) answer["train_places"] = size;
        // Of a stream: its segments, which are what batches count.
        answer["sizes"][name] = info.sampling == Sampling::kStream ? (size + info.length - 1) / info.length : size;
      }
      if (spec.value("scan_padding", false)) answer["padded"] = has_padding(*made, info);
    }
    // Where they were replaced meanwhile, nobody knows which of them were read.
    if (files_of(*made) == files) answer["files"] = std::move(files);
    say(answer);
  } else if (kind == "promises") {
    load(spec);
    const auto what = spec.at("kind") == to_text(Kind::kCompression) ? Kind::kCompression : Kind::kAttention;
    const auto find = [this](Kind part, const std::string& id) -> const Descriptor& { return plugin(part, id); };
    say({{"promises", to_json(promises_of(what, spec.at("section"), find))}});
  } else if (kind == "try-places") {
    load(spec);
    const auto find = [this](Kind part, const std::string& id) -> const Descriptor& { return plugin(part, id); };
    std::vector<TrialSpec> trials;  // of one task
    for (const auto& place : spec.at("places")) trials.push_back(trial_from_json(place.at("trial")));
    const auto made = make_task(to_json(trials.at(0).task), 1);
    const auto info = made->info();
    json answer{{"files", files_of(*made)}, {"refused", json::array()}};
    for (std::size_t place = 0; place < trials.size(); ++place)
      for (const auto& [path, why] : refused_places(info, trials[place], find))
        answer["refused"].push_back({{"place", place}, {"path", path}, {"why", why}});
    say(answer);
  } else if (kind == "open-device") {
    open_device(spec.at("device").get<std::string>());
    say({{"opened", true}});
  } else if (kind == "trial") {
    trial(spec, say);
  } else if (const auto found = more_.find(kind); found != more_.end()) {
    found->second(spec, say);
  } else {
    throw Error("no such job: " + kind);
  }
} catch (const c10::Error& error) {
  std::cerr << error.what() << "\n";  // the backtrace, for the tail of the output
  throw std::runtime_error(error.what_without_backtrace());
}

void TorchJobs::trial(const json& spec, const Say& say) {
  auto given = trial_from_json(spec.at("resolved"));
  const PlannedFiles files(spec.at("files"));
  auto& loaded = task(to_json(given.task));
  const TrialParts parts{.trial = std::move(given),
                         .task = loaded,
                         .find = [this](Kind kind, const std::string& id) -> const Descriptor& { return plugin(kind, id); }};
  const auto result = run_trial(parts, [&](const Progress& now) {
    if (now.step == 0) files.check();  // the factories have read them
    say(to_json(now));
  });
  say(to_json(result));
}

}  // namespace ablate
