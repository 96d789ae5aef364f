#include "core/host/study/start_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/host/study/diagnostics.h"
#include "core/records/setting_paths.h"
#include "core/registry/conditions.h"
#include "core/shared/poolings.h"
#include "core/shared/precisions.h"
#include "core/shared/sections.h"
#include "core/util/rate_text.h"

namespace ablate {
namespace {

/// Returns a note if the plugin in general promises what `key` needs, but not with these parameters and parts.
std::string declared_note(const PluginUse& use, const std::string& key, const Requirements& asked) {
  for (const auto& [other, what] : unpromised(use.info->kind, use.info->id, use.info->capabilities, asked))
    if (other == key) return "";
  return fmt::format("; it promises this with other parameters or parts (ablate plugins {})", use.info->id);
}

}  // namespace

TrainSpec any_training() {
  auto section = nlohmann::json::object();
  for (const auto& parameter : train_parameters()) section[parameter.name] = parameter.default_value;
  return train_from_json(section);
}

Location where_of(const Study& study, const Trial& trial, std::initializer_list<std::string> paths) {
  return trial.where.first_of(paths, {study.file.string(), 0, 0});
}

std::vector<Diagnostic> check_rates(const Study& study, const Catalog& catalog, const OfTask<std::int64_t>& length) {
  Diagnostics diagnostics(study.overrides);
  const auto check = [&](const Trial& trial, const PluginUse& use, const std::string& name, std::int64_t tokens) {
    const auto& value = use.given->values.at(name);
    for (const auto& text : value.is_array() ? value : nlohmann::json::array({value})) {
      const auto rate = parse_rate(text.get<std::string>());
      if (!rate || rate->numerator * tokens >= rate->denominator) continue;
      // A default has no location, so the plugin's location is used.
      const auto path = use.path + "." + name;
      diagnostics.add(where_of(study, trial, {path, use.path + ".plugin"}),
                      fmt::format("{}: {} leaves less than one slot of a sequence of {} tokens; the smallest rate is 1/{}",
                                  path, text.get<std::string>(), tokens, tokens));
    }
  };
  for (const auto* trial : first_of_each(study.trials, {TrialSection::kTask, TrialSection::kModel, TrialSection::kAttention})) {
    const auto tokens = seen_at_once(trial->spec.model, length(*trial));
    for (const auto& use : used_plugins(trial->spec, catalog))
      for (const auto& parameter : use.info->parameters)
        if (use.info->kind != Kind::kTask &&
            (parameter.type == ParameterType::kRate || parameter.type == ParameterType::kRates) &&
            unmet_condition(use.info->parameters, parameter, use.given->values).empty())
          check(*trial, use, parameter.name, tokens);
  }
  return diagnostics.sorted();
}

std::vector<Diagnostic> check_asked(const Study& study, const Catalog& catalog, const OfTask<TaskShape>& shape,
                                    const PromisesOf& promises) {
  Diagnostics diagnostics(study.overrides);
  std::set<std::pair<int, Requirements>> promised;  // attentions that promise everything needed
  for (const auto& trial : study.trials) {
    const auto asked = requirements_of(trial.spec, shape(trial));
    const std::pair attention(trial.sections[TrialSection::kAttention], asked);
    if (promised.contains(attention)) continue;
    auto uses = used_plugins(trial.spec, catalog);
    std::reverse(uses.begin(), uses.end());  // parts before the plugins that contain them
    std::vector<std::pair<std::string, std::string>> reported;
    for (const auto& use : uses) {
      if (use.info->kind == Kind::kTask) continue;
      for (const auto& wanted : unpromised(use.info->kind, use.info->id, promises(use), asked)) {
        const std::string& key = wanted.key;
        if (std::any_of(reported.begin(), reported.end(),
                        [&](const auto& one) { return one.first.starts_with(use.path + ".") && one.second == key; }))
          continue;
        reported.emplace_back(use.path, key);
        const auto path = use.path + ".plugin";
        diagnostics.add(key == setting::kTaskPlugin ? where_of(study, trial, {path, setting::kAttentionPlugin, key})
                                                    : where_of(study, trial, {key, path}),
                        wanted.what + declared_note(use, key, asked));
      }
    }
    if (reported.empty()) promised.insert(attention);
  }
  return diagnostics.sorted();
}

std::vector<Diagnostic> check_idle(const Study& study, const OfTask<TaskShape>& shape) {
  struct Setting {
    const char* path;
    std::function<bool(const Trial&)> is_set, counts;
    const char* why;
  };
  const auto has_stride = [](const Trial& trial) { return trial.spec.train.stride != 0; };
  const Setting settings[] = {
      {setting::kPooling, [](const Trial& trial) { return trial.spec.model.pooling != kPoolings[0].name; },
       [&](const Trial& trial) { return shape(trial).pooled; }, "targets are at positions, and nothing is pooled"},
      {setting::kStride, has_stride, [&](const Trial& trial) { return shape(trial).stream; },
       "it moves windows through a stream, and the task's splits are no streams"},
      {setting::kStride, has_stride,
       [&](const Trial& trial) {
         const auto task = shape(trial);
         const auto stride = trial.spec.train.stride;
         return !task.stream || (stride > 0 && stride < task.length);
       },
       "windows are as long as the task's segments (task.length), and it moves them by the same length"},
  };
  Diagnostics diagnostics(study.overrides);
  for (const auto& setting : settings) {
    if (std::any_of(study.trials.begin(), study.trials.end(), [&](const auto& trial) { return setting.counts(trial); }))
      continue;
    for (const auto& trial : study.trials)
      if (setting.is_set(trial))
        diagnostics.add(where_of(study, trial, {setting.path}),
                        fmt::format("{} = {} changes nothing here: {}; leave it out", setting.path,
                                    flatten(trial.resolved()).at(setting.path).dump(), setting.why));
  }
  return diagnostics.sorted();
}

std::vector<Diagnostic> check_lanes(const Study& study, const OfTask<TaskShape>& shape) {
  Diagnostics diagnostics(study.overrides);
  std::map<std::int64_t, std::int64_t> batches;  // by cell: the batch size of its first trial
  for (const auto& trial : study.trials) {
    if (!trial.cell || !shape(trial).stream) continue;
    const auto batch = trial.spec.train.batch;
    if (const auto first = batches.try_emplace(*trial.cell, batch).first->second; first != batch)
      diagnostics.add(where_of(study, trial, {setting::kBatch}),
                      fmt::format("grid.tune compares train.batch = {} and {}. The batch size is also the number of lanes in "
                                  "which a stream's dev is read. Each lane begins without context, so the metrics of the two "
                                  "cannot be compared; make train.batch an axis of [grid]",
                                  batch, first));
  }
  return diagnostics.sorted();
}

bool refuses_padding(const Trial& trial, const Catalog& catalog, const PromisesOf& promises) {
  const auto uses = used_plugins(trial.spec, catalog);
  return std::any_of(uses.begin(), uses.end(),
                     [&](const auto& use) { return use.info->kind == Kind::kAttention && !promises(use).key_padding; });
}

std::vector<Diagnostic> check_devices(const Study& study, const DeviceRefusal& refusal) {
  Diagnostics diagnostics(study.overrides);
  std::map<std::pair<std::string, bool>, std::string> refusals;
  for (const auto& trial : study.trials) {
    const auto &device = trial.spec.train.device, &dtype = trial.spec.train.dtype;
    const bool mixed = precision_info(dtype).mixed;
    if (device == "cpu" && !mixed) continue;
    const auto [known, is_new] = refusals.try_emplace({device, mixed});
    if (is_new) known->second = refusal(device, mixed);
    if (known->second.empty()) continue;
    const auto* const path = mixed ? setting::kDtype : setting::kDevice;
    diagnostics.add(where_of(study, trial, {path}),
                    fmt::format("{} = {}: {}", path, show(mixed ? dtype : device), known->second));
  }
  return diagnostics.sorted();
}

}  // namespace ablate
