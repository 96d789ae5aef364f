#include "db/questions/selection/table_axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/records/setting_paths.h"
#include "core/util/nearest.h"
#include "db/history/names.h"
#include "db/questions/selection/attention_names.h"

namespace ablate::db {
namespace {

constexpr std::string_view kBegin = "share(", kEnd = ")";

struct Count {
  int layers = 0, of_it = 0;
};

/// Counts each trial's entry at one path as a layer, and also in `of_it` if the entry is `attention`.
void count_layers(const Axis& axis, const std::string& attention, std::vector<Count>& counts) {
  for (std::size_t t = 0; t < counts.size(); ++t) {
    if (axis.of(t) == nullptr) continue;
    ++counts[t].layers;
    if (axis.of(t)->text == attention) ++counts[t].of_it;
  }
}

std::string fraction_text(const Count& count) {
  const int common = std::gcd(count.of_it, count.layers);
  if (count.of_it % count.layers == 0) return std::to_string(count.of_it / count.layers);
  return fmt::format("{}/{}", count.of_it / common, count.layers / common);
}

/// True if an entry's path leads to a layer, as "attention.0" does, and not to a part.
bool is_layer(const std::string& path) { return setting::layer_of(path) == path; }

/// Returns "softmax" for "share(softmax)"; nullopt if the path is no share.
std::optional<std::string> attention_of_share(const std::string& path) {
  if (!path.starts_with(kBegin) || !path.ends_with(kEnd) || path.size() <= kBegin.size() + kEnd.size()) return std::nullopt;
  return path.substr(kBegin.size(), path.size() - kBegin.size() - kEnd.size());
}

/// Loads the axis of a share: "0", "1/4" or "1" for each trial with an attention. Layers use the entries of a list in turn, so
/// the share of the entries equals the share of layers. A layer with a mixture of attentions counts for the mixture. Returns
/// nullopt if no trial has a layer of this attention.
std::optional<Axis> load_share(const Reader& reader, const std::vector<SelectedTrial>& trials, const std::string& path) {
  const auto attention = *attention_of_share(path);
  std::vector<Count> counts(trials.size());
  count_layers(load_axis(reader, setting::kAttention, trials), attention, counts);
  const AttentionNames names(reader.paths());
  for (const auto& [entry, id] : names.entries())
    if (is_layer(entry)) count_layers(load_axis(reader, entry, id, trials), attention, counts);

  Axis axis{path, {}, {}};
  std::map<std::string, int> index;
  bool any = false;
  for (const auto& count : counts) {
    if (count.layers == 0) {
      axis.of_trial.push_back(-1);
      continue;
    }
    any = any || count.of_it > 0;
    const auto text = fraction_text(count);
    const auto [at, is_new] = index.try_emplace(text, static_cast<int>(axis.values.size()));
    const double share = static_cast<double>(count.of_it) / count.layers;
    if (is_new) axis.values.push_back({.text = text, .is_number = true, .number = share, .json = share});
    axis.of_trial.push_back(at->second);
  }
  return any ? std::optional(std::move(axis)) : std::nullopt;
}

const Axis* find(const std::vector<Axis>& axes, const std::string& path) {
  const auto at = std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.path == path; });
  return at == axes.end() ? nullptr : &*at;
}

/// Returns the axes that vary among the trials, except the seed, axes in `apart`, and columns with their sub-parameters.
std::vector<std::string> usual_rows(const std::vector<Axis>& varying, const std::vector<std::string>& columns,
                                    const std::vector<std::string>& apart) {
  std::vector<std::string> rows;
  for (const auto& axis : varying) {
    const bool in_columns = std::any_of(columns.begin(), columns.end(), [&](const std::string& column) {
      return axis.path == column || axis.path.starts_with(column + ".");
    });
    const bool is_apart = std::find(apart.begin(), apart.end(), axis.path) != apart.end();
    if (axis.path != setting::kSeed && !in_columns && !is_apart) rows.push_back(axis.path);
  }
  return rows;
}

/// Returns the axis with each trial's experiment.
Axis experiment_axis(const NamedExperiments& experiments, const std::vector<SelectedTrial>& trials) {
  Axis axis{kExperiment, {}, {}};
  axis.of_trial.reserve(trials.size());
  std::vector<int> place(experiments.size(), -1);
  for (const auto& trial : trials) {
    const auto at = static_cast<std::size_t>(
        std::find_if(experiments.begin(), experiments.end(), [&](const auto& one) { return one.first == trial.experiment; }) -
        experiments.begin());
    if (place[at] < 0) {
      place[at] = static_cast<int>(axis.values.size());
      axis.values.push_back({.text = experiments[at].second, .json = experiments[at].second});
    }
    axis.of_trial.push_back(place[at]);
  }
  return axis;
}

