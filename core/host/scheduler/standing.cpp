#include "core/host/scheduler/standing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
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

/// Returns the text of each value that differences() compares, by setting or by part of the basis. The text of a plugin
/// includes its code, so that another plugin counts as one difference, not two.
std::map<std::string, std::string> compared(const Identity& trial) {
  std::map<std::string, std::string> texts;
  for (const auto& [path, value] : trial.settings.items()) texts[path] = value.dump();
  for (const auto* part : {"data", "runtime", "kernels", "torch"})
    if (const auto value = trial.basis.find(part); value != trial.basis.end()) texts[part] = value->dump();
  for (const auto& [path, code] : trial.basis.at("plugins").items()) texts[path + ".plugin"] += code.dump();
  return texts;
}

constexpr const char* kNothing = "not done: nothing like it has been run";
constexpr int kMostCompared = 2000;    ///< number of the latest done trials to compare with: older trials are rarely nearer
constexpr std::size_t kMostShown = 5;  ///< differences

std::string listed(std::vector<std::string> differences) {
  const auto more = differences.size() > kMostShown ? differences.size() - kMostShown : 0;
  differences.resize(differences.size() - more);
  return fmt::format("{}{}", fmt::join(differences, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

/// Compares trials that are neither done nor failed with done trials. Comparisons that many trials share are made once.
class Comparison {
 public:
  /// @param open the trials to compare
  Comparison(const db::Reader& reader, std::string experiment, const std::vector<const PlannedTrial*>& open)
      : reader_(reader), experiment_(std::move(experiment)) {
    for (const auto* trial : open) hashes_.emplace(trial, db::hash_of_settings(trial->identity.settings.dump()));
    std::vector<std::int64_t> hashes;
    for (const auto& [trial, hash] : hashes_) hashes.push_back(hash);
    alike_ = db::latest_done_with(reader, hashes);
  }

  std::string why_not_done(const PlannedTrial& trial) {
    if (const auto found = alike_.find(hashes_.at(&trial)); found != alike_.end())
      if (auto line = as_done(trial, found->second); !line.empty()) return line;
    if (!nearest_) nearest_.emplace(db::done_of(reader_, experiment_, kMostCompared));
    if (nearest_->empty()) return kNothing;
    const auto& found = nearest_->of(trial.identity);
    return fmt::format("not done: the nearest, attempt {}, differs in {}", found.attempt,
                       listed(differences(trial.identity, found.parts)));
  }

 private:
  /// Sections, basis and setting. Trials of one kind differ only in seeds. The done trials compared with them also do.
  using Kind = std::tuple<SectionNumbers, std::int64_t, std::int64_t>;

  /// Returns "" if no done trial with such settings can be read.
  std::string as_done(const PlannedTrial& trial, const db::DoneWith& done) {
    const Kind kind{trial.trial->sections, done.basis, done.setting};
    const bool is_shared = done.setting != 0;
    const auto line = [](std::int64_t attempt, const std::string& words) {
      return fmt::format("not done: like attempt {}, except for {}", attempt, words);
    };
    if (const auto known = differences_.find(kind); is_shared && known != differences_.end())
      return line(done.attempt, known->second);
    const auto same = db::done_with(reader_, trial.identity.settings);
    if (same.empty()) return "";
    auto words = listed(differences(with_values(trial), same.front().parts));
    auto text = line(same.front().attempt, words);
    if (is_shared && same.front().attempt == done.attempt) differences_.emplace(kind, std::move(words));
    return text;
  }

  const db::Reader& reader_;
  std::string experiment_;
  std::unordered_map<const PlannedTrial*, std::int64_t> hashes_;  ///< hash of the trial's settings
  std::unordered_map<std::int64_t, db::DoneWith> alike_;          ///< by hash
  std::map<Kind, std::string> differences_;                       ///< the differences, as text
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
  for (std::size_t i = 0; i < others_.size(); ++i)
    for (const auto& [name, text] : compared(others_[i].parts)) {
      auto& column = columns_[name];
      column.values.resize(others_.size());
      column.values[i] = column.numbers.try_emplace(text, static_cast<int>(column.numbers.size()) + 1).first->second;
    }
}

const db::PastTrial& Nearest::of(const Identity& trial) const {
  constexpr int kUnseen = -1;
  const auto own = compared(trial);
  std::vector<int> counts(others_.size());  // a value that only this trial has is not counted: it differs from all others
  for (const auto& [name, column] : columns_) {
    int number = 0;
    if (const auto text = own.find(name); text != own.end()) {
      const auto known = column.numbers.find(text->second);
      number = known == column.numbers.end() ? kUnseen : known->second;
    }
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += column.values[i] != number;
  }
  return others_[static_cast<std::size_t>(std::min_element(counts.begin(), counts.end()) - counts.begin())];
}

Standings standings(const std::vector<const PlannedTrial*>& trials, const std::string& experiment,
                    const std::filesystem::path& database) {
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
