#include "db/report/grid_levels.h"

#include <map>
#include <set>

#include "core/records/setting_paths.h"

namespace ablate::db {

GridLevels::GridLevels(const Table& settings)
    : of(settings.row_paths.size()), place(settings.row_paths.size()), paths_(settings.row_paths) {
  for (std::size_t p = 0; p < of.size(); ++p) {
    std::map<std::string, int> known{{kAbsent, -1}};
    for (std::size_t r = 0; r < settings.rows.size(); ++r) {
      const auto& text = settings.rows[r][p];
      const auto [at, fresh] = known.try_emplace(text, static_cast<int>(of[p].size()));
      if (fresh) of[p].push_back({text, settings.row_values[r][p]});
      place[p].push_back(at->second);
    }
  }
  for (std::size_t p = 0; p < of.size(); ++p) {
    std::set<std::vector<int>> without;
    for (std::size_t r = 0; r < settings.rows.size(); ++r) {
      std::vector<int> setting;
      for (std::size_t q = 0; q < of.size(); ++q)
        if (q != p) setting.push_back(place[q][r]);
      without.insert(std::move(setting));
    }
    chosen_.push_back(is_below(paths_[p], section::kTrain) && paths_[p] != setting::kSteps &&
                      without.size() == settings.rows.size());
  }
}

std::vector<std::size_t> GridLevels::others(std::size_t parameter) const {
  std::vector<std::size_t> all;
  for (std::size_t q = 0; q < of.size(); ++q)
    if (q != parameter && !belongs(paths_[q], paths_[parameter])) all.push_back(q);
  return all;
}

std::vector<std::size_t> GridLevels::matched_by(std::size_t parameter) const {
  auto all = others(parameter);
  std::erase_if(all, [&](auto q) { return is_chosen(q); });
  return all;
}

}  // namespace ablate::db
