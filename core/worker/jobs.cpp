#include "core/worker/jobs.h"

#include <fmt/format.h>

#include <thread>

#include "core/registry/library.h"
#include "core/registry/plugin_info.h"
#include "core/registry/scan.h"
#include "core/registry/values.h"
#include "core/runtime/device.h"
#include "core/runtime/trial.h"
#include "core/util/error.h"

namespace ablate {
namespace {

using nlohmann::json;

std::string name_of(Kind kind, const std::string& id) { return fmt::format("{} {}", to_text(kind), id); }

}  // namespace

void TorchJobs::load(const json& what) {
  for (const auto& path : what.value("libraries", json::array())) {
    const auto& descriptor = load_library(path.get<std::string>());
    plugins_[name_of(descriptor.kind, descriptor.id)] = &descriptor;
  }
  if (what.value("cuda", false)) load_cuda();
  for (const auto& section : what.value("tasks", json::array())) task(section);
}

const Descriptor& TorchJobs::plugin(Kind kind, const std::string& id) const {
  const auto found = plugins_.find(name_of(kind, id));
  if (found == plugins_.end())
    throw Error(fmt::format("{} was not loaded in this worker", name_of(kind, id)), ExitCode::kPlugin);
  return *found->second;
}

std::unique_ptr<Task> TorchJobs::make_task(const json& section, int threads) const {
  const auto& descriptor = plugin(Kind::kTask, section.at("plugin"));
  const JsonValues values(section);
  auto cache = cache_folder() / "tasks" / descriptor.id;
  std::filesystem::create_directories(cache);
  return descriptor.make_task({values, std::move(cache), threads});
}

Task& TorchJobs::task(const json& section) {
  auto& known = tasks_[section.dump()];
  if (!known) {
    auto made = make_task(section, 1);
    made->info();
    made->load();
    known = std::move(made);
  }
  return *known;
}

void TorchJobs::run(const std::string& kind, const json& spec, const Say& say) {
  if (kind == "inspect") {
    say(to_json(describe(load_library(spec.at("path").get<std::string>()))));
  } else if (kind == "describe-task" || kind == "prepare-task") {
    load({{"libraries", {spec.at("library")}}});
    const auto made = make_task(spec.at("section"), static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    const auto info = made->info();
    json answer{{"vocabulary", info.vocabulary}, {"length", info.length}, {"classes", info.classes}};
    if (kind == "prepare-task") {
      made->load();
      answer["digest"] = made->digest();
      for (const auto& [name, split] :
           {std::pair{"train", Split::kTrain}, std::pair{"dev", Split::kDev}, std::pair{"test", Split::kTest}})
        answer["sizes"][name] = made->size(split);
    }
    say(answer);
  } else if (kind == "trial") {
    trial(spec, say);
  } else {
    throw Error("no such job: " + kind);
  }
}

void TorchJobs::trial(const json& resolved, const Say& say) {
  TrialParts parts{.resolved = resolved, .task = task(resolved.at("task"))};
  parts.attention = {&plugin(Kind::kAttention, resolved.at("attention").at("plugin")), resolved.at("attention")};
  if (resolved.contains("compression"))
    parts.compression = {&plugin(Kind::kCompression, resolved.at("compression").at("plugin")), resolved.at("compression")};
  const auto result = run_trial(parts, [&](const Progress& now) {
    say({{"step", now.step}, {"steps", now.steps}, {"loss", now.loss}, {"accuracy", now.dev_accuracy}});
  });
  json curve = json::array();
  for (const auto& point : result.curve) curve.push_back({point.metric, point.step, point.value});
  json metrics = json::array();
  for (const auto& metric : result.metrics)
    metrics.push_back(
        {{"name", metric.name}, {"unit", metric.unit}, {"direction", metric.direction}, {"description", metric.description}});
  say({{"results", result.values}, {"curve", curve}, {"metrics", metrics}});
}

}  // namespace ablate
