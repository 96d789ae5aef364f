#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/records/setting_paths.h"
#include "db/history/schema.h"
#include "db/questions/selection/attention_names.h"
#include "db/questions/selection/gather.h"
#include "db/questions/selection/selection.h"

namespace ablate::db {
namespace {

using SQLite::Statement;

/// Distinct values of an axis by their ids, numbered in the order of the first request.
class KnownValues {
 public:
  KnownValues(const Reader& reader, std::vector<Axis::Value>& values)
      : values_(values), ask_(reader.database(), "SELECT text, number, type FROM value WHERE id = ?") {}

  /// @return the value's index; -1 for the id 0
  int index_of(std::int64_t id) {
    if (id == 0) return -1;
    const auto [at, fresh] = places_.try_emplace(id, static_cast<int>(values_.size()));
    if (fresh) {
      renew(ask_, id).executeStep();
      const auto number = ask_.getColumn(1);
      const auto text = ask_.getColumn(0).getString();
      values_.push_back({text, !number.isNull(), number.isNull() ? 0 : number.getDouble(),
                         stored_value(ask_.getColumn(2).getString(), text, number.getInt64(), number.getDouble())});
    }
    return at->second;
  }

 private:
  std::vector<Axis::Value>& values_;
  Statement ask_;
  std::unordered_map<std::int64_t, int> places_;
};

}  // namespace

nlohmann::ordered_json stored_value(const std::string& type, const std::string& text, std::int64_t integer, double real) {
  if (type == "integer") return integer;
  if (type == "boolean") return integer != 0;
  if (type != "real") return text;
  return text == "null" ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(real);
}

Axis load_axis(const Reader& reader, const std::string& path, std::int64_t path_id, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    const bool is_seed = path == setting::kSeed;  // the seed is stored with the trial, not in its settings
    std::vector<std::int64_t> ids, value_of(trials.size(), 0);
    for (const auto& trial : trials) ids.push_back(is_seed ? trial.seed : trial.setting);
    if (is_seed)
      value_of = ids;
    else
      gather(reader, fmt::format("SELECT setting, value FROM parameter WHERE path = {} AND setting BETWEEN ?1 AND ?2", path_id),
             ids, [&](std::size_t at, Statement& row) { value_of[at] = row.getColumn(1).getInt64(); });
    Axis axis{path, {}, {}};
    KnownValues known(reader, axis.values);
    for (const auto value : value_of) axis.of_trial.push_back(known.index_of(value));
    return axis;
  });
}

Axis load_axis(const Reader& reader, const std::string& path, const std::vector<SelectedTrial>& trials) {
  const auto paths = reader.paths();
  const auto known = paths.find(path);
  return known == paths.end() ? Axis{path, {}, std::vector<int>(trials.size(), -1)}
                              : load_axis(reader, path, known->second, trials);
}

std::vector<bool> trials_where(const Reader& reader, const std::string& path, const std::vector<SelectedTrial>& trials,
                               const std::function<bool(const Axis::Value&)>& is) {
  const auto axis = load_axis(reader, path, trials);
  std::vector<bool> all;
  for (std::size_t t = 0; t < trials.size(); ++t) all.push_back(axis.of(t) != nullptr && is(*axis.of(t)));
  return all;
}

std::vector<Axis> varying_axes(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    std::vector<Axis> axes;
    const auto add = [&](Axis axis) {
      if (axis.values.size() > 1) axes.push_back(std::move(axis));
    };
    add(load_attention(reader, trials));
    const AttentionNames names(reader.paths());
    // Skips parameters with one value in the whole history.
    Statement candidates(
        reader.database(),
        "SELECT name, id FROM path WHERE (SELECT count(*) FROM (SELECT 1 FROM value WHERE path = path.id LIMIT "
        "2)) = 2 ORDER BY name");
    while (candidates.executeStep())
      if (const auto path = candidates.getColumn(0).getString(); path != setting::kAttention && !names.entries().contains(path))
        add(load_axis(reader, path, candidates.getColumn(1).getInt64(), trials));
    std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.path < b.path; });
    return axes;
  });
}

}  // namespace ablate::db
