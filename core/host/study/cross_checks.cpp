#include "core/host/study/cross_checks.h"

#include <fmt/format.h>

#include <initializer_list>

#include "core/shared/requirements.h"
#include "core/shared/schedules.h"
#include "core/shared/sections.h"

namespace ablate {
namespace {

/// Where the first of some paths is that the study sets.
Location where_of(const Trial& trial, std::initializer_list<const char*> paths) {
  for (const auto* path : paths)
    if (const auto found = trial.where.find(path); found != trial.where.end()) return found->second;
  return {};
}

/// The value of a path; nullptr where it is wrong or does not exist.
const nlohmann::json* value_of(const Trial& trial, const char* section, const char* key) {
  const auto object = trial.resolved.find(section);
  if (object == trial.resolved.end()) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &*found;
}

/// @param attention a section, and its path
bool check_heads(const Trial& trial, const nlohmann::json& attention, const std::string& section, Diagnostics& diagnostics) {
  bool ok = true;
  const auto* width = value_of(trial, "model", "attention_width");
  const bool apart = width != nullptr && *width > 0;
  const char* const channels = apart ? "attention_width" : "d_model";
  const auto* d_model = value_of(trial, "model", channels);
  for (const auto* name : {"heads", "subheads"}) {
    const auto heads = attention.is_object() ? attention.find(name) : attention.end();
    if (d_model == nullptr || heads == attention.end() || !heads->is_number_integer() || *heads <= 0) continue;
    if (d_model->get<std::int64_t>() % heads->get<std::int64_t>() == 0) continue;
    const auto path = section + "." + name, plugin = section + ".plugin";
    diagnostics.add(where_of(trial, {path.c_str(), apart ? "model.attention_width" : "model.d_model", plugin.c_str()}),
                    fmt::format("{} = {} does not divide model.{} = {}", path, heads->dump(), channels, d_model->dump()));
    ok = false;
  }
  return ok;
}

bool check_attention(const Trial& trial, Diagnostics& diagnostics) {
  const auto attention = trial.resolved.find("attention");
  if (attention == trial.resolved.end()) return true;
  if (!attention->is_array()) return check_heads(trial, *attention, "attention", diagnostics);
  bool ok = true;
  for (std::size_t i = 0; i < attention->size(); ++i)
    ok = check_heads(trial, (*attention)[i], fmt::format("attention.{}", i), diagnostics) && ok;
  const auto* layers = value_of(trial, "model", "layers");
  const auto count = static_cast<std::int64_t>(attention->size());
  if (layers == nullptr || count == 0 || layers->get<std::int64_t>() % count == 0) return ok;
  diagnostics.add(
      where_of(trial, {"attention.0.plugin", "model.layers"}),
      fmt::format("attention is a list of {}, which does not divide model.layers = {}; layers take its entries in turn", count,
                  layers->dump()));
  return false;
}

/// A value that would do nothing, or cycle the wrong way.
bool check_cycle(const Trial& trial, Diagnostics& diagnostics) {
  const auto *low = value_of(trial, "train", "beta1_low"), *high = value_of(trial, "train", "beta1"),
             *schedule = value_of(trial, "train", "schedule");
  if (low == nullptr || high == nullptr || schedule == nullptr || *low == 0) return true;
  const auto what = fmt::format("train.beta1_low = {}", low->dump());
  if (!schedule_of(schedule->get<std::string>()).cycles)
    diagnostics.add(where_of(trial, {"train.beta1_low", "train.schedule"}),
                    fmt::format("{} needs a schedule that cycles, one-cycle, and not {}", what, show(*schedule)));
  else if (*low > *high)
    diagnostics.add(where_of(trial, {"train.beta1_low", "train.beta1"}),
                    fmt::format("{} is more than train.beta1 = {}", what, high->dump()));
  else
    return true;
  return false;
}

/// A width without its layer, or where the embedding's weights have another.
bool check_classifier(const Trial& trial, Diagnostics& diagnostics) {
  const auto *hidden = value_of(trial, "model", "classifier_hidden"), *classifier = value_of(trial, "model", "classifier"),
             *tied = value_of(trial, "model", "tied_output"), *width = value_of(trial, "model", "d_model");
  if (hidden == nullptr || classifier == nullptr || tied == nullptr || width == nullptr || *hidden == 0) return true;
  const auto what = fmt::format("model.classifier_hidden = {}", hidden->dump());
  if (*classifier != "mlp")
    diagnostics.add(where_of(trial, {"model.classifier_hidden", "model.classifier"}),
                    fmt::format("{} needs model.classifier = mlp, and not {}", what, show(*classifier)));
  else if (*tied == true && *hidden != *width)
    diagnostics.add(where_of(trial, {"model.classifier_hidden", "model.tied_output"}),
                    fmt::format("{} is not model.d_model = {}, which the weights of a tied output have", what, width->dump()));
  else
    return true;
  return false;
}

}  // namespace

bool cross_check(const Trial& trial, Diagnostics& diagnostics) {
  bool ok = check_attention(trial, diagnostics);
  const auto *warmup = value_of(trial, "train", "warmup"), *steps = value_of(trial, "train", "steps");
  if (warmup != nullptr && steps != nullptr && *warmup > *steps) {
    diagnostics.add(where_of(trial, {"train.warmup", "train.steps"}),
                    fmt::format("train.warmup = {} is more than train.steps = {}; the warm-up is a part of the training",
                                warmup->dump(), steps->dump()));
    ok = false;
  }
  ok = check_cycle(trial, diagnostics) && ok;
  ok = check_classifier(trial, diagnostics) && ok;
  if (const auto* device = value_of(trial, "train", "device"); device != nullptr && !is_device(device->get<std::string>())) {
    diagnostics.add(where_of(trial, {"train.device"}),
                    fmt::format("train.device = {}: expected cpu, cuda or cuda:N", show(*device)));
    ok = false;
  }
  return ok;
}

bool check_promises(const Trial& trial, const PluginInfo& plugin, const std::string& path, Diagnostics& diagnostics) {
  if (plugin.promises_depend) return true;  // only a worker knows: start_checks.h
  const auto *positions = value_of(trial, "model", "positions"), *dropout = value_of(trial, "model", "attention_dropout"),
             *device = value_of(trial, "train", "device"), *dtype = value_of(trial, "train", "dtype");
  const auto refused = unpromised(plugin.kind, plugin.id, plugin.capabilities,
                                  {.rotary = positions != nullptr && *positions == "rotary",
                                   .weight_dropout = dropout != nullptr && *dropout > 0,
                                   .cuda = device != nullptr && device->get<std::string>().starts_with("cuda"),
                                   .half = dtype != nullptr && *dtype != "float32"});
  const auto plugin_path = path + ".plugin";
  for (const auto& [key, what] : refused) {
    if (key == "task.plugin") continue;
    const auto& value = key == "model.positions"           ? *positions
                        : key == "model.attention_dropout" ? *dropout
                        : key == "train.device"            ? *device
                                                           : *dtype;
    diagnostics.add(where_of(trial, {key.c_str(), plugin_path.c_str()}),
                    fmt::format("{} = {}, but {}", key, show(value), what));
  }
  return std::none_of(refused.begin(), refused.end(), [](const auto& one) { return one.key != "task.plugin"; });
}

}  // namespace ablate
