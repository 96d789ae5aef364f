// A point's sections, each resolved once for all points that choose the same for it.
#include <algorithm>

#include "core/host/study/cross_checks.h"
#include "core/host/study/path.h"
#include "core/host/study/resolver.h"
#include "core/records/setting_paths.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

using nlohmann::json;

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
  if (!fits_.of(trial.sections, [&] { return fit(trial, sections); })) return std::nullopt;
  return trial;
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

/// Of a file its content counts, not its place.
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
  const auto share = [&](SharedJson& own) { own = known_own_.try_emplace(own->dump(), own).first->second; };
  if (auto* model = std::get_if<ModelSpec>(&made.said)) share(model->own);
  if (auto* train = std::get_if<TrainSpec>(&made.said)) share(train->own);
}

std::array<int, kTrialSections> Resolver::contents(const Trial& trial) const {
  std::array<int, kTrialSections> all{};
  for (const auto section : kAllSections)
    all[index(section)] = contents_[index(section)].at(static_cast<std::size_t>(trial.sections[section]));
  return all;
}

}  // namespace ablate
