// Parts of a study besides base values: [grid] (rows, zips, axes, seeds and exclude rules) and [[published]].
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>

#include "core/host/study/draft.h"
#include "core/host/study/longer.h"
#include "core/records/setting_paths.h"
#include "core/shared/metrics.h"
#include "core/util/nearest.h"
#include "core/util/plain_text.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

/// Range of [grid.tune] from which random points are drawn before anything runs (Bergstra and Bengio 2012):
/// train.learning_rate = { log-uniform = [1e-4, 1e-1] }, or uniform.
struct DrawnRange {
  std::string path;  ///< "train.learning_rate"
  double low = 0, high = 0;
  bool logarithmic = false;
  Location key = {}, where = {};  ///< location of the list of both ends
};

constexpr const char *kUniform = "uniform", *kLogUniform = "log-uniform";
constexpr std::size_t kMostDraws = 100;  ///< maximum number of attempts to draw a new point

/// Random values of one range, in order.
class Draws {
 public:
  Draws(const DrawnRange& range, std::uint64_t seed)
      : range_(range), random_(std::stoull(sha256(fmt::format("{} {}", seed, range.path)).substr(0, 16), nullptr, 16)) {}

  double next() {
    // Distributions of <random> return different numbers in different standard libraries.
    const double share = static_cast<double>(random_() >> 11) * 0x1p-53;
    const double low = range_.low, high = range_.high;
    const double value =
        range_.logarithmic ? std::exp(std::log(low) + share * (std::log(high) - std::log(low))) : low + share * (high - low);
    return std::clamp(std::stod(fmt::format("{:.2e}", value)), low, high);
  }

 private:
  const DrawnRange& range_;
  std::mt19937_64 random_;
};

/// True if a path of [grid.tune] ends with the kind of a range, "uniform" or "log-uniform".
bool is_range(const std::string& path) {
  const auto last = split_path(path).second;
  return last == kUniform || last == kLogUniform;
}

/// Reads a range whose path is_range(). Returns nullopt, and adds a diagnostic, if the ends are invalid.
std::optional<DrawnRange> read_range(const std::string& path, const Node& ends, Diagnostics& diagnostics) {
  const auto parameter = split_path(path).first, kind = split_path(path).second;
  const bool logarithmic = kind == kLogUniform;
  const auto wrong = [&](const std::string& expected) -> std::optional<DrawnRange> {
    diagnostics.add(ends.where, fmt::format("{} = {{ {} = {} }}: expected {}", parameter, kind, show(ends.value), expected));
    return std::nullopt;
  };
  const auto& two = ends.value;
  if (!two.is_array() || two.size() != 2 || !two[0].is_number() || !two[1].is_number())
    return wrong("two numbers, [lowest, highest]");
  DrawnRange range{parameter, two[0].get<double>(), two[1].get<double>(), logarithmic, ends.key, ends.where};
  if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low >= range.high)
    return wrong("the lower end first, then a higher end");
  if (logarithmic && range.low <= 0) return wrong("ends above 0, because their logarithms are used");
  return range;
}

/// Draws `count` different points, each with a value of every range. Returns an axis for one range, else a zip. Values have
/// three digits. A range's i-th value depends only on its path, its ends and the seed. More points or another range thus leave
/// earlier values unchanged, unless two points were equal. Every machine draws the same points. If the ranges are too narrow,
/// returns fewer points, and adds a diagnostic.
Group drawn_points(const std::vector<DrawnRange>& ranges, std::size_t count, std::uint64_t seed, Diagnostics& diagnostics) {
  const auto& first = ranges.front();
  Group group{Group::Form::kZip, first.where, {}};
  if (ranges.size() == 1) group.form = Group::Form::kAxis, group.path = first.path;
  std::vector<Draws> draws;
  for (const auto& range : ranges) draws.emplace_back(range, seed);
  std::set<std::vector<double>> points;
  for (std::size_t tried = 0; points.size() < count;) {
    std::vector<double> point;
    for (auto& one : draws) point.push_back(one.next());
    if (!points.insert(point).second) {
      if (++tried < kMostDraws) continue;
      diagnostics.add(first.where, fmt::format("of {} drawn points only {} differ in three digits; ask for fewer points, or "
                                               "make the ranges wider",
                                               count, points.size()));
      break;
    }
    tried = 0;
    Alternative alternative{first.where, {}, {}};
    for (std::size_t r = 0; r < ranges.size(); ++r)
      alternative.set.push_back({ranges[r].path, point[r], ranges[r].key, ranges[r].where});
    group.alternatives.push_back(std::move(alternative));
  }
  return group;
}

/// The keys of [grid] that are not axes.
const std::vector<std::string> kParts = {"rows", "zip", "tune", "longer", "match", "exclude", "seeds"};

