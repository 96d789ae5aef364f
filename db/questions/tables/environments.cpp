#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/records/setting_paths.h"
#include "core/shared/precisions.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/questions/tables/table_notes.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

using nlohmann::json;
using SQLite::Statement;

/// An environment, with the number of trials that ran in it.
struct Recorded {
  std::int64_t id = 0;
  json environment;
  std::vector<json> before;  ///< environments in which these trials ran before they resumed
  std::size_t trials = 0, on_gpu = 0, mixed = 0;
};

std::vector<json> environments_before(const json& environment) {
  std::vector<json> before;
  const auto resumed = environment.find("resumed");
  if (resumed == environment.end() || !resumed->is_object()) return before;
  for (const auto& patch : resumed->value("environments", json())) {
    if (!patch.is_object()) continue;
    before.push_back(environment);
    before.back().merge_patch(patch);
  }
  return before;
}

/// Returns true for each trial whose train.dtype has mixed products (core/shared/precisions.h).
std::vector<bool> mixed_trials(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return trials_where(reader, setting::kDtype, trials, [](const auto& dtype) {
    return std::ranges::any_of(kPrecisions, [&](const auto& one) { return one.mixed && dtype.text == one.name; });
  });
}

void count_mixed(std::vector<Recorded>& recorded, const std::vector<bool>& mixed, const std::vector<std::int64_t>& ids) {
  std::map<std::int64_t, std::size_t> counts;
  for (std::size_t t = 0; t < ids.size(); ++t) counts[ids[t]] += mixed[t] ? 1 : 0;
  for (auto& one : recorded) one.mixed = counts[one.id];
}

std::vector<Recorded> load_environments(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  const auto on_gpu = trials_where(reader, setting::kDevice, trials, [](const auto& device) { return device.text != "cpu"; });
  return guarded(reader.file(), [&] {
    std::map<std::int64_t, Recorded> recorded;
    const auto ids = environment_ids(trials);
    for (std::size_t t = 0; t < trials.size(); ++t) {
      if (ids[t] == 0) continue;
      ++recorded[ids[t]].trials;
      recorded[ids[t]].on_gpu += on_gpu[t];
    }
    std::vector<Recorded> all;
    Statement ask(reader.database(), "SELECT json FROM environment WHERE id = ?");
    for (auto& [id, one] : recorded) {
      if (!renew(ask, id).executeStep()) continue;
      one.id = id;
      one.environment = stored_json(ask.getColumn(0).getString());
      one.before = environments_before(one.environment);
      if (one.environment.is_object())
        all.push_back(std::move(one));
      else
        reader.leave_out("environment", id, "its content");
    }
    return all;
  });
}

std::string text_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump(-1, ' ', false, json::error_handler_t::replace);
  std::vector<std::string> parts;
  for (const auto& part : value) parts.push_back(text_of(part));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, " + "));
}

/// True for a variable of OpenMP that changes no numbers. Such variables set the number of threads, which a trial sets itself
/// (train.threads), or the way in which threads wait, which changes only times. OMP_THREAD_LIMIT and OMP_DYNAMIC override
/// train.threads, so they count.
bool of_openmp(const std::string& variable) {
  if (variable == "OMP_THREAD_LIMIT" || variable == "OMP_DYNAMIC") return false;
  return variable.starts_with("OMP_") || variable.starts_with("GOMP_") || variable.starts_with("KMP_");
}

/// True if a field counts only for trials on a GPU: variables of CUDA, cuBLAS and cuDNN, and the GPUs.
bool of_gpu(std::string_view field) {
  constexpr std::string_view kVariables = "variables.";
  if (!field.starts_with(kVariables)) return field.starts_with("gpu");
  field.remove_prefix(kVariables.size());
  return field.starts_with("CU") || field.starts_with("NVIDIA_");
}

/// Variable that counts only for trials with mixed products.
constexpr const char* kOfMixed = "kernels_bfloat16";

