#include "core/host/scheduler/standing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "db/history/lineage.h"
#include "db/history/reader.h"

namespace ablate {
namespace {

constexpr int kMostCompared = 2000;    ///< of an experiment's trials, the latest: nearer ones are hardly older
constexpr std::size_t kMostShown = 5;  ///< differences

Identity identity_of(const db::PastTrial& past) { return {past.parts.settings, past.parts.basis}; }

std::string listed(std::vector<std::string> differences) {
  const auto more = differences.size() > kMostShown ? differences.size() - kMostShown : 0;
  differences.resize(differences.size() - more);
  return fmt::format("{}{}", fmt::join(differences, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

class Comparison {
 public:
  Comparison(const db::Reader& reader, const std::string& experiment) : reader_(reader), experiment_(experiment) {}

  std::string why_not_done(const PlannedTrial& trial) {
    if (const auto same = db::done_with(reader_, trial.identity.settings); !same.empty())
      return fmt::format("as attempt {}, but for {}", same.front().attempt,
                         listed(differences(trial.identity, identity_of(same.front()))));
    if (!others_) others_ = db::done_of(reader_, experiment_, kMostCompared);
    const db::PastTrial* nearest = nullptr;
    std::vector<std::string> least;
    for (const auto& other : *others_)
      if (auto found = differences(trial.identity, identity_of(other)); nearest == nullptr || found.size() < least.size())
        nearest = &other, least = std::move(found);
    if (nearest == nullptr) return "nothing like it has been run";
    return fmt::format("the nearest, attempt {}, differs in {}", nearest->attempt, listed(least));
  }

 private:
  const db::Reader& reader_;
  std::string experiment_;
  std::optional<std::vector<db::PastTrial>> others_;
};

}  // namespace

std::vector<std::string> standings(const std::vector<const PlannedTrial*>& trials, const std::string& experiment,
                                   const std::filesystem::path& database) {
  std::error_code none;
  if (!std::filesystem::exists(database, none))
    return std::vector<std::string>(trials.size(), "not done: nothing like it has been run");
  try {
    const db::Reader reader(database);
    std::vector<std::string> keys, lines;
    for (const auto* trial : trials) keys.push_back(trial->key);
    const auto done = db::done_attempts(reader, keys);
    Comparison comparison(reader, experiment);
    for (const auto* trial : trials) {
      if (const auto found = done.find(trial->key); found != done.end()) {
        lines.push_back(fmt::format("done, attempt {}", found->second));
        continue;
      }
      const auto failure = db::last_failure(reader, trial->key);
      lines.push_back("not done: " + (failure.empty() ? comparison.why_not_done(*trial) : failure));
    }
    return lines;
  } catch (const Error& error) {
    return std::vector<std::string>(trials.size(), std::string("not known: ") + error.what());
  }
}

}  // namespace ablate
