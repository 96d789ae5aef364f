#include "core/host/study/match_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/host/study/path.h"
#include "core/records/setting_paths.h"
#include "core/util/row_conditions.h"

namespace ablate {
namespace {

using nlohmann::json;

/// As an override has it, or as tables show it: rates with commas between.
json value_of(const std::string& path, const std::string& text, const GridMatch& match, const Schema& schema) {
  Diagnostics unheard;
  const auto node = parse_value(text, match.reference_at, unheard);
  if (!node) return text;
  const auto [section, key] = split_path(path);
  const auto all = schema.find_all(section, key);
  const bool is_of_rates =
      std::any_of(all.begin(), all.end(), [](const auto* one) { return one->type == ParameterType::kRates; });
  if (!is_of_rates || !node->value.is_string()) return node->value;
  auto rates = json::array();
  for (std::size_t from = 0; from <= text.size();) {
    const auto to = std::min(text.find(',', from), text.size());
    rates.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return rates;
}

}  // namespace

void refuse_match_width(const GridMatch& match, Diagnostics& diagnostics, const std::string& why) {
  diagnostics.add(match.width_at, fmt::format("grid.match.width = {}: {}", match.asked.width, why));
}

void check_match_width(const Draft& draft, const Schema& schema, Diagnostics& diagnostics) {
  const auto& match = *draft.match;
  const auto refuse_width = [&](const std::string& why) { refuse_match_width(match, diagnostics, why); };
  const auto& path = match.asked.width;
  if (const auto why = schema.refuse_path(path); !why.empty()) return refuse_width(why);
  const auto [section, key] = split_path(path);
  const auto all = schema.find_all(section, key);
  const bool is_of_model = split_first(path).first == section::kModel || split_first(path).first == section::kAttention;
  if (!is_of_model || all.empty() ||
      std::any_of(all.begin(), all.end(), [](const auto* one) { return one->type != ParameterType::kInteger; }))
    return refuse_width("expected a whole number of [model] or of an attention, as model.hidden");
  for (const auto& group : draft.groups)
    for (const auto& alternative : group.alternatives)
      for (const auto& set : alternative.set)
        if (set.path == path)
          return diagnostics.add(set.key, fmt::format("{} is what grid.match solves for, and the grid sets it; keep one of "
                                                      "the two",
                                                      path));
  for (const auto* rules : {&draft.rules, &draft.published_rules})
    for (const auto& rule : *rules)
      for (const auto& entry : rule.entries)
        if (entry.path == path)
          diagnostics.add(entry.key, fmt::format("{} is what grid.match solves for, and not known here; name others", path));
}

Rule match_reference(const GridMatch& match, const Schema& schema, Diagnostics& diagnostics) {
  Rule rule{match.reference_at, {}};
  for (const auto& condition : row_conditions(match.asked.reference)) {
    auto [path, text] = split_override(condition);
    if (path.empty() || text.empty()) {
      diagnostics.add(match.reference_at, fmt::format("grid.match.{} = \"{}\": expected settings, PATH=VALUE with blanks "
                                                      "between, as \"attention=softmax attention.heads=2\"",
                                                      match.asked.number, match.asked.reference));
      continue;
    }
    if (schema.kind_of(path)) path += ".plugin";
    rule.entries.push_back({path, value_of(path, text, match, schema), match.reference_at, match.reference_at});
  }
  return rule;
}

}  // namespace ablate