constexpr const char *kPoints = "points", *kPointSeed = "point_seed", *kSeeds = "seeds",
                     *kWiden = "widen";  ///< keys of [grid.tune]

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns the tables of [[grid.NAME]], or none and a diagnostic.
std::vector<const Node*> tables_of(const Node& node, Diagnostics& diagnostics) {
  std::vector<const Node*> tables;
  for (const auto& child : node.children) {
    if (node.is_array() && child.is_table())
      tables.push_back(&child);
    else if (node.is_array())
      diagnostics.add(child.where,
                      fmt::format("grid.{} holds {}, expected tables of path = value", node.name, show(child.value)));
  }
  if (!node.is_array())
    diagnostics.add(node.key, fmt::format("grid.{0} is a list of tables; write [[grid.{0}]]", node.name));
  else if (node.children.empty())
    diagnostics.add(node.where, fmt::format("grid.{} is empty; leave it out or fill it", node.name));
  return tables;
}

void mark_broken(const Node& table, Draft& draft) {
  for (const auto& [path, leaf] : leaves(table)) draft.broken.insert(path);
}

void read_rows(const Node& node, Draft& draft, Diagnostics& diagnostics) {
  Group group{Group::Form::kRows, node.where, {}};
  for (const auto* row : tables_of(node, diagnostics)) {
    Alternative alternative{row->where, {}, {}};
    for (const auto& [path, leaf] : leaves(*row)) add_settings(path, *leaf, alternative, diagnostics);
    group.alternatives.push_back(std::move(alternative));
  }
  if (!group.alternatives.empty()) draft.groups.push_back(std::move(group));
}

/// Adds one value of a list. A plain value gets the location of its list's key.
void add_value(const std::string& path, const Node& list, const Node& item, Alternative& into, Diagnostics& diagnostics) {
  const auto before = into.set.size();
  add_settings(path, item, into, diagnostics);
  if (into.set.size() == before + 1 && into.set.back().path == path) into.set.back().key = list.key;
}

void read_zip(const Node& zip, Draft& draft, Diagnostics& diagnostics) {
  Group group{Group::Form::kZip, zip.where, {}};
  const auto columns = leaves(zip);
  std::size_t shortest = kMostTrials;
  for (const auto& [path, leaf] : columns) {
    const auto size = leaf->children.size();
    const auto& [first_path, first] = columns.front();
    if (!leaf->is_array() || size == 0) {
      diagnostics.add(leaf->where, fmt::format("{} = {}: expected a list of values, as long as the other lists of its zip",
                                               path, show(leaf->value)));
      return mark_broken(zip, draft);
    }
    if (size != first->children.size())
      diagnostics.add(leaf->where, fmt::format("{} has {} values, but {} in the same zip has {}; give both the same number",
                                               path, size, first_path, first->children.size()));
    shortest = std::min(shortest, size);
  }
  if (columns.empty())
    return diagnostics.add(zip.where, "this zip is empty; leave it out or give it paths with lists of values");
  for (std::size_t i = 0; i < shortest; ++i) {
    Alternative alternative{columns.front().second->children[i].where, {}, {}};
    for (const auto& [path, leaf] : columns) add_value(path, *leaf, leaf->children[i], alternative, diagnostics);
    group.alternatives.push_back(std::move(alternative));
  }
  draft.groups.push_back(std::move(group));
}

void read_axis(const std::string& path, const Node& node, Draft& draft, Diagnostics& diagnostics) {
  if (path == setting::kSeed) return diagnostics.add(node.key, "seeds are set only by grid.seeds, as in seeds = [1, 2, 3]");
  const auto dot = path.find('.');
  const bool is_section = is_among(kSections, path);
  if (dot == std::string::npos && !is_section && !node.children.empty() && node.children.front().is_table())
    return diagnostics.add(
        node.key, fmt::format("unknown list of tables {} in [grid]{}", path, suggestion(path, {"rows", "zip", "exclude"})));
  // A name without a section is refused later, as an invalid path.
  if (!node.is_array() && dot != std::string::npos) {
    draft.broken.insert(path);
    diagnostics.add(node.where, fmt::format("{} = {}: expected a list of values; a single value belongs in [{}]", path,
                                            show(node.value), path.substr(0, dot)));
    return;
  }
  if (node.is_array() && node.children.empty()) {
    draft.broken.insert(path);
    diagnostics.add(node.where, fmt::format("{} is an empty list; leave it out or give it values", path));
    return;
  }
  Group group{Group::Form::kAxis, node.where, {}, path};
  if (!node.is_array()) group.alternatives.push_back({node.where, {{path, node.value, node.key, node.where}}, {}});
  for (const auto& item : node.children) {
    group.alternatives.push_back({item.where, {}, {}});
    add_value(path, node, item, group.alternatives.back(), diagnostics);
  }
  draft.groups.push_back(std::move(group));
}

