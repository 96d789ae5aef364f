#include "db/questions/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "core/records/outcome.h"
#include "db/history/row_visits.h"
#include "db/history/schema.h"
#include "db/questions/attention_names.h"

namespace ablate::db {
namespace {

using SQLite::Statement;

/// Visits the rows of the wanted ids (ascending; an id may stand several times, for a trial of several experiments). The query
/// takes ?1 = leading, ?2 and ?3 = first and last id, gives the id in column 0 and is ordered by it. An experiment's ids lie
/// mostly side by side: then one walk over the index is many times cheaper than a search for each.
/// @param columns of the query, by their names
template <class F>
void gather(SQLite::Database& database, const char* columns, const char* sql, std::int64_t leading,
            const std::vector<std::int64_t>& ids, F&& visit) {
  if (ids.empty()) return;
  RowVisits rows(database, columns, sql);
  const auto span = ids.back() - ids.front() + 1;
  if (span / 8 <= static_cast<std::int64_t>(ids.size())) {
    std::size_t at = 0;
    rows.visit({leading, ids.front(), ids.back()}, [&](const VisitedRow& row) {
      const auto id = row.integer(0);
      while (at < ids.size() && ids[at] < id) ++at;
      for (auto same = at; same < ids.size() && ids[same] == id; ++same) visit(same, row);
    });
    return;
  }
  for (std::size_t at = 0; at < ids.size(); ++at)
    rows.visit({leading, ids[at], ids[at]}, [&](const VisitedRow& row) { visit(at, row); });
}

/// Positions of a sequence, ordered by what get gives for each.
template <class Sequence, class Get>
std::vector<std::size_t> order_by(const Sequence& sequence, Get get) {
  std::vector<std::size_t> order(sequence.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!std::is_sorted(sequence.begin(), sequence.end(), [&](const auto& a, const auto& b) { return get(a) < get(b); }))
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return get(sequence[a]) < get(sequence[b]); });
  return order;
}

/// The attempts that are done, ascending, and the places of their trials.
struct DoneAttempts {
  std::vector<std::int64_t> ids;
  std::vector<std::size_t> place;
};

DoneAttempts done_attempts(const std::vector<SelectedTrial>& trials) {
  DoneAttempts done;
  for (const auto i : order_by(trials, [](const SelectedTrial& trial) { return trial.attempt; }))
    if (trials[i].outcome == outcome::kDone) done.ids.push_back(trials[i].attempt), done.place.push_back(i);
  return done;
}

/// A number of each attempt that is done; 0 for what is not. @param column of the attempt; NULL is 0
std::vector<std::int64_t> load_of_attempts(const Reader& reader, const char* column, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    const auto done = done_attempts(trials);
    std::vector<std::int64_t> numbers(trials.size(), 0);
    const auto sql = fmt::format("SELECT id, {} FROM attempt WHERE ?1 = 0 AND id BETWEEN ?2 AND ?3 ORDER BY id", column);
    gather(reader.database(), fmt::format("id, {}", column).c_str(), sql.c_str(), 0, done.ids,
           [&](std::size_t at, const VisitedRow& row) { numbers[done.place[at]] = row.integer(1); });
    return numbers;
  });
}

/// Where the history knows of one alone: then no attempt has to be asked.
std::optional<std::int64_t> only_environment(const Reader& reader) {
  return guarded(reader.file(), [&] {
    Statement ask(reader.database(), "SELECT id FROM environment LIMIT 2");
    const auto first = ask.executeStep() ? std::optional(ask.getColumn(0).getInt64()) : std::nullopt;
    return first && ask.executeStep() ? std::nullopt : first;
  });
}

struct Member {
  std::int64_t trial;
  std::int64_t configuration, position;
  bool listed;
};

std::vector<Member> members_of(const Reader& reader, std::optional<std::int64_t> experiment) {
  std::vector<Member> members;
  RowVisits rows(reader.database(), "id, configuration, listed, position",
                 experiment
                     ? "SELECT m.trial AS id, t.configuration, m.listed, m.position FROM experiment_trial m JOIN trial t ON "
                       "t.id = m.trial WHERE m.experiment = ?1"
                     : "SELECT t.id, t.configuration, coalesce((SELECT max(listed) FROM experiment_trial WHERE trial = "
                       "t.id), 0) AS listed, t.id AS position FROM trial t WHERE ?1 = 0");
  rows.visit({experiment.value_or(0)}, [&](const VisitedRow& row) {
    members.push_back({row.integer(0), row.integer(1), row.integer(3), row.integer(2) != 0});
  });
  const auto before = [](const Member& a, const Member& b) {
    return std::pair(a.position, a.trial) < std::pair(b.position, b.trial);
  };
  if (!std::is_sorted(members.begin(), members.end(), before)) std::sort(members.begin(), members.end(), before);
  return members;
}

}  // namespace

