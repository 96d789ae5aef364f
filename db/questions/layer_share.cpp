#include "db/questions/layer_share.h"

#include <fmt/format.h>

#include <map>
#include <numeric>

#include "core/records/setting_paths.h"
#include "db/questions/attention_names.h"

namespace ablate::db {
namespace {

constexpr std::string_view kBegin = "share(", kEnd = ")";

struct Count {
  int layers = 0, of_it = 0;
};

/// Counts a trial's entries of one path.
void count_layers(const Axis& axis, const std::string& attention, std::vector<Count>& counts) {
  for (std::size_t t = 0; t < counts.size(); ++t) {
    if (axis.of_trial[t] < 0) continue;
    ++counts[t].layers;
    if (axis.values[static_cast<std::size_t>(axis.of_trial[t])].text == attention) ++counts[t].of_it;
  }
}

std::string fraction_text(const Count& count) {
  const int common = std::gcd(count.of_it, count.layers);
  if (count.of_it % count.layers == 0) return std::to_string(count.of_it / count.layers);
  return fmt::format("{}/{}", count.of_it / common, count.layers / common);
}

/// Whether an entry's path is a layer's: "attention.0", not a part of one.
bool is_layer(const std::string& path) { return setting::layer_of(path) == path; }

}  // namespace

std::optional<std::string> attention_of_share(const std::string& path) {
  if (!path.starts_with(kBegin) || !path.ends_with(kEnd) || path.size() <= kBegin.size() + kEnd.size()) return std::nullopt;
  return path.substr(kBegin.size(), path.size() - kBegin.size() - kEnd.size());
}

std::optional<Axis> load_share(const Reader& reader, const std::vector<SelectedTrial>& trials, const std::string& path) {
  const auto attention = *attention_of_share(path);
  std::vector<Count> counts(trials.size());
  const auto paths = reader.paths();
  if (const auto plain = paths.find(setting::kAttention); plain != paths.end())
    count_layers(load_axis(reader, setting::kAttention, plain->second, trials), attention, counts);
  const AttentionNames names(paths);
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

}  // namespace ablate::db