/// Reads a whole number of [grid.tune], if present. Returns false, and adds a diagnostic, if it is invalid.
bool read_number(const Node* node, std::uint64_t least, std::uint64_t most, std::uint64_t& into, Diagnostics& diagnostics) {
  if (node == nullptr) return true;
  const bool is_one = node->value.is_number_integer() && node->value >= least && node->value <= most;
  if (is_one)
    into = node->value.get<std::uint64_t>();
  else
    diagnostics.add(node->where, fmt::format("grid.tune.{} = {}: expected a whole number in [{}, {}]", node->name,
                                             show(node->value), least, most));
  return is_one;
}

/// Draws random points for all ranges of [grid.tune] together, if there are any.
void read_points(const Node& tune, const std::vector<DrawnRange>& ranges, Draft& draft, Diagnostics& diagnostics) {
  const auto* points = tune.find(kPoints);
  const auto* seed = tune.find(kPointSeed);
  if (ranges.empty()) {
    for (const auto* number : {points, seed})
      if (number != nullptr && draft.broken.empty())
        diagnostics.add(number->key, fmt::format("grid.tune.{} needs a range, and there is none; write one, as in "
                                                 "train.learning_rate = {{ log-uniform = [1e-4, 1e-1] }}",
                                                 number->name));
    return;
  }
  std::uint64_t count = 0, by = 1;
  const bool has_count = read_number(points, 2, kMostTrials, count, diagnostics) && points != nullptr;
  const bool has_seed = read_number(seed, 0, INT64_MAX, by, diagnostics);
  if (points == nullptr)
    diagnostics.add(ranges.front().where,
                    "a range is tried at random points, and grid.tune does not set their number; add points = 8 to it");
  auto group = has_count && has_seed ? drawn_points(ranges, count, by, diagnostics) : Group();
  if (!has_count || group.alternatives.size() < count) {
    for (const auto& range : ranges) draft.broken.insert(range.path);
    return;
  }
  group.tuned = true;
  draft.groups.push_back(std::move(group));
}

/// Reads [grid.tune]: axes of which one value is chosen, ranges from which points are drawn, and seeds for comparing values.
void read_tune(const Node& node, Draft& draft, Diagnostics& diagnostics) {
  if (!node.is_table()) return diagnostics.add(node.key, "grid.tune is a table; write [grid.tune], and in it path = [values]");
  const auto all = leaves(node);
  if (all.empty()) diagnostics.add(node.where, "grid.tune is empty; leave it out or fill it");
  std::vector<DrawnRange> ranges;
  for (const auto& [path, leaf] : all) {
    const auto top = split_first(path).first;
    if (path == kPoints || path == kPointSeed) continue;
    if (path == kWiden) {
      if (!leaf->value.is_boolean())
        diagnostics.add(leaf->where, fmt::format("grid.tune.widen = {}: expected true or false", show(leaf->value)));
      else if (leaf->value.get<bool>())
        draft.widen = leaf->where;
      continue;
    }
    if (path == kSeeds) {
      const auto before = diagnostics.size();
      auto own = read_seeds(*leaf, diagnostics);
      if (diagnostics.size() == before) draft.tuning_seeds = std::move(own);
      if (all.size() == 1)
        diagnostics.add(leaf->key, "grid.tune.seeds is for comparing values, and grid.tune has no values; add path = [values]");
      continue;
    }
    if (is_among(kParts, top)) {
      diagnostics.add(leaf->key, fmt::format("grid.tune holds only axes, path = [values]; {} belongs in [grid]", top));
    } else if (is_range(path)) {
      if (auto range = read_range(path, *leaf, diagnostics))
        ranges.push_back(std::move(*range));
      else
        draft.broken.insert(split_path(path).first);
    } else {
      const auto before = draft.groups.size();
      read_axis(path, *leaf, draft, diagnostics);
      if (draft.groups.size() > before) draft.groups.back().tuned = true;
    }
  }
  read_points(node, ranges, draft, diagnostics);
}

void read_rules(const Node& node, Draft& draft, Diagnostics& diagnostics) {
  for (const auto* table : tables_of(node, diagnostics)) {
    Rule rule{table->where, {}};
    Alternative entries;
    for (const auto& [path, leaf] : leaves(*table)) add_settings(path, *leaf, entries, diagnostics);
    for (auto& set : entries.set) rule.entries.push_back({set.path, set.value, set.key, set.where});
    if (rule.entries.empty())
      diagnostics.add(rule.where, "this exclude rule is empty: it would leave out every trial; give it path = value");
    else
      draft.rules.push_back(std::move(rule));
  }
}

