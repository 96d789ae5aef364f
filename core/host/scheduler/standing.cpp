#include "core/host/scheduler/standing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/util/stop_on_signal.h"
#include "db/history/lineage.h"
#include "db/history/reader.h"

namespace ablate {
namespace {

constexpr std::uint16_t kUnseen = std::numeric_limits<std::uint16_t>::max();  ///< a value that no other has

std::string plugins_of(const nlohmann::json& settings) {
  std::string text;
  for (const auto& [path, value] : settings.items())
    if (path.ends_with(".plugin")) text += path + "=" + value.dump() + "\n";
  return text;
}

constexpr const char* kNothing = "not done: nothing like it has been run";
constexpr int kMostCompared = 2000;    ///< of an experiment's trials, the latest: nearer ones are hardly older
constexpr std::size_t kMostShown = 5;  ///< differences

std::string listed(std::vector<std::string> differences) {
  const auto more = differences.size() > kMostShown ? differences.size() - kMostShown : 0;
  differences.resize(differences.size() - more);
  return fmt::format("{}{}", fmt::join(differences, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

/// What stands of trials that are neither done nor failed. What is the same for many of them is asked and told once.
class Comparison {
 public:
  /// @param open those trials
  Comparison(const db::Reader& reader, std::string experiment, const std::vector<const PlannedTrial*>& open)
      : reader_(reader), experiment_(std::move(experiment)) {
    for (const auto* trial : open) hashes_.emplace(trial, db::hash_of_settings(trial->identity.settings_text()));
    std::vector<std::int64_t> hashes;
    for (const auto& [trial, hash] : hashes_) hashes.push_back(hash);
    alike_ = db::latest_done_with(reader, hashes);
  }

  std::string why_not_done(const PlannedTrial& trial) {
    if (const auto found = alike_.find(hashes_.at(&trial)); found != alike_.end())
      if (auto line = as_done(trial, found->second); !line.empty()) return line;
    if (!nearest_) nearest_.emplace(db::done_of(reader_, experiment_, kMostCompared));
    if (nearest_->empty()) return kNothing;
    const auto found = nearest_->of(trial.identity);
    return fmt::format("not done: the nearest, attempt {}, differs in {}", found.attempt, listed(found.differences));
  }

 private:
  /// By sections, basis and setting: trials that have these in common differ in their seeds alone, and so do done ones.
  using Kind = std::tuple<std::array<int, kTrialSections>, std::int64_t, std::int64_t>;

  /// "" where nothing of such settings can be read.
  std::string as_done(const PlannedTrial& trial, const db::DoneWith& done) {
    Kind kind{{}, done.basis, done.setting};
    bool is_shared = done.setting != 0;
    for (std::size_t i = 0; i < kTrialSections; ++i) {
      std::get<0>(kind)[i] = trial.trial->sections[kAllSections[i]];
      is_shared = is_shared && std::get<0>(kind)[i] >= 0;
    }
    const auto line = [](std::int64_t attempt, const std::string& words) {
      return fmt::format("not done: as attempt {}, but for {}", attempt, words);
    };
    if (const auto told = told_.find(kind); is_shared && told != told_.end()) return line(done.attempt, told->second);
    const auto same = db::done_with(reader_, trial.identity.whole().settings);
    if (same.empty()) return "";
    auto words = listed(differences(with_values(trial), same.front().parts));
    auto text = line(same.front().attempt, words);
    if (is_shared && same.front().attempt == done.attempt) told_.emplace(kind, std::move(words));
    return text;
  }

  const db::Reader& reader_;
  std::string experiment_;
  std::unordered_map<const PlannedTrial*, std::int64_t> hashes_;  ///< of their settings
  std::unordered_map<std::int64_t, db::DoneWith> alike_;          ///< by hash
  std::map<Kind, std::string> told_;                              ///< the differences
  std::optional<Nearest> nearest_;
};

Standings standings_of(std::vector<std::string> lines) {
  Standings made;
  made.done.resize(lines.size());
  made.nothing_like_them = std::all_of(lines.begin(), lines.end(), [](const auto& line) { return line == kNothing; });
  made.lines = std::move(lines);
  return made;
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

Standings standings(const std::vector<const PlannedTrial*>& trials, const std::string& experiment,
                    const std::filesystem::path& database, const std::function<void(std::size_t done)>& tick) {
  std::error_code none;
  if (!std::filesystem::exists(database, none)) return standings_of(std::vector<std::string>(trials.size(), kNothing));
  try {
    const db::Reader reader(database);
    std::vector<std::string> keys, lines;
    for (const auto* trial : trials) keys.push_back(trial->key);
    const auto done = db::done_attempts(reader, keys);
    const auto failures = db::last_failures(reader, keys);
    std::vector<const PlannedTrial*> open;
    for (const auto* trial : trials)
      if (!done.contains(trial->key) && !failures.contains(trial->key)) open.push_back(trial);
    Comparison comparison(reader, experiment, open);
    for (const auto* trial : trials) {
      stop_if_asked();
      if (tick) tick(lines.size());
      if (const auto found = done.find(trial->key); found != done.end()) {
        lines.push_back(fmt::format("done, attempt {}", found->second));
        continue;
      }
      const auto failure = failures.find(trial->key);
      lines.push_back(failure == failures.end() ? comparison.why_not_done(*trial) : "not done: " + failure->second);
    }
    auto found = standings_of(std::move(lines));
    for (std::size_t i = 0; i < trials.size(); ++i) found.done[i] = done.contains(trials[i]->key);
    found.left_out = reader.left_out();
    return found;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    return standings_of(std::vector<std::string>(trials.size(), std::string("not known: ") + error.what()));
  }
}

}  // namespace ablate