/// Returns the fields that may change numbers, by name. A variable that is not set has the value "unset".
std::map<std::string, std::string> fields_of(const Recorded& one, const json& environment,
                                             const std::set<std::string>& variables) {
  std::map<std::string, std::string> fields;
  for (const auto* name : {"processor", "cpu_capability", "kernels", kOfMixed, "torch", "gpus", "gpu_driver"})
    if (environment.contains(name)) fields[name] = text_of(environment[name]);
  if (const auto at = environment.find("libraries"); at != environment.end() && at->is_object())
    for (const auto& [name, version] : at->items()) fields["libraries." + name] = text_of(version);
  if (const auto at = environment.find("variables"); at != environment.end() && at->is_object())
    for (const auto& name : variables) fields["variables." + name] = at->contains(name) ? text_of((*at)[name]) : "unset";
  if (one.mixed == 0) fields.erase(kOfMixed);
  if (one.on_gpu == 0) std::erase_if(fields, [](const auto& field) { return of_gpu(field.first); });
  return fields;
}

/// Returns "AVX512, kernels avx512", for mixed products "..., bfloat16 by amx"; "" if no instructions are recorded.
std::string instructions_of(const json& environment, bool mixed) {
  std::vector<std::string> parts;
  if (environment.contains("cpu_capability")) parts.push_back(text_of(environment["cpu_capability"]));
  if (environment.contains("kernels")) parts.push_back("kernels " + text_of(environment["kernels"]));
  if (mixed && environment.contains(kOfMixed)) parts.push_back("bfloat16 by " + text_of(environment[kOfMixed]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::set<std::string> variables_in(const std::vector<Recorded>& recorded) {
  std::set<std::string> names;
  const auto add = [&](const json& environment) {
    if (const auto at = environment.find("variables"); at != environment.end() && at->is_object())
      for (const auto& [name, unused] : at->items())
        if (!of_openmp(name)) names.insert(name);
  };
  for (const auto& one : recorded) {
    add(one.environment);
    std::for_each(one.before.begin(), one.before.end(), add);
  }
  return names;
}

std::vector<std::string> machines(const std::vector<Recorded>& recorded) {
  std::set<std::string> names;
  for (const auto& one : recorded) {
    const auto field = [&](const char* name) {
      return one.environment.contains(name) ? text_of(one.environment[name]) : "unknown";
    };
    names.insert(fmt::format("{} ({})", field("host"), field("processor")));
  }
  return {names.begin(), names.end()};
}

/// Returns a note on differing fields; "" if no field differs. Leaves out the field `without`, which another note reports.
std::string differences(const std::vector<Recorded>& recorded, const std::string& without) {
  struct Value {
    std::string text;
    std::size_t trials;
  };
  std::map<std::string, std::vector<Value>> values;  // by field, in order of first occurrence
  const auto variables = variables_in(recorded);
  std::vector<std::map<std::string, std::string>> fields;
  const auto add = [&](const Recorded& one, const std::string& name, const std::string& text) {
    const auto trials = of_gpu(name) ? one.on_gpu : name == kOfMixed ? one.mixed : one.trials;
    if (name == without) return;
    auto& known = values[name];
    auto at = std::find_if(known.begin(), known.end(), [&](const Value& value) { return value.text == text; });
    if (at == known.end()) at = known.insert(at, {text, 0});
    at->trials += trials;
  };
  for (const auto& one : recorded) {
    const auto last = fields_of(one, one.environment, variables);
    std::set<std::pair<std::string, std::string>> all(last.begin(), last.end());
    fields.push_back(last);
    for (const auto& before : one.before) {
      fields.push_back(fields_of(one, before, variables));
      all.insert(fields.back().begin(), fields.back().end());
    }
    for (const auto& [name, text] : all) add(one, name, text);
  }
  std::erase_if(values, [](const auto& field) { return field.second.size() < 2; });
  if (values.empty()) return "";
  for (auto& own : fields) std::erase_if(own, [&](const auto& field) { return !values.contains(field.first); });
  // An environment is not counted if another environment has all of its fields, with equal values, and more fields.
  const std::set<std::map<std::string, std::string>> distinct(fields.begin(), fields.end());
  const auto environments = std::count_if(distinct.begin(), distinct.end(), [&](const auto& own) {
    return std::none_of(distinct.begin(), distinct.end(), [&](const auto& other) {
      return other.size() > own.size() && std::includes(other.begin(), other.end(), own.begin(), own.end());
    });
  });
  std::vector<std::string> parts;
  for (const auto& [name, all] : values) {
    std::vector<std::string> texts;
    std::vector<std::size_t> trials;
    for (const auto& value : all) texts.push_back(value.text), trials.push_back(value.trials);
    parts.push_back(fmt::format("{} = {} ({} trials)", name, fmt::join(texts, " / "), fmt::join(trials, " / ")));
  }
  return fmt::format("computed in {} environments, whose numbers may differ: {}", environments, fmt::join(parts, "; "));
}

/// Returns a note on rows whose trials were computed by different instructions; "" if there are no such rows.
std::string rows_of_several_instructions(const std::vector<Recorded>& recorded, const std::vector<bool>& mixed,
                                         const TableTrials& from, const Table& table) {
  std::map<std::int64_t, std::vector<const json*>> environments;
  for (const auto& one : recorded) {
    environments[one.id] = {&one.environment};
    for (const auto& before : one.before) environments[one.id].push_back(&before);
  }
  const auto ids = environment_ids(from.trials);
  std::vector<std::string> rows;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    std::set<std::pair<std::int64_t, bool>> kinds;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      for (const auto t : from.members[r * table.columns.size() + c]) kinds.emplace(ids[t], mixed[t]);
    std::set<std::string> own[2];  // [0] products in float32, [1] mixed products: a row may have both, in different columns
    for (const auto& [id, is_mixed] : kinds)
      if (const auto at = environments.find(id); at != environments.end())
        for (const auto* environment : at->second)
          if (auto text = instructions_of(*environment, is_mixed); !text.empty()) own[is_mixed ? 1 : 0].insert(std::move(text));
    const auto name = table.rows[r].empty() ? "all trials" : fmt::format("{}", fmt::join(table.rows[r], " "));
    for (const auto& texts : own)
      if (texts.size() > 1) rows.push_back(fmt::format("{} ({})", name, fmt::join(texts, " / ")));
  }
  return rows.empty() ? "" : fmt::format("seeds of one row computed by different instructions: {}", some_of(rows));
}

}  // namespace

std::vector<std::string> environment_notes(const TableTrials& from, const Table& table) {
  auto recorded = load_environments(from.reader, from.trials);
  const auto is_cost = [](const auto& metric) { return metric.is_cost(); };
  std::vector<std::string> notes;
  if (const auto names = machines(recorded); names.size() > 1 && std::any_of(from.metrics.begin(), from.metrics.end(), is_cost))
    notes.push_back(
        fmt::format("measured on {} machines, whose costs are not comparable: {}", names.size(), fmt::join(names, ", ")));
  const bool is_processor_named = !notes.empty() && std::all_of(from.metrics.begin(), from.metrics.end(), is_cost);
  const bool has_one = recorded.size() < 2 && (recorded.empty() || recorded[0].before.empty());
  if (has_one) return notes;  // nearly always
  const auto mixed = mixed_trials(from.reader, from.trials);
  count_mixed(recorded, mixed, environment_ids(from.trials));
  for (auto note : {differences(recorded, is_processor_named ? "processor" : ""),
                    rows_of_several_instructions(recorded, mixed, from, table)})
    if (!note.empty()) notes.push_back(std::move(note));
  return notes;
}

std::vector<std::string> import_notes(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    std::map<std::int64_t, std::string> files;  // by environment
    SQLite::Statement ask(reader.database(),
                          "SELECT id, json ->> '$.imported' FROM environment WHERE json_valid(json) AND json ->> '$.imported' "
                          "IS NOT NULL");
    while (ask.executeStep()) files[ask.getColumn(0).getInt64()] = ask.getColumn(1).getString();
    if (files.empty()) return std::vector<std::string>();

    std::vector<std::pair<std::string, int>> counts;
    for (const auto& trial : trials) {
      const auto file = files.find(trial.environment);
      if (file == files.end()) continue;
      const auto same = [&](const auto& one) { return one.first == file->second; };
      const auto at = std::find_if(counts.begin(), counts.end(), same);
      if (at == counts.end())
        counts.emplace_back(file->second, 1);
      else
        ++at->second;
    }
    std::vector<std::string> notes;
    for (const auto& [file, count] : counts)
      notes.push_back(count == 1 ? fmt::format("1 trial was imported from {}: it did not run here", file)
                                 : fmt::format("{} trials were imported from {}: they did not run here", count, file));
    return notes;
  });
}

}  // namespace ablate::db
