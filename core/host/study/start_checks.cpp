#include "core/host/study/start_checks.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "core/host/study/diagnostics.h"
#include "core/host/study/used_plugins.h"
#include "core/util/rate_text.h"

namespace ablate {
namespace {

/// The first attention that does not promise to take padded sequences; nothing where all do.
std::optional<PluginUse> unpadded(const Trial& trial, const Catalog& catalog) {
  for (const auto& use : used_plugins(trial.resolved, catalog))
    if (use.info->kind == Kind::kAttention && !use.info->capabilities.key_padding) return use;
  return std::nullopt;
}

bool has_class_token(const Trial& trial) {
  const auto model = trial.resolved.find("model");
  return model != trial.resolved.end() && model->value("pooling", "") == "cls";
}

}  // namespace

Location where_of(const Study& study, const Trial& trial, std::initializer_list<std::string> paths) {
  for (const auto& path : paths)
    if (const auto found = trial.where.find(path); found != trial.where.end()) return found->second;
  return {study.file.string(), 0, 0};
}

std::vector<Diagnostic> check_rates(const Study& study, const Catalog& catalog, const OfTask<std::int64_t>& length) {
  Diagnostics diagnostics(study.overrides);
  const auto check = [&](const Trial& trial, const PluginUse& use, const std::string& name, std::int64_t tokens) {
    const auto& value = use.section->at(name);
    for (const auto& text : value.is_array() ? value : nlohmann::json::array({value})) {
      const auto rate = parse_rate(text.get<std::string>());
      if (!rate || rate->numerator * tokens >= rate->denominator) continue;
      // A default has no place of its own: the plugin that has it stands for it.
      const auto path = use.path + "." + name;
      diagnostics.add(where_of(study, trial, {path, use.path + ".plugin"}),
                      fmt::format("{}: {} leaves less than one slot of a sequence of {} tokens; the smallest rate is 1/{}", path,
                                  text.get<std::string>(), tokens, tokens));
    }
  };
  for (const auto& trial : study.trials) {
    const auto tokens = length(trial.resolved.at("task"));
    for (const auto& use : used_plugins(trial.resolved, catalog))
      for (const auto& parameter : use.info->parameters)
        if (use.info->kind != Kind::kTask &&
            (parameter.type == ParameterType::kRate || parameter.type == ParameterType::kRates))
          check(trial, use, parameter.name, tokens);
  }
  return diagnostics.sorted();
}

std::vector<Diagnostic> check_lengths(const Study& study, const Catalog& catalog, const OfTask<std::int64_t>& length) {
  Diagnostics diagnostics(study.overrides);
  for (const auto& trial : study.trials) {
    const bool class_token = has_class_token(trial);
    const auto tokens = length(trial.resolved.at("task")) + (class_token ? 1 : 0);
    for (const auto& [path, info, section] : used_plugins(trial.resolved, catalog)) {
      if (info->kind == Kind::kTask || tokens % info->capabilities.length_multiple == 0) continue;
      diagnostics.add(where_of(study, trial, {path + ".plugin"}),
                      fmt::format("{} {} needs sequences of a multiple of {} tokens, and task {} has {}{}", to_text(info->kind),
                                  info->id, info->capabilities.length_multiple,
                                  trial.resolved["task"]["plugin"].get<std::string>(), tokens,
                                  class_token ? " with the class token (model.pooling = \"cls\")" : ""));
    }
  }
  return diagnostics.sorted();
}

bool refuses_padding(const Trial& trial, const Catalog& catalog) { return unpadded(trial, catalog).has_value(); }

std::vector<Diagnostic> check_padding(const Study& study, const Catalog& catalog, const OfTask<bool>& padded) {
  Diagnostics diagnostics(study.overrides);
  for (const auto& trial : study.trials) {
    const auto use = unpadded(trial, catalog);
    if (!use || !padded(trial.resolved.at("task"))) continue;
    diagnostics.add(
        where_of(study, trial, {use->path + ".plugin"}),
        fmt::format("attention {} does not promise key_padding, and task {} has sequences of several lengths, which "
                    "are padded; use an attention that promises it (ablate plugins ID)",
                    use->info->id, trial.resolved["task"]["plugin"].get<std::string>()));
  }
  return diagnostics.sorted();
}

std::vector<Diagnostic> check_devices(const Study& study,
                                      const std::function<std::string(const std::string& device)>& refusal) {
  Diagnostics diagnostics(study.overrides);
  std::map<std::string, std::string> refusals;
  for (const auto& trial : study.trials) {
    const std::string device = trial.resolved.at("train").at("device");
    if (device == "cpu") continue;
    const auto [known, is_new] = refusals.try_emplace(device);
    if (is_new) known->second = refusal(device);
    if (!known->second.empty()) diagnostics.add(where_of(study, trial, {"train.device"}), known->second);
  }
  return diagnostics.sorted();
}

}  // namespace ablate
