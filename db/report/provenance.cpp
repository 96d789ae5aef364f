#include "db/report/provenance.h"

#include <algorithm>

#include "core/util/plain_json.h"
#include "core/util/sha256.h"

namespace ablate::db {
namespace {

constexpr std::size_t kMostKeys = 20;  ///< of a cell that are listed

}  // namespace

std::string request_text(const Table& table) { return table.request.empty() ? "" : plain_json(nlohmann::json(table.request)); }

std::string trials_text(const Table& table, const Field& field) {
  if (table.request.empty() || !field.cell) return "";
  std::vector<std::string> keys;
  for (const auto id : table.cells[*field.cell].trial_ids)
    if (const auto key = table.keys.find(id); key != table.keys.end()) keys.push_back(key->second);
  std::sort(keys.begin(), keys.end());  // whatever order they ran in
  std::string text;
  for (const auto& key : keys) text += (text.empty() ? "" : " ") + key;
  return keys.size() <= kMostKeys ? text : "all " + std::to_string(keys.size()) + " " + sha256(text).substr(0, 12);
}

std::string row_trials(const Table& table, const std::vector<Field>& row) {
  std::string text;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0 && row[i].cell && row[i].cell == row[i - 1].cell) continue;
    if (const auto trials = trials_text(table, row[i]); !trials.empty())
      text += (text.empty() ? "" : "; ") + std::to_string(i + 1) + " " + trials;
  }
  return text.empty() ? "-" : text;
}

}  // namespace ablate::db