std::string no_trials_text(const Reader& reader, const std::string& experiment) {
  return fmt::format("{} has no trials{} yet: `ablate run FILE` makes some", reader.file().string(),
                     experiment.empty() ? "" : " of " + experiment);
}

Selection select_trials(const Reader& reader, std::optional<std::int64_t> experiment) {
  return guarded(reader.file(), [&] {
    const auto members = members_of(reader, experiment);
    const auto order = order_by(members, [](const Member& member) { return member.trial; });
    std::vector<std::int64_t> ids;
    for (const auto i : order) ids.push_back(members[i].trial);

    std::vector<SelectedTrial> found(members.size());
    for (std::size_t i = 0; i < members.size(); ++i)
      found[i] = {members[i].trial, 0, std::string(outcome::kMissing), experiment.value_or(0)};
    std::vector<std::int64_t> turns(members.size(), -1);  // of their attempts
    gather(
        reader.database(), "trial, id, outcome, turn",
        "SELECT trial, id, outcome, turn FROM attempt WHERE ?1 = 0 AND trial BETWEEN ?2 AND ?3 ORDER BY trial, outcome, turn, "
        "uid",
        0, ids, [&](std::size_t at, const VisitedRow& row) {
          auto& trial = found[order[at]];
          auto& latest = turns[order[at]];
          auto outcome = row.text(2);
          const auto turn = row.integer(3);
          const bool was_done = trial.outcome == outcome::kDone, is_done = outcome == outcome::kDone;
          if (was_done == is_done ? turn >= latest : is_done) {
            trial.attempt = row.integer(1);
            trial.outcome = std::move(outcome);
            latest = turn;
          }
        });

    // Of trials with the same settings the one in a latest grid counts, of several the one that ran last.
    const auto rank = [&](std::size_t i) { return std::tuple(members[i].listed, turns[i], members[i].trial); };
    std::vector<std::pair<std::int64_t, std::size_t>> alike;  // sorted, since a hash table of a million is all over the memory
    alike.reserve(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) alike.emplace_back(members[i].configuration, i);
    std::sort(alike.begin(), alike.end());
    std::vector<bool> counts(members.size(), false);
    for (std::size_t i = 0, best = 0; i < alike.size(); ++i) {
      if (i == 0 || alike[i].first != alike[i - 1].first || rank(alike[i].second) > rank(best)) best = alike[i].second;
      if (i + 1 == alike.size() || alike[i + 1].first != alike[i].first) counts[best] = true;
    }
    Selection selection;
    selection.trials.reserve(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!members[i].listed && found[i].attempt == 0) continue;
      if (!counts[i])
        ++selection.superseded;
      else if (experiment && !members[i].listed)
        ++selection.earlier;
      else
        selection.trials.push_back(std::move(found[i]));
    }
    return selection;
  });
}

std::map<std::int64_t, std::string> load_keys(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    constexpr const char* kKeys =
        "SELECT id, substr(key, 1, 12) AS key FROM trial WHERE ?1 = 0 AND id BETWEEN ?2 AND ?3 ORDER BY id";
    std::map<std::int64_t, std::string> keys;
    std::vector<std::int64_t> ids;
    for (const auto i : order_by(trials, [](const SelectedTrial& trial) { return trial.id; })) ids.push_back(trials[i].id);
    gather(reader.database(), "id, key", kKeys, 0, ids,
           [&](std::size_t at, const VisitedRow& row) { keys.insert_or_assign(ids[at], row.text(1)); });
    return keys;
  });
}

nlohmann::ordered_json stored_value(const std::string& type, const std::string& text, std::int64_t integer, double real) {
  if (type == "integer") return integer;
  if (type == "boolean") return integer != 0;
  if (type != "real") return text;
  return text == "null" ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(real);
}

