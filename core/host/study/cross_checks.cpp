#include "core/host/study/cross_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "core/shared/requirements.h"
#include "core/shared/sections.h"

namespace ablate {
namespace {

/// Where the first of some paths is that the study sets.
Location where_of(const Trial& trial, std::initializer_list<const char*> paths) {
  for (const auto* path : paths)
    if (const auto* found = trial.where.find(path)) return *found;
  return {};
}

}  // namespace

bool cross_check(const Trial& trial, const std::set<std::string>& wrong, Diagnostics& diagnostics) {
  bool ok = true;
  /// @param of what is compared; the first of them that the study sets is the place
  const auto refuse = [&](bool refused, std::initializer_list<const char*> of, const auto& why) {
    if (!refused || std::any_of(of.begin(), of.end(), [&](const auto* path) { return wrong.contains(path); })) return;
    diagnostics.add(where_of(trial, of), why());
    ok = false;
  };
  const auto& [task, model, attention, train, seed] = trial.spec;
  const auto count = static_cast<std::int64_t>(attention.all.size());
  refuse(attention.is_list && count > 0 && model.layers % count != 0, {"attention.0.plugin", "model.layers"}, [&] {
    return fmt::format("attention is a list of {}, which does not divide model.layers = {}; layers take its entries in turn",
                       count, trial.spec.model.layers);
  });
  refuse(train.warmup > train.steps, {"train.warmup", "train.steps"}, [&] {
    return fmt::format("train.warmup = {} is more than train.steps = {}; the warm-up is a part of the training",
                       trial.spec.train.warmup, trial.spec.train.steps);
  });
  refuse(train.schedule == "inverse-sqrt" && train.warmup == 0, {"train.schedule", "train.warmup"}, [] {
    return "train.schedule = inverse-sqrt needs a warm-up, and train.warmup is 0: the rate is sqrt(warmup / step) of its peak; "
           "set train.warmup to the steps that come before it falls";
  });
  const auto cooldown = train.own.at("cooldown").get<double>(), steps = static_cast<double>(train.steps);
  refuse(train.schedule == "wsd" && static_cast<double>(train.warmup) > steps - cooldown * steps,
         {"train.cooldown", "train.warmup", "train.schedule", "train.steps"}, [&] {
           return fmt::format("train.cooldown = {}: the rate would fall before train.warmup = {} of {} steps are over",
                              cooldown, trial.spec.train.warmup, trial.spec.train.steps);
         });
  const auto &low = train.own.at("beta1_low"), &high = train.own.at("beta1");
  refuse(low > high, {"train.beta1_low", "train.beta1"},
         [&] { return fmt::format("train.beta1_low = {} is more than train.beta1 = {}", show(low), show(high)); });
  // The embedding's weights have another width.
  refuse(
      model.classifier == "mlp" && model.classifier_hidden > 0 && model.tied_output && model.classifier_hidden != model.d_model,
      {"model.classifier_hidden", "model.tied_output", "model.d_model"}, [&] {
        return fmt::format("model.classifier_hidden = {} is not model.d_model = {}, which the weights of a tied output have",
                           trial.spec.model.classifier_hidden, trial.spec.model.d_model);
      });
  refuse(train.graphs && train.device == "cpu", {"train.graphs", "train.device"}, [] {
    return "train.graphs = true, and train.device is cpu, which has none: set train.device to cuda, or leave train.graphs out";
  });
  refuse(!is_device(train.device), {"train.device"},
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
    if (key == "task.plugin" || key == "model.causal") continue;  // the task has a word in it: start_checks.h
    const auto plugin_path = path + ".plugin";
    diagnostics.add(where_of(trial, {key.c_str(), plugin_path.c_str()}),
                    fmt::format("{} = {}, but {}", key, show(value_of(key)), what));
    ok = false;
  }
  return ok;
}

}  // namespace ablate
