#include "core/host/study/cross_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>

#include "core/records/setting_paths.h"
#include "core/shared/optimizers.h"
#include "core/shared/precisions.h"
#include "core/shared/requirements.h"
#include "core/shared/schedules.h"
#include "core/shared/sections.h"

namespace ablate {

bool cross_check(const Trial& trial, const std::set<std::string>& wrong, Diagnostics& diagnostics) {
  bool ok = true;
  /// @param of what is compared; the first of them that the study sets is where it is told
  const auto tell = [&](std::span<const char* const> of, const std::string& why) {
    if (std::any_of(of.begin(), of.end(), [&](const auto* path) { return wrong.contains(path); })) return;
    diagnostics.add(trial.where.first_of(of), why);
    ok = false;
  };
  const auto refuse = [&](bool refused, std::initializer_list<const char*> of, const auto& why) {
    if (refused) tell({of.begin(), of.size()}, why());
  };
  const auto& [task, model, attention, train, seed] = trial.spec;
  const auto count = static_cast<std::int64_t>(attention.all.size());
  refuse(attention.is_list && count > 0 && model.layers % count != 0, {setting::kFirstLayersPlugin, setting::kModelLayers},
         [&] {
           return fmt::format(
               "attention is a list of {}, which does not divide model.layers = {}; layers take its entries in turn", count,
               trial.spec.model.layers);
         });
  refuse(train.warmup > train.steps, {setting::kWarmup, setting::kSteps}, [&] {
    return fmt::format("train.warmup = {} is more than train.steps = {}; the warm-up is a part of the training",
                       trial.spec.train.warmup, trial.spec.train.steps);
  });
  const auto hear = [&](Refuse said) {
    if (said == nullptr) return;
    if (const auto misfit = said(trial.spec.train)) tell(misfit->of, misfit->why);
  };
  if (!wrong.contains(setting::kSchedule)) hear(schedule_of(train.schedule).refuse);
  if (!wrong.contains(setting::kOptimizer)) hear(kOptimizers[index_of_choice(kOptimizers, train.optimizer)].refuse);
  // The embedding's weights have another width.
  refuse(
      model.classifier == "mlp" && model.classifier_hidden > 0 && model.tied_output && model.classifier_hidden != model.d_model,
      {setting::kClassifierHidden, setting::kTiedOutput, setting::kModelWidth}, [&] {
        return fmt::format("model.classifier_hidden = {} is not model.d_model = {}, which the weights of a tied output have",
                           trial.spec.model.classifier_hidden, trial.spec.model.d_model);
      });
  refuse(train.graphs && train.device == "cpu", {setting::kGraphs, setting::kDevice}, [] {
    return "train.graphs = true, and train.device is cpu, which has none: set train.device to cuda, or leave train.graphs out";
  });
  if (!wrong.contains(setting::kDtype) && precision_info(train.dtype).mixed) {
    refuse(train.device != "cpu", {setting::kDtype, setting::kDevice}, [&] {
      return fmt::format("train.dtype = \"mixed\" is a CPU's, and train.device is {}: set that to cpu, or the type to bfloat16",
                         trial.spec.train.device);
    });
    refuse(!train.fused(), {setting::kDtype, setting::kKernels}, [] {
      return "train.dtype = \"mixed\" is what fused forms multiply in, and train.kernels = \"reference\" runs none: leave one "
             "out";
    });
  }
  refuse(!is_device(train.device), {setting::kDevice},
         [&] { return fmt::format("train.device = {}: expected cpu, cuda, cuda:N or auto", show(trial.spec.train.device)); });
  return ok;
}

bool check_promises(const Trial& trial, const PluginInfo& plugin, const std::string& path, Diagnostics& diagnostics) {
  if (plugin.promises_depend) return true;  // only a worker knows: start_checks.h
  bool ok = true;
  const auto value_of = [&](const std::string& key) -> nlohmann::json {
    for (const auto& [section, values, parameters] : host_sections(trial.spec))
      if (key.starts_with(section + ".")) return values.at(key.substr(section.size() + 1));
    return nullptr;
  };
  for (const auto& [key, what] : unpromised(plugin.kind, plugin.id, plugin.capabilities, requirements_of(trial.spec, {}))) {
    if (key == setting::kTaskPlugin || key == setting::kCausal) continue;  // the task has a word in it: start_checks.h
    const auto plugin_path = path + ".plugin";
    diagnostics.add(trial.where.first_of(std::array{key.c_str(), plugin_path.c_str()}),
                    fmt::format("{} = {}, but {}", key, show(value_of(key)), what));
    ok = false;
  }
  return ok;
}

}  // namespace ablate
