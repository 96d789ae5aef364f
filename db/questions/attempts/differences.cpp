#include "db/questions/attempts/differences.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "core/records/outcome.h"
#include "core/util/error.h"
#include "core/util/flatten.h"
#include "core/util/nearest.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/questions/attempts/show_attempt.h"
#include "db/questions/selection/selection.h"
#include "db/report/format.h"
#include "db/report/summary.h"
#include "db/types/metric_name.h"

namespace ablate::db {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

using SQLite::Statement;

/// Distinct texts of an experiment's trials by subject, such as a parameter's path or "code of attention softmax".
using Sets = std::map<std::string, std::vector<std::string>>;

void add_text(std::vector<std::string>& known, const std::string& text) {
  if (std::find(known.begin(), known.end(), text) == known.end()) known.push_back(text);
}

std::string set_text(const json& value) { return value.is_number_float() ? exact(value.get<double>()) : plain_field(value); }

/// @param shared_only true: ignores subjects that only one side has
void add_differing_sets(const Sets& a, const Sets& b, bool shared_only, bool digests, std::vector<Differing>& rows) {
  auto all = a;
  all.insert(b.begin(), b.end());
  for (const auto& [name, unused] : all) {
    const auto in_a = a.find(name), in_b = b.find(name);
    const bool both = in_a != a.end() && in_b != b.end();
    if (shared_only && !both) continue;
    if (both && std::set(in_a->second.begin(), in_a->second.end()) == std::set(in_b->second.begin(), in_b->second.end()))
      continue;
    const auto set = [&](const auto& at, const Sets& sets) {
      return at == sets.end() ? json(nullptr) : json(fmt::format("{}", fmt::join(at->second, ", ")));
    };
    rows.push_back({name, set(in_a, a), set(in_b, b), digests});
  }
}

/// Trials of an experiment's latest grid.
class Side {
 public:
  Side(const Reader& reader, const std::string& name)
      : trials(select_trials(reader, reader.experiment(name)).trials), reader_(reader) {
    Statement ask(reader.database(), "SELECT configuration FROM trial WHERE id = ?");
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (renew(ask, trials[i].id).executeStep()) places.emplace(ask.getColumn(0).getInt64(), i);
    }
  }

  /// Returns the values in the order of the grid; "-" for trials without the parameter.
  Sets parameters() const {
    Sets sets;
    for (const auto& [path, id] : reader_.paths()) {
      const auto axis = load_axis(reader_, path, id, trials);
      if (axis.values.empty()) continue;
      for (const auto& value : axis.values) add_text(sets[path], set_text(value.json));
      if (std::find(axis.of_trial.begin(), axis.of_trial.end(), -1) != axis.of_trial.end()) add_text(sets[path], kAbsent);
    }
    return sets;
  }

  Sets codes() const {
    std::set<std::int64_t> used;
    for (const auto& [set, uses] : load_plugin_sets(reader_, trials))
      for (const auto& use : uses) used.insert(use.plugin);
    Sets sets;
    Statement ask(reader_.database(), "SELECT kind, name, code_identity FROM plugin WHERE id = ?");
    for (const auto plugin : used) {
      if (renew(ask, plugin).executeStep())
        add_text(sets[fmt::format("code of {} {}", ask.getColumn(0).getString(), ask.getColumn(1).getString())],
                 ask.getColumn(2).getString());
    }
    return sets;
  }

  /// Returns the digests of the trials' data.
  Sets data() const {
    std::set<std::int64_t> bases;
    Statement ask(reader_.database(), "SELECT basis FROM key_part WHERE trial = ?");
    for (const auto& trial : trials) {
      renew(ask, trial.id);
      if (trial.attempt != 0 && ask.executeStep()) bases.insert(ask.getColumn(0).getInt64());
    }
    Sets sets;
    Statement read(reader_.database(), "SELECT json FROM basis WHERE id = ?");
    for (const auto id : bases) {
      const auto basis = renew(read, id).executeStep() ? stored_json(read.getColumn(0).getString()) : json();
      if (basis.is_object() && basis.contains("data")) add_text(sets["data"], set_text(basis["data"]));
    }
    return sets;
  }

