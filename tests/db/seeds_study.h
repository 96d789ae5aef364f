// A study with a value for each seed and attention, and tables of it.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "db/questions/tables/make_table.h"
#include "tests/db/fixture.h"

namespace ablate::db {

using Values = std::map<std::string, std::vector<double>>;  ///< values of seeds 1, 2, ... by attention; < 0: failed; 0: not run

class Study {
 public:
  explicit Study(const Values& values) : store_(file_) {
    std::vector<nlohmann::json> trials;
    std::vector<double> accuracies;
    for (const auto& [attention, all] : values)
      for (std::size_t i = 0; i < all.size(); ++i)
        trials.push_back(trial(attention, {}, static_cast<int>(i) + 1)), accuracies.push_back(all[i]);
    put(store_, "study", trials);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (accuracies[i] < 0)
        store_.put_attempt(failed(trials[i], "out of memory"));
      else if (accuracies[i] != 0)
        store_.put_attempt(done(trials[i], accuracies[i]));
    }
  }
  Table table(const std::vector<std::string>& against, const std::vector<std::string>& metrics = {"test/accuracy"}) const {
    return table_with(against.empty() ? AskedStatistics() : AskedStatistics{{"against", against}}, metrics);
  }
  Table table_with(const AskedStatistics& statistics, const std::vector<std::string>& metrics = {"test/accuracy"}) const {
    return make_table(Reader(file_),
                      {.experiments = {"study"}, .rows = {"attention"}, .metrics = metrics, .statistics = statistics});
  }

 private:
  Folder folder_;
  std::filesystem::path file_ = folder_ / "a.db";
  Store store_;
};

inline bool notes(const Table& table, const std::string& part) {
  return std::any_of(table.notes.begin(), table.notes.end(), [&](const auto& note) { return has(note, part); });
}

inline std::vector<double> plus(std::vector<double> values, double more) {
  for (auto& value : values) value += more;
  return values;
}

inline const std::vector<double> kEight = {60.1, 62.3, 59.8, 61.0, 60.4, 63.2, 58.9, 61.7};

}  // namespace ablate::db