void refuse_twice(const Draft& draft, Diagnostics& diagnostics) {
  std::map<std::string, std::pair<const Group*, Location>> seen;
  for (const auto& group : draft.groups)
    for (const auto& alternative : group.alternatives)
      for (const auto& set : alternative.set) {
        const auto [entry, fresh] = seen.try_emplace(set.path, &group, set.key);
        if (!fresh && entry->second.first != &group)
          diagnostics.add(set.key, fmt::format("{} is set by two parts of the grid, the other part is at {}; keep one",
                                               set.path, to_text(entry->second.second)));
      }
}

/// True for a metric that is a fraction in percent, also if it is of a group of the examples ("test/accuracy@pairs=8").
bool is_share(const std::string& name) {
  const auto metrics = house_metrics();
  const auto plain = name.substr(0, name.find('@'));
  return std::any_of(metrics.begin(), metrics.end(), [&](const MetricInfo& metric) {
    return metric.name == plain && metric.unit == "%" && metric.kind == MetricKind::kScore;
  });
}

/// Returns the error in a number, or "". A fraction outside 0 to 100 % is refused: it is mistyped, or another metric's number.
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

/// Reads a line of published numbers: paths select trials, and names with a slash are metrics.
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

std::string refuse_metric(const std::string& name) {
  if (name.starts_with("attention/")) return "";
  auto names = objective_metric_names();
  for (const auto metrics : {training_metrics(), process_metrics()})
    for (const auto& metric : metrics) names.push_back(metric.name);
  // "test/accuracy@pairs=8": the metric of a group of the examples. Only the task defines its groups.
  const auto plain = name.substr(0, name.find('@'));
  if (std::find(names.begin(), names.end(), plain) != names.end()) return "";
  // The task's own metrics are not checked, since only a worker loads the task. A misspelt metric of an objective is reported.
  const auto split = plain.substr(0, plain.find('/'));
  if ((split == "test" || split == "test_last" || split == "dev") && nearest(plain, names).empty()) return "";
  return fmt::format("unknown metric {}{}", name, suggestion(name, names));
}

Group read_seeds(const Node& node, Diagnostics& diagnostics) {
  Group group{Group::Form::kSeeds, node.where, {}};
  const auto add = [&](std::int64_t seed, const Location& where) {
    group.alternatives.push_back({where, {{setting::kSeed, seed, node.key, where}}, {}});
  };
  const auto wrong = [&](const Node& at) {
    diagnostics.add(at.where,
                    fmt::format("seeds = {}: expected a list of integers (0 or more), or a number of seeds: 3 means 1, 2, 3",
                                show(at.value)));
  };
  const auto most = static_cast<std::int64_t>(kMostTrials);
  if (node.value.is_number_integer() && node.value > 0 && node.value <= most) {
    for (std::int64_t seed = 1; seed <= node.value; ++seed) add(seed, node.where);
  } else if ((node.value.is_number_integer() && node.value > most) || node.children.size() > kMostTrials) {
    diagnostics.add(node.where,
                    fmt::format("found {} seeds, expected at most {}: a study has no more trials than that",
                                node.is_array() ? nlohmann::json(node.children.size()).dump() : show(node.value), kMostTrials));
  } else if (node.is_array() && !node.children.empty()) {
    for (const auto& item : node.children) {
      if (item.value.is_number_integer() && item.value >= 0)
        add(item.value, item.where);
      else
        wrong(item);
    }
  } else {
    wrong(node);
  }
  if (group.alternatives.empty()) add(1, node.where);
  return group;
}

void read_grid(const Node& grid, Draft& draft, Diagnostics& diagnostics) {
  if (const auto* rows = grid.find("rows")) read_rows(*rows, draft, diagnostics);
  if (const auto* zips = grid.find("zip"))
    for (const auto* zip : tables_of(*zips, diagnostics)) read_zip(*zip, draft, diagnostics);
  for (const auto& [path, leaf] : leaves(grid)) {
    const auto [top, rest] = split_first(path);
    if (is_among(kParts, top)) continue;
    if (!is_among(kSections, top) && is_among(kSections, split_first(rest).first))  // a table of axes
      diagnostics.add(grid.find(top)->key, fmt::format("unknown part {} of [grid]{}", top, suggestion(top, kParts)));
    else
      read_axis(path, *leaf, draft, diagnostics);
  }
  if (const auto* tune = grid.find("tune")) read_tune(*tune, draft, diagnostics);
  if (const auto* longer = grid.find("longer")) draft.longer = read_longer(*longer, diagnostics);
  if (const auto* match = grid.find("match")) draft.match = read_match(*match, diagnostics);
  if (const auto* seeds = grid.find("seeds")) draft.groups.push_back(read_seeds(*seeds, diagnostics));
  if (const auto* exclude = grid.find("exclude")) read_rules(*exclude, draft, diagnostics);
  refuse_twice(draft, diagnostics);
}

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