  Sets environments() const {
    const auto ids = environment_ids(trials);
    Sets sets;
    Statement read(reader_.database(), "SELECT json FROM environment WHERE id = ?");
    for (const auto id : std::set(ids.begin(), ids.end())) {
      const auto environment = renew(read, id).executeStep() ? stored_json(read.getColumn(0).getString()) : json();
      if (environment.is_object())
        for (const auto& [name, value] : flatten(environment)) add_text(sets["environment." + name], set_text(value));
    }
    return sets;
  }

  std::vector<SelectedTrial> trials;
  std::unordered_map<std::int64_t, std::size_t> places;  ///< indices of trials by the hash of their settings

 private:
  const Reader& reader_;
};

std::int64_t lacks(const Side& side, const Side& other) {
  return std::count_if(side.places.begin(), side.places.end(),
                       [&](const auto& place) { return !other.places.contains(place.first); });
}

/// Compares means over the trials that both sides have, and that are done with a finite number on both sides.
void add_means(const Reader& reader, const Side& a, const Side& b, std::vector<Differing>& rows) {
  std::vector<std::pair<std::size_t, std::size_t>> shared;
  for (const auto& [configuration, place] : a.places)
    if (const auto other = b.places.find(configuration); other != b.places.end()) shared.emplace_back(place, other->second);
  std::sort(shared.begin(), shared.end());
  for (const auto& metric : reader.metrics()) {
    if (is_of_group(metric.name)) continue;
    const auto of_a = load_results(reader, metric.id, a.trials), of_b = load_results(reader, metric.id, b.trials);
    std::vector<Sample> samples_a, samples_b;
    for (const auto& [in_a, in_b] : shared) {
      if (!of_a[in_a] || !of_b[in_b] || !std::isfinite(*of_a[in_a]) || !std::isfinite(*of_b[in_b])) continue;
      samples_a.push_back({std::nullopt, *of_a[in_a]});
      samples_b.push_back({std::nullopt, *of_b[in_b]});
    }
    const auto mean_a = summary_of(samples_a).mean, mean_b = summary_of(samples_b).mean;
    if (samples_a.empty() || mean_a == mean_b) continue;
    rows.push_back(
        {fmt::format("{}, mean of {} shared trial{}", metric.name, samples_a.size(), samples_a.size() == 1 ? "" : "s"), mean_a,
         mean_b, false});
  }
}

std::vector<Differing> experiment_differences(const Reader& reader, const std::string& a, const std::string& b) {
  return guarded(reader.file(), [&] {
    const Side of_a(reader, a), of_b(reader, b);
    std::vector<Differing> rows;
    const auto add_count = [&](const char* what, std::int64_t in_a, std::int64_t in_b) {
      if (in_a != in_b) rows.push_back({what, in_a, in_b, false});
    };
    const auto done = [](const Side& side) {
      return std::count_if(side.trials.begin(), side.trials.end(),
                           [](const auto& trial) { return trial.outcome == outcome::kDone; });
    };
    add_count("trials", static_cast<std::int64_t>(of_a.trials.size()), static_cast<std::int64_t>(of_b.trials.size()));
    add_count("done", done(of_a), done(of_b));
    if (const auto only_a = lacks(of_a, of_b), only_b = lacks(of_b, of_a); only_a + only_b > 0)
      rows.push_back({"trials that the other lacks", only_a, only_b, false});
    add_differing_sets(of_a.parameters(), of_b.parameters(), false, false, rows);
    add_differing_sets(of_a.codes(), of_b.codes(), true, true, rows);
    add_differing_sets(of_a.data(), of_b.data(), true, true, rows);
    add_differing_sets(of_a.environments(), of_b.environments(), false, false, rows);
    add_means(reader, of_a, of_b, rows);
    return rows;
  });
}

using Fields = std::map<std::string, json>;

void add_differing(const std::string& before, const Fields& a, const Fields& b, std::vector<Differing>& rows,
                   bool digests = false) {
  auto all = a;
  all.insert(b.begin(), b.end());
  const auto in = [](const Fields& fields, const std::string& name) {
    const auto at = fields.find(name);
    return at == fields.end() ? json(nullptr) : at->second;
  };
  for (const auto& [name, unused] : all)
    if (a.contains(name) != b.contains(name) || in(a, name) != in(b, name))
      rows.push_back({before + name, in(a, name), in(b, name), digests || name == "data"});
}

Fields fields_in(const ordered_json& object) {
  Fields fields;
  for (const auto& [name, value] : object.items()) fields[name] = value;
  return fields;
}

