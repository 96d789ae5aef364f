// The sections of a point. A section is resolved once for all points that choose the same alternatives for this section.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <span>

#include "core/host/study/diagnostics.h"
#include "core/host/study/resolver.h"
#include "core/records/setting_paths.h"
#include "core/shared/optimizers.h"
#include "core/shared/precisions.h"
#include "core/shared/requirements.h"
#include "core/shared/schedules.h"
#include "core/shared/sections.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Checks settings against each other: the length of a list of attentions divides the number of layers, the warm-up fits the
/// steps and the schedule, graphs and number type fit the device. Also checks that the device's name is valid. Returns false,
/// and adds diagnostics, if a check fails. Skips paths in `wrong`, whose values are invalid.
bool cross_check(const Trial& trial, const std::set<std::string>& wrong, Diagnostics& diagnostics) {
  bool ok = true;
  /// @param paths paths of the compared values; the error is at the first of them that the study sets
  const auto report = [&](std::span<const char* const> paths, const std::string& why) {
    if (std::any_of(paths.begin(), paths.end(), [&](const auto* path) { return wrong.contains(path); })) return;
    diagnostics.add(trial.where.first_of(paths), why);
    ok = false;
  };
  const auto refuse = [&](bool refused, std::initializer_list<const char*> paths, const auto& why) {
    if (refused) report({paths.begin(), paths.size()}, why());
  };
  const auto& [task, model, attention, train, seed] = trial.spec;
  const auto count = static_cast<std::int64_t>(attention.all.size());
  refuse(attention.is_list && count > 0 && model.layers % count != 0, {setting::kFirstLayersPlugin, setting::kModelLayers},
         [&] {
           return fmt::format(
               "attention is a list of {} entries, and this number does not divide model.layers = {}; layers take its entries "
               "in turn",
               count, trial.spec.model.layers);
         });
  refuse(train.warmup > train.steps, {setting::kWarmup, setting::kSteps}, [&] {
    return fmt::format("train.warmup = {} is more than train.steps = {}; the warm-up is a part of the training",
                       trial.spec.train.warmup, trial.spec.train.steps);
  });
  const auto hear = [&](Refuse said) {
    if (said == nullptr) return;
    if (const auto misfit = said(trial.spec.train)) report(misfit->of, misfit->why);
  };
  if (!wrong.contains(setting::kSchedule)) hear(schedule_of(train.schedule).refuse);
  if (!wrong.contains(setting::kOptimizer)) hear(kOptimizers[index_of_choice(kOptimizers, train.optimizer)].refuse);
  // A tied output uses the embedding's weights, whose width is d_model.
  refuse(
      model.classifier == "mlp" && model.classifier_hidden > 0 && model.tied_output && model.classifier_hidden != model.d_model,
      {setting::kClassifierHidden, setting::kTiedOutput, setting::kModelWidth}, [&] {
        return fmt::format("model.classifier_hidden = {}: expected model.d_model = {}, because model.tied_output = true",
                           trial.spec.model.classifier_hidden, trial.spec.model.d_model);
      });
  refuse(train.graphs && train.device == "cpu", {setting::kGraphs, setting::kDevice}, [] {
    return "train.graphs = true needs a CUDA device, found train.device = cpu: set it to cuda, or leave train.graphs out";
  });
  if (!wrong.contains(setting::kDtype) && precision_info(train.dtype).mixed) {
    refuse(train.device != "cpu", {setting::kDtype, setting::kDevice}, [&] {
      return fmt::format(
          "train.dtype = \"mixed\" needs train.device = cpu, found {}: set the device to cpu, or the type to bfloat16",
          trial.spec.train.device);
    });
    refuse(!train.fused(), {setting::kDtype, setting::kKernels}, [] {
      return "train.dtype = \"mixed\" changes only fused forms, and train.kernels = \"reference\" runs no fused "
             "forms: leave one of the two out";
    });
  }
  refuse(!is_device(train.device), {setting::kDevice},
         [&] { return fmt::format("train.device = {}: expected cpu, cuda, cuda:N or auto", show(trial.spec.train.device)); });
  return ok;
}

/// Checks that a plugin promises what the settings require, such as the device. If not, adds diagnostics and returns false.
/// @param path of the plugin's section
bool check_promises(const Trial& trial, const PluginInfo& plugin, const std::string& path, Diagnostics& diagnostics) {
  if (plugin.promises_depend) return true;  // needs a worker: start_checks.h
  bool ok = true;
  const auto value_of = [&](const std::string& key) -> nlohmann::json {
    for (const auto& [section, values, parameters] : host_sections(trial.spec))
      if (key.starts_with(section + ".")) return values.at(key.substr(section.size() + 1));
    return nullptr;
  };
  for (const auto& [key, what] : unpromised(plugin.kind, plugin.id, plugin.capabilities, requirements_of(trial.spec, {}))) {
    if (key == setting::kTaskPlugin || key == setting::kCausal) continue;  // depends on the task: start_checks.h
    const auto plugin_path = path + ".plugin";
    diagnostics.add(trial.where.first_of(std::array{key.c_str(), plugin_path.c_str()}),
                    fmt::format("{} = {}, but {}", key, show(value_of(key)), what));
    ok = false;
  }
  return ok;
}

std::size_t index(TrialSection section) { return static_cast<std::size_t>(section); }

}  // namespace