/// True if the rows begin with `experiment`: several experiments are named, and no requested or excluded path is `experiment`.
bool adds_experiment(const NamedExperiments& experiments, const RequestedPaths& requested) {
  const auto names = [](const std::vector<std::string>& paths) {
    return std::find(paths.begin(), paths.end(), kExperiment) != paths.end();
  };
  return experiments.size() > 1 && !names(requested.rows) && !names(requested.columns) && !names(requested.without);
}

}  // namespace

std::optional<Axis> find_axis(const Reader& reader, const std::vector<SelectedTrial>& trials,
                              const std::map<std::string, std::int64_t>& known, const std::string& path) {
  if (attention_of_share(path)) return load_share(reader, trials, path);
  const auto id = known.find(path);
  std::optional<Axis> axis;
  if (path == setting::kAttention)  // a history may have only lists of attentions
    axis = load_attention(reader, trials);
  else if (id != known.end())
    axis = load_axis(reader, path, id->second, trials);
  if (axis && axis->values.empty() && id == known.end()) return std::nullopt;
  return axis;
}

std::string unknown_path(const char* option, const std::string& path, const std::map<std::string, std::int64_t>& known,
                         const std::vector<Axis>& varying) {
  if (const auto attention = attention_of_share(path))
    return fmt::format("{}: found {}, but no trial has a layer of {}", option, path, *attention);
  std::vector<std::string> names, differing;
  for (const auto& [name, unused] : known) names.push_back(name);
  for (const auto& axis : varying) differing.push_back(axis.path);
  std::string remedy;
  if (const auto whole = ending_in(names, '.', path); !whole.empty())
    remedy = fmt::format(" (did you mean {}?)", fmt::join(whole, ", "));
  else
    remedy = hint(path, names);
  if (remedy.empty() && !differing.empty()) remedy = fmt::format(" (parameters that vary: {})", fmt::join(differing, ", "));
  return fmt::format("{}: no trial has a parameter \"{}\"{}", option, path, remedy);
}

TableAxes choose_axes(const Reader& reader, const std::vector<SelectedTrial>& trials, const NamedExperiments& experiments,
                      const RequestedPaths& requested, std::vector<std::string>& wrong) {
  const auto& [rows, columns, without, apart] = requested;
  TableAxes axes{.varying = varying_axes(reader, trials), .row_paths = rows, .column_paths = columns};
  if (columns.empty() && find(axes.varying, setting::kTask) != nullptr &&
      std::find(rows.begin(), rows.end(), setting::kTask) == rows.end())
    axes.column_paths = {setting::kTask};
  std::optional<Axis> of_experiments;
  if (!experiments.empty()) of_experiments = experiment_axis(experiments, trials);
  if (experiments.size() > 1) axes.varying.push_back(*of_experiments);
  const auto known = reader.paths();
  if (rows.empty()) {
    auto no_rows = apart;
    for (const auto& path : without)
      if (find(axes.varying, path) == nullptr && !known.contains(path) && path != setting::kAttention && path != kExperiment)
        wrong.push_back(unknown_path("--rows", path, known, axes.varying));
      else
        no_rows.push_back(path);
    no_rows.emplace_back(kExperiment);
    axes.row_paths = usual_rows(axes.varying, axes.column_paths, no_rows);
  }
  if (adds_experiment(experiments, requested)) axes.row_paths.insert(axes.row_paths.begin(), kExperiment);
  const auto load = [&](const std::vector<std::string>& paths, const char* option) {
    std::vector<const Axis*> found;
    for (const auto& path : paths) {
      if (const auto* axis = find(axes.varying, path)) {
        found.push_back(axis);
        continue;
      }
      auto axis = path == kExperiment ? of_experiments : find_axis(reader, trials, known, path);
      if (!axis && path == kExperiment) {
        wrong.push_back(
            fmt::format("{}: found experiment, expected a parameter; if experiments are named (`ablate table A B`), each "
                        "trial's experiment is a row",
                        option));
        continue;
      }
      if (!axis) {
        wrong.push_back(unknown_path(option, path, known, axes.varying));
        continue;
      }
      axes.constant.push_back(std::make_unique<Axis>(std::move(*axis)));
      found.push_back(axes.constant.back().get());
    }
    return found;
  };
  axes.rows = load(axes.row_paths, "--rows");
  axes.columns = load(axes.column_paths, "--cols");
  return axes;
}

}  // namespace ablate::db
