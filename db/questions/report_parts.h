// What a report's data are put together from. Internal to db/.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/questions/report_data.h"
#include "db/questions/selection.h"

namespace ablate::db {

/// Distinct texts, and the place of each.
class PlacedTexts {
 public:
  std::size_t index_of(const std::string& text) {
    const auto [at, is_new] = places_.try_emplace(text, all_.size());
    if (is_new) all_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> all_;
};

/// A report's trials, experiment by experiment, each in the order of its latest grid.
struct ReportTrials {
  std::vector<SelectedTrial> all;
  std::vector<std::size_t> experiment;  ///< of each: its place among the report's experiments
};

/// As report_data describes "trials", with "outcomes", "reasons", "environments" and "attempts" beside it.
void put_trials(const Reader& reader, const ReportTrials& trials, nlohmann::ordered_json& report);
nlohmann::ordered_json report_parameters(const Reader& reader, const std::vector<SelectedTrial>& trials);
nlohmann::ordered_json report_metrics(const Reader& reader, const std::vector<SelectedTrial>& trials);
nlohmann::ordered_json report_curves(const Reader& reader, const std::vector<SelectedTrial>& trials);
nlohmann::ordered_json report_table(const Reader& reader, const ReportTable& asked, const ReportTrials& trials,
                                    const std::vector<std::string>& experiments);

/// Of so many trials, the most points of a curve: all that a training stores of a few, less of many, so that a page of 10,000
/// trials stays under 10 MB.
std::size_t most_points(std::size_t trials);

/// A number as JSON, NaN as "nan".
inline nlohmann::ordered_json number_or_nan(double value) {
  return value == value ? nlohmann::ordered_json(value) : nlohmann::ordered_json("nan");
}

}  // namespace ablate::db
