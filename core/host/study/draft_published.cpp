// The [[published]] of a study: what papers report for its trials.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/host/study/draft.h"
#include "core/shared/metrics.h"
#include "core/util/nearest.h"
#include "core/util/plain_text.h"

namespace ablate {
namespace {

/// "" or what is wrong with a metric's name. What an attention measures, only its own code knows.
std::string refuse_metric(const std::string& name) {
  if (name.starts_with("attention/")) return "";
  auto names = objective_metric_names();
  for (const auto metrics : {training_metrics(), process_metrics()})
    for (const auto& metric : metrics) names.push_back(metric.name);
  // "test/accuracy@pairs=8": of a group that only the task knows.
  const auto plain = name.substr(0, name.find('@'));
  if (std::find(names.begin(), names.end(), plain) != names.end()) return "";
  // A metric of the task's own, which only a worker could ask it for; a slip of an objective's is told all the same.
  const auto split = plain.substr(0, plain.find('/'));
  if ((split == "test" || split == "test_last" || split == "dev") && nearest(plain, names).empty()) return "";
  return fmt::format("unknown metric {}{}", name, suggestion(name, names));
}

/// Whether it is a share of something, in percent, also over a group of the examples.
bool is_share(const std::string& name) {
  const auto metrics = house_metrics();
  const auto plain = name.substr(0, name.find('@'));
  return std::any_of(metrics.begin(), metrics.end(), [&](const MetricInfo& metric) {
    return metric.name == plain && metric.unit == "%" && metric.kind == MetricKind::kScore;
  });
}

/// "" or what is wrong with a number. A share above 100 % is a slip, or another metric's number.
std::string refuse_number(const std::string& metric, const nlohmann::json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    return fmt::format("{} = {}: expected a number", metric, show(value));
  if (is_share(metric) && (value.get<double>() < 0 || value.get<double>() > 100))
    return fmt::format("{} = {}: expected a share from 0 to 100, in percent", metric, show(value));
  return "";
}

bool is_list_of_tables(const Node& node) {
  return node.is_array() && std::all_of(node.children.begin(), node.children.end(), [](const Node& n) { return n.is_table(); });
}

/// A line: paths say which trials, names with a slash are metrics.
void read_line(const Node& line, const std::string& source, Draft& draft, Diagnostics& diagnostics) {
  Rule rule{line.where, {}};
  Alternative conditions;
  bool has_metric = false;
  for (const auto& [path, leaf] : leaves(line)) {
    if (path.find('/') == std::string::npos) {
      add_settings(path, *leaf, conditions, diagnostics);
      continue;
    }
    has_metric = true;
    if (const auto why = refuse_metric(path); !why.empty()) {
      diagnostics.add(leaf->key, why);
    } else if (const auto wrong = refuse_number(path, leaf->value); !wrong.empty()) {
      diagnostics.add(leaf->where, wrong);
    } else {
      draft.published.push_back({path, source, leaf->value, leaf->where, draft.published_rules.size()});
    }
  }
  if (!has_metric)
    diagnostics.add(line.where, "this line gives no number; write a metric and its value, as in \"test/accuracy\" = 46.0");
  for (auto& set : conditions.set) rule.entries.push_back({set.path, set.value, set.key, set.where});
  draft.published_rules.push_back(std::move(rule));
}

}  // namespace

void read_published(const Node& node, Draft& draft, Diagnostics& diagnostics) {
  if (!is_list_of_tables(node))
    return diagnostics.add(node.key, "published is a list of tables; write [[published]], and in it source and values");
  for (const auto& table : node.children) {
    std::string source;
    const Node* values = nullptr;
    for (const auto& child : table.children) {
      if (child.name == "values")
        values = &child;
      else if (child.name != "source")
        diagnostics.add(child.key, fmt::format("unknown key {} in [[published]]{}", child.name,
                                               suggestion(child.name, {"source", "values"})));
      else if (!child.value.is_string() || child.value.get<std::string>().empty() ||
               !line_refusal(child.value.get<std::string>()).empty())
        diagnostics.add(child.where,
                        fmt::format("source = {}: expected a text in one line: paper and table", show(child.value)));
      else
        source = child.value;
    }
    if (table.find("source") == nullptr)
      diagnostics.add(table.where, "[[published]] has no source; say which paper and table the numbers are from");
    if (values == nullptr) {
      diagnostics.add(table.where, "[[published]] has no values; write values = [{ path = value, \"test/accuracy\" = 46.0 }]");
      continue;
    }
    for (const auto& line : values->children)
      if (line.is_table()) read_line(line, source, draft, diagnostics);
    if (!is_list_of_tables(*values) || values->children.empty())
      diagnostics.add(values->where, "values is a list of tables: [{ path = value, \"test/accuracy\" = 46.0 }]");
  }
}

}  // namespace ablate
