#include "core/host/scheduler/standing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/util/stop_on_signal.h"
#include "db/history/lineage.h"
#include "db/history/reader.h"

namespace ablate {
namespace {

constexpr const char* kNothing = "not done: nothing like it has been run";
constexpr int kMostCompared = 2000;    ///< of an experiment's trials, the latest: nearer ones are hardly older
constexpr std::size_t kMostShown = 5;  ///< differences

/// Identities as numbers, so that thousands are compared with thousands: differences() writes texts.
class Marks {
 public:
  struct Marked {
    std::vector<int> values;                     ///< by the setting's place; 0: it is not set
    std::map<int, std::pair<int, int>> plugins;  ///< by the path's place: the plugin, its code
  };

  Marked mark(const Identity& identity) {
    Marked marked;
    const auto set = [&](const std::string& name, const nlohmann::json& value) {
      const auto place = static_cast<std::size_t>(number(places_, name));
      if (marked.values.size() <= place) marked.values.resize(place + 1);
      marked.values[place] = number(texts_, value.dump());
    };
    for (const auto& [name, value] : identity.settings.items()) set(name, value);
    for (const auto* name : {"data", "runtime", "kernels", "torch"})
      if (const auto one = identity.basis.find(name); one != identity.basis.end()) set(std::string("basis.") + name, *one);
    for (const auto& [path, code] : identity.basis.at("plugins").items())
      marked.plugins[number(places_, path)] = {number(texts_, identity.settings.value(path + ".plugin", "")),
                                               number(texts_, code.dump())};
    return marked;
  }

  /// As many as differences() tells.
  static std::size_t distance(const Marked& one, const Marked& other) {
    const auto &fewer = one.values.size() < other.values.size() ? one.values : other.values,
               &more = &fewer == &one.values ? other.values : one.values;
    auto count = static_cast<std::size_t>(std::count_if(more.begin() + static_cast<std::ptrdiff_t>(fewer.size()), more.end(),
                                                        [](int value) { return value != 0; }));
    for (std::size_t i = 0; i < fewer.size(); ++i) count += fewer[i] != more[i];
    for (const auto& [path, plugin] : one.plugins)
      if (const auto found = other.plugins.find(path); found != other.plugins.end())
        count += plugin.first == found->second.first && plugin.second != found->second.second;
    return count;
  }

 private:
  static int number(std::unordered_map<std::string, int>& numbers, const std::string& text) {
    return numbers.try_emplace(text, static_cast<int>(numbers.size()) + 1).first->second;
  }

  std::unordered_map<std::string, int> places_, texts_;
};

std::string listed(std::vector<std::string> differences) {
  const auto more = differences.size() > kMostShown ? differences.size() - kMostShown : 0;
  differences.resize(differences.size() - more);
  return fmt::format("{}{}", fmt::join(differences, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

class Comparison {
 public:
  Comparison(const db::Reader& reader, const std::string& experiment) : reader_(reader), experiment_(experiment) {}

  std::string why_not_done(const PlannedTrial& trial) {
    if (const auto same = db::done_with(reader_, trial.identity.whole().settings); !same.empty())
      return fmt::format("not done: as attempt {}, but for {}", same.front().attempt,
                         listed(differences(with_values(trial), same.front().parts)));
    if (!others_) {
      others_ = db::done_of(reader_, experiment_, kMostCompared);
      for (const auto& other : *others_) marked_.push_back(marks_.mark(other.parts));
    }
    if (others_->empty()) return kNothing;
    const auto identity = trial.identity.whole();
    const auto own = marks_.mark(identity);
    std::size_t nearest = 0, least = SIZE_MAX;
    for (std::size_t i = 0; i < marked_.size(); ++i)
      if (const auto found = Marks::distance(own, marked_[i]); found < least) nearest = i, least = found;
    const auto& other = (*others_)[nearest];
    return fmt::format("not done: the nearest, attempt {}, differs in {}", other.attempt,
                       listed(differences(identity, other.parts)));
  }

 private:
  const db::Reader& reader_;
  std::string experiment_;
  std::optional<std::vector<db::PastTrial>> others_;
  std::vector<Marks::Marked> marked_;  ///< of each of the others
  Marks marks_;
};

Standings standings_of(std::vector<std::string> lines) {
  Standings made;
  made.done.resize(lines.size());
  made.nothing_like_them = std::all_of(lines.begin(), lines.end(), [](const auto& line) { return line == kNothing; });
  made.lines = std::move(lines);
  return made;
}

}  // namespace

Standings standings(const std::vector<const PlannedTrial*>& trials, const std::string& experiment,
                    const std::filesystem::path& database, const std::function<void(std::size_t done)>& tick) {
  std::error_code none;
  if (!std::filesystem::exists(database, none)) return standings_of(std::vector<std::string>(trials.size(), kNothing));
  try {
    const db::Reader reader(database);
    std::vector<std::string> keys, lines;
    for (const auto* trial : trials) keys.push_back(trial->key);
    const auto done = db::done_attempts(reader, keys);
    Comparison comparison(reader, experiment);
    for (const auto* trial : trials) {
      stop_if_asked();
      if (tick) tick(lines.size());
      if (const auto found = done.find(trial->key); found != done.end()) {
        lines.push_back(fmt::format("done, attempt {}", found->second));
        continue;
      }
      const auto failure = db::last_failure(reader, trial->key);
      lines.push_back(failure.empty() ? comparison.why_not_done(*trial) : "not done: " + failure);
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
