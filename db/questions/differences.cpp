#include "db/questions/differences.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/util/error.h"
#include "core/util/flatten.h"
#include "core/util/nearest.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/questions/show_attempt.h"

namespace ablate::db {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

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

/// Final values; null for what is no number.
Fields final_values(const ordered_json& attempt) {
  Fields fields;
  for (const auto& result : attempt["results"]) fields[result["metric"]] = result["value"];
  return fields;
}

/// By kind and id; of a plugin that is in several places with several codes all of them.
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

/// What a key is made of but settings, plugins, and torch, which the environment tells.
Fields basis_fields(const Reader& reader, const ordered_json& attempt) {
  SQLite::Statement ask(reader.database(),
                        "SELECT b.json FROM trial t JOIN key_part k ON k.trial = t.id JOIN basis b ON b.id = k.basis WHERE "
                        "t.key = ?");
  ask.bind(1, attempt["key"].get<std::string>());
  if (!ask.executeStep()) return {};
  const auto basis = stored_json(ask.getColumn(0).getString());
  Fields fields;
  if (!basis.is_object()) {
    reader.leave_out("attempt", attempt["attempt"], "what the key is made of");
    return fields;
  }
  for (const auto& [name, value] : basis.items())
    if (name != "plugins" && name != "torch") fields[name] = value;
  return fields;
}

/// Drops what only one of the two has: parameters tell already which plugins there are.
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

/// Whether a word can name an attempt: a number, or digits of a key.
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
            fmt::format("{} has no experiment \"{}\"{}, and that is neither an attempt's number nor the first digits of "
                        "a trial's key",
                        reader.file().string(), word, hint(word, experiments)));
    for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)})
      if (is_experiment(one) && !names_attempt(one))
        throw Error(
            fmt::format("diff: {} is an experiment and {} is none, expected two experiments, or two attempts", one, other));
    const auto first = show_attempt(reader, a), second = show_attempt(reader, b);
    const auto called = [](const ordered_json& attempt) {
      return fmt::format("attempt {}", attempt["attempt"].get<std::int64_t>());
    };
    return Differences{called(first), called(second), attempt_differences(reader, first, second)};
  });
}

}  // namespace ablate::db