Axis load_axis(const Reader& reader, const std::string& path, std::int64_t path_id, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    Axis axis;
    axis.path = path;
    const auto order = order_by(trials, [](const SelectedTrial& trial) { return trial.id; });
    std::vector<std::int64_t> ids, value_of(trials.size(), 0);
    for (const auto i : order) ids.push_back(trials[i].id);
    gather(reader.database(), "trial, value",
           "SELECT trial, value FROM parameter WHERE path = ?1 AND trial BETWEEN ?2 AND ?3 ORDER BY trial", path_id, ids,
           [&](std::size_t at, const VisitedRow& row) { value_of[order[at]] = row.integer(1); });

    std::unordered_map<std::int64_t, int> index;
    std::pair<std::int64_t, int> last(0, -1);  // trials that stand together are alike most often
    axis.of_trial.reserve(trials.size());
    Statement value(reader.database(), "SELECT text, number, type FROM value WHERE id = ?");
    for (const auto id : value_of) {
      if (id == last.first) {
        axis.of_trial.push_back(last.second);
        continue;
      }
      if (id == 0) {
        axis.of_trial.push_back(-1);
        continue;
      }
      const auto [at, fresh] = index.try_emplace(id, static_cast<int>(axis.values.size()));
      if (fresh) {
        value.reset();
        value.bind(1, id);
        value.executeStep();
        const auto number = value.getColumn(1);
        axis.values.push_back({value.getColumn(0).getString(), !number.isNull(), number.isNull() ? 0 : number.getDouble(),
                               stored_value(value.getColumn(2).getString(), value.getColumn(0).getString(), number.getInt64(),
                                            number.getDouble())});
      }
      axis.of_trial.push_back(at->second);
      last = *at;
    }
    return axis;
  });
}

std::vector<Axis> varying_axes(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    std::vector<Axis> axes;
    const auto add = [&](Axis axis) {
      if (axis.values.size() > 1) axes.push_back(std::move(axis));
    };
    add(load_attention(reader, trials));
    const AttentionNames names(reader.paths());
    // What has one value in the whole history need not be looked at.
    Statement candidates(
        reader.database(),
        "SELECT name, id FROM path WHERE (SELECT count(*) FROM (SELECT 1 FROM value WHERE path = path.id LIMIT "
        "2)) = 2 ORDER BY name");
    while (candidates.executeStep())
      if (const auto path = candidates.getColumn(0).getString(); path != kAttention && !names.entries().contains(path))
        add(load_axis(reader, path, candidates.getColumn(1).getInt64(), trials));
    std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.path < b.path; });
    return axes;
  });
}

void visit_plugins(const Reader& reader, const std::vector<SelectedTrial>& trials, const VisitPlugin& visit) {
  guarded(reader.file(), [&] {
    std::vector<std::int64_t> attempts;
    std::vector<std::size_t> place;
    for (const auto i : order_by(trials, [](const SelectedTrial& trial) { return trial.attempt; }))
      if (trials[i].attempt != 0) attempts.push_back(trials[i].attempt), place.push_back(i);
    gather(
        reader.database(), "attempt, plugin, verdict, failed_checks",
        "SELECT attempt, plugin, verdict, failed_checks FROM attempt_plugin WHERE ?1 = 0 AND attempt BETWEEN ?2 AND ?3 ORDER "
        "BY attempt",
        0, attempts,
        [&](std::size_t at, const VisitedRow& row) { visit(place[at], row.integer(1), row.view(2), row.view(3)); });
  });
}

std::vector<std::int64_t> load_environment_ids(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  if (const auto only = only_environment(reader)) {
    std::vector<std::int64_t> ids(trials.size(), 0);
    for (std::size_t t = 0; t < trials.size(); ++t)
      if (trials[t].outcome == "done") ids[t] = *only;
    return ids;
  }
  return load_of_attempts(reader, "environment", trials);
}

std::vector<std::int64_t> load_main_metric_ids(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return load_of_attempts(reader, "main_metric", trials);
}

std::vector<std::optional<double>> load_results(const Reader& reader, std::int64_t metric_id,
                                                const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    const auto done = done_attempts(trials);
    std::vector<std::optional<double>> values(trials.size());
    gather(reader.database(), "attempt, value",
           "SELECT attempt, value FROM result WHERE metric = ?1 AND attempt BETWEEN ?2 AND ?3 ORDER BY attempt", metric_id,
           done.ids, [&](std::size_t at, const VisitedRow& row) {
             values[done.place[at]] = row.is_null(1) ? std::numeric_limits<double>::quiet_NaN() : row.number(1);
           });
    return values;
  });
}

}  // namespace ablate::db