/// Returns final values; null if a value is not a finite number.
Fields final_values(const ordered_json& attempt) {
  Fields fields;
  for (const auto& result : attempt["results"]) fields[result["metric"]] = result["value"];
  return fields;
}

/// Returns code identities by kind and id. A plugin may have several identities.
Fields codes_of(const ordered_json& attempt) {
  std::map<std::string, std::set<std::string>> codes;
  for (const auto& plugin : attempt["plugins"]) {
    const auto code = plugin["code_identity"].get<std::string>();
    codes[fmt::format("code of {} {}", plugin["kind"].get<std::string>(), plugin["id"].get<std::string>())].insert(code);
  }
  Fields fields;
  for (const auto& [name, all] : codes) fields[name] = fmt::format("{}", fmt::join(all, ", "));
  return fields;
}

/// Returns the parts of the key except settings, plugins and torch. The environment also contains torch.
Fields basis_fields(const Reader& reader, const ordered_json& attempt) {
  SQLite::Statement ask(reader.database(),
                        "SELECT b.json FROM trial t JOIN key_part k ON k.trial = t.id JOIN basis b ON b.id = k.basis WHERE "
                        "t.key = ?");
  ask.bind(1, attempt["key"].get<std::string>());
  if (!ask.executeStep()) return {};
  const auto basis = stored_json(ask.getColumn(0).getString());
  Fields fields;
  if (!basis.is_object()) {
    reader.leave_out("attempt", attempt["attempt"], "the key's parts");
    return fields;
  }
  for (const auto& [name, value] : basis.items())
    if (name != "plugins" && name != "torch") fields[name] = value;
  return fields;
}

/// Drops fields that only one side has. The parameters already show the plugins of each side.
void keep_shared(Fields& a, Fields& b) {
  std::erase_if(a, [&](const auto& field) { return !b.contains(field.first); });
  std::erase_if(b, [&](const auto& field) { return !a.contains(field.first); });
}

std::vector<Differing> attempt_differences(const Reader& reader, const ordered_json& a, const ordered_json& b) {
  std::vector<Differing> rows;
  for (const auto* name : {"outcome", "reason"})
    if (a[name] != b[name]) rows.push_back({name, a[name], b[name], false});
  add_differing("", fields_in(a["parameters"]), fields_in(b["parameters"]), rows);
  auto code_a = codes_of(a), code_b = codes_of(b);
  keep_shared(code_a, code_b);
  add_differing("", code_a, code_b, rows, true);
  auto basis_a = basis_fields(reader, a), basis_b = basis_fields(reader, b);
  keep_shared(basis_a, basis_b);
  add_differing("", basis_a, basis_b, rows);
  add_differing("environment.", flatten(a["environment"]), flatten(b["environment"]), rows);
  add_differing("", final_values(a), final_values(b), rows);
  return rows;
}

/// True if a word can name an attempt: a number, or digits of a key.
bool names_attempt(const std::string& word) {
  const bool number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  return number || (word.size() >= 4 && word.find_first_not_of("0123456789abcdef") == std::string::npos);
}

}  // namespace

Differences differences_of(const Reader& reader, const std::string& a, const std::string& b) {
  return guarded(reader.file(), [&] {
    const auto experiments = reader.experiments();
    const auto is_experiment = [&](const std::string& name) {
      return std::find(experiments.begin(), experiments.end(), name) != experiments.end();
    };
    if (is_experiment(a) && is_experiment(b))
      return Differences{"experiment " + a, "experiment " + b, experiment_differences(reader, a, b)};
    for (const auto& word : {a, b})
      if (!is_experiment(word) && !names_attempt(word))
        throw Error(
            fmt::format("{} has no experiment \"{}\"{}, and the word is neither an attempt's number nor the first digits of "
                        "a trial's key",
                        reader.file().string(), word, hint(word, experiments)));
    for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)})
      if (is_experiment(one) && !names_attempt(one))
        throw Error(
            fmt::format("diff: {} is an experiment and {} is not, expected two experiments or two attempts", one, other));
    const auto first = show_attempt(reader, a), second = show_attempt(reader, b);
    const auto called = [](const ordered_json& attempt) {
      return fmt::format("attempt {}", attempt["attempt"].get<std::int64_t>());
    };
    return Differences{called(first), called(second), attempt_differences(reader, first, second)};
  });
}

}  // namespace ablate::db
