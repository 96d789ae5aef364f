#include "core/host/scheduler/nearest.h"

#include <algorithm>
#include <limits>

namespace ablate {
namespace {

constexpr std::uint16_t kUnseen = std::numeric_limits<std::uint16_t>::max();  ///< a value that no other has

std::string plugins_of(const nlohmann::json& settings) {
  std::string text;
  for (const auto& [path, value] : settings.items())
    if (path.ends_with(".plugin")) text += path + "=" + value.dump() + "\n";
  return text;
}

}  // namespace

Nearest::Nearest(std::vector<db::PastTrial> others) : others_(std::move(others)) {
  std::map<std::string, Column> columns;
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const auto& parts = others_[i].parts;
    for (const auto& [path, value] : parts.settings.items()) {
      auto& column = columns[path];
      column.values.resize(others_.size());
      column.values[i] = column.numbers.try_emplace(value.dump(), static_cast<Number>(column.numbers.size() + 1)).first->second;
    }
    basis_of_other_.push_back(basis_of(parts.basis.dump(), plugins_of(parts.settings), [&] { return parts; }));
  }
  for (auto& [path, column] : columns) {
    const auto& values = column.values;
    if (std::all_of(values.begin(), values.end(), [&](Number value) { return value == values.front(); })) continue;
    places_.emplace(path, columns_.size());
    columns_.push_back(std::move(column));
  }
}

Nearest::Found Nearest::of(const SharedIdentity& trial) {
  std::vector<Number> own(columns_.size());
  std::string plugins;
  for (const auto& part : trial.settings()) {
    const auto& marks = marks_of(*part);
    for (const auto& [place, number] : marks.numbers) own[place] = number;
    plugins += marks.plugins;
  }
  const auto basis = basis_of(trial.basis()->text, plugins, [&] { return trial.whole(); });
  auto counts = counts_of_bases(basis);
  for (std::size_t place = 0; place < own.size(); ++place) {
    const auto& values = columns_[place].values;
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<Number>(counts[i] + (values[i] != own[place]));
  }
  const auto at = static_cast<std::size_t>(std::min_element(counts.begin(), counts.end()) - counts.begin());
  Found found{others_[at].attempt, setting_differences(trial, others_[at].parts)};
  const auto& of_bases = differences_of_bases(basis, basis_of_other_[at]);
  found.differences.insert(found.differences.end(), of_bases.begin(), of_bases.end());
  return found;
}

const Nearest::Marks& Nearest::marks_of(const Part& part) {
  const auto [at, fresh] = marks_.try_emplace(&part);
  if (!fresh) return at->second;
  for (const auto& [path, value] : part.json.items()) {
    const auto place = places_.find(path);
    if (place == places_.end()) continue;
    const auto& numbers = columns_[place->second].numbers;
    const auto number = numbers.find(value.dump());
    at->second.numbers.emplace_back(place->second, number != numbers.end() ? number->second : kUnseen);
  }
  at->second.plugins = plugins_of(part.json);
  return at->second;
}

std::size_t Nearest::basis_of(const std::string& text, const std::string& plugins, const std::function<Identity()>& whole) {
  const auto [at, fresh] = basis_numbers_.try_emplace(text + plugins, bases_.size());
  if (fresh) bases_.push_back(whole());
  return at->second;
}

const std::vector<std::string>& Nearest::differences_of_bases(std::size_t own, std::size_t other) {
  const auto [at, fresh] = of_bases_.try_emplace({own, other});
  if (fresh) at->second = basis_differences(bases_[own], bases_[other]);
  return at->second;
}

const std::vector<Nearest::Number>& Nearest::counts_of_bases(std::size_t own) {
  const auto [at, fresh] = counts_.try_emplace(own);
  if (fresh)
    for (const auto other : basis_of_other_) at->second.push_back(static_cast<Number>(differences_of_bases(own, other).size()));
  return at->second;
}

}  // namespace ablate