Resolver::Resolver(const Draft& draft, const Schema& schema, Diagnostics& diagnostics)
    : draft_(draft), schema_(schema), diagnostics_(diagnostics) {
  for (std::size_t g = 0; g < draft.groups.size(); ++g) {
    std::set<std::string> said;
    for (const auto& alternative : draft.groups[g].alternatives) {
      for (const auto& set : alternative.set) said.insert(split_first(set.path).first);
      for (const auto& list : alternative.lists) said.insert(split_first(list).first);
    }
    for (const auto section : kAllSections)
      if (said.contains(to_text(section))) groups_[index(section)].push_back(g);
  }
}

std::optional<Trial> Resolver::resolve(const Point& point) {
  point_ = &point, wrong_.clear();
  std::array<Section, kTrialSections> faulty;
  std::array<const Section*, kTrialSections> sections{};
  for (const auto section : kAllSections) sections[index(section)] = &section_at(section, faulty[index(section)]);
  Trial trial;
  trial.spec = {.task = std::get<PluginSpec>(sections[index(TrialSection::kTask)]->said),
                .model = std::get<ModelSpec>(sections[index(TrialSection::kModel)]->said),
                .attention = std::get<PluginGroup>(sections[index(TrialSection::kAttention)]->said),
                .train = std::get<TrainSpec>(sections[index(TrialSection::kTrain)]->said),
                .seed = point.settings.at(setting::kSeed).assignment->value};
  for (const auto section : kAllSections) {
    const auto& made = *sections[index(section)];
    trial.where.put(section, made.where);
    trial.sections[section] = made.number;
    trial.files.insert(made.files.begin(), made.files.end());
  }
  const auto fits = [&] { return fit(trial, sections); };
  const bool is_sound = std::ranges::all_of(sections, &Section::ok);
  return (is_sound ? fits_.of(trial.sections, fits) : fits()) ? std::optional(std::move(trial)) : std::nullopt;
}

Trial Resolver::longer(const Trial& trial, std::int64_t factor) {
  auto longer = trial;
  longer.role = Role::kLonger;
  auto& train = longer.spec.train;
  train.steps *= factor, train.warmup *= factor, train.evaluate_every *= factor;
  const auto [known, fresh] = longer_.try_emplace(trial.sections[TrialSection::kTrain], 0);
  if (fresh) {
    Section made;
    for (const auto& one : host_sections(longer.spec))
      if (one.name == to_text(TrialSection::kTrain)) number(TrialSection::kTrain, one.values, made);
    known->second = made.number;
  }
  longer.sections[TrialSection::kTrain] = known->second;
  return longer;
}

bool Resolver::fit(const Trial& trial, const std::array<const Section*, kTrialSections>& sections) {
  bool ok = true;
  for (const auto* section : sections) {
    ok = ok && section->ok;
    for (const auto& [plugin, path] : section->promising) ok = check_promises(trial, *plugin, path, diagnostics_) && ok;
  }
  return cross_check(trial, wrong_, diagnostics_) && ok;
}

const Resolver::Section& Resolver::section_at(TrialSection section, Section& faulty) {
  Alternatives taken;
  taken.reserve(groups_[index(section)].size());
  for (const auto group : groups_[index(section)]) taken.push_back(point_->alternatives[group]);
  auto& known = made_[index(section)];
  if (const auto found = known.find(taken); found != known.end()) return found->second;
  json document;
  faulty = make(section, document);
  if (!faulty.ok) return faulty;
  number(section, document, faulty);
  return known.emplace(std::move(taken), std::move(faulty)).first->second;
}

Resolver::Section Resolver::make(TrialSection section, json& document) {
  ok_ = true, where_.clear(), files_.clear(), promising_.clear();
  Section made;
  switch (section) {
    case TrialSection::kModel:
      made.said = model_from_json(document = this->section("model", nullptr));
      break;
    case TrialSection::kTrain:
      made.said = train_from_json(document = this->section("train", nullptr));
      break;
    case TrialSection::kTask:
      document = plugin_section("task", Kind::kTask, nullptr);
      made.said = document.is_null() ? PluginSpec() : plugin_from_json(document);
      break;
    case TrialSection::kAttention:
      document = layers();
      made.said = document.is_null() ? PluginGroup() : plugins_from_json(document);
      break;
  }
  made.where = std::make_shared<const WrittenAt::OfSection>(std::move(where_));
  made.files = std::move(files_), made.promising = std::move(promising_), made.ok = ok_;
  return made;
}

/// A file counts by its content, not its path.
void Resolver::number(TrialSection section, const json& document, Section& made) {
  json content{{to_text(section), document}};
  for (const auto& [path, digest] : made.files) {
    auto pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    content[json::json_pointer(pointer)] = digest;
  }
  auto& numbers = contents_[index(section)];
  made.number = static_cast<int>(numbers.size());
  numbers.push_back(
      known_contents_.try_emplace(sha256(content.dump()), static_cast<int>(known_contents_.size())).first->second);
}

SectionNumbers Resolver::contents(const Trial& trial) const {
  SectionNumbers all;
  for (const auto section : kAllSections)
    all[section] = contents_[index(section)].at(static_cast<std::size_t>(trial.sections[section]));
  return all;
}

}  // namespace ablate
