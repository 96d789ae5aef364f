#include "core/host/study/cross_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace ablate {
namespace {

/// Where the first of some paths is that the study sets.
Location where_of(const Trial& trial, std::initializer_list<const char*> paths) {
  for (const auto* path : paths)
    if (const auto found = trial.where.find(path); found != trial.where.end()) return found->second;
  return {};
}

bool is_device(const std::string& text) {
  if (text == "cpu" || text == "cuda") return true;
  const std::string prefix = "cuda:";
  const auto number = text.starts_with(prefix) ? text.substr(prefix.size()) : "";
  return !number.empty() && number.size() <= 3 &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The value of a path; nullptr where it is wrong or does not exist.
const nlohmann::json* value_of(const Trial& trial, const char* section, const char* key) {
  const auto object = trial.resolved.find(section);
  if (object == trial.resolved.end()) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &*found;
}

bool check_heads(const Trial& trial, Diagnostics& diagnostics) {
  bool ok = true;
  const auto* d_model = value_of(trial, "model", "d_model");
  for (const auto* name : {"heads", "subheads"}) {
    const auto* heads = value_of(trial, "attention", name);
    if (d_model == nullptr || heads == nullptr || !heads->is_number_integer() || *heads <= 0) continue;
    if (d_model->get<std::int64_t>() % heads->get<std::int64_t>() == 0) continue;
    const auto path = std::string("attention.") + name;
    diagnostics.add(where_of(trial, {path.c_str(), "model.d_model", "attention.plugin"}),
                    fmt::format("{} = {} does not divide model.d_model = {}", path, heads->dump(), d_model->dump()));
    ok = false;
  }
  return ok;
}

}  // namespace

bool cross_check(const Trial& trial, Diagnostics& diagnostics) {
  bool ok = check_heads(trial, diagnostics);
  const auto *warmup = value_of(trial, "train", "warmup"), *steps = value_of(trial, "train", "steps");
  if (warmup != nullptr && steps != nullptr && *warmup > *steps) {
    diagnostics.add(where_of(trial, {"train.warmup", "train.steps"}),
                    fmt::format("train.warmup = {} is more than train.steps = {}; the warm-up is a part of the training",
                                warmup->dump(), steps->dump()));
    ok = false;
  }
  if (const auto* device = value_of(trial, "train", "device"); device != nullptr && !is_device(device->get<std::string>())) {
    diagnostics.add(where_of(trial, {"train.device"}),
                    fmt::format("train.device = {}: expected cpu, cuda or cuda:N", show(*device)));
    ok = false;
  }
  return ok;
}

bool check_promises(const Trial& trial, const PluginInfo& plugin, Diagnostics& diagnostics) {
  const auto plugin_path = std::string(to_text(plugin.kind)) + ".plugin";
  const auto refuse = [&](const char* path, const nlohmann::json& value, const char* what) {
    diagnostics.add(
        where_of(trial, {path, plugin_path.c_str()}),
        fmt::format("{} = {}, but {} {} does not promise to run {}", path, show(value), to_text(plugin.kind), plugin.id, what));
    return false;
  };
  const auto *device = value_of(trial, "train", "device"), *dtype = value_of(trial, "train", "dtype");
  if (device != nullptr && device->get<std::string>().starts_with("cuda") && !plugin.capabilities.cuda)
    return refuse("train.device", *device, "on CUDA devices");
  if (dtype != nullptr && *dtype != "float32" && !plugin.capabilities.half_precision)
    return refuse("train.dtype", *dtype, "in half precision");
  return true;
}

}  // namespace ablate
