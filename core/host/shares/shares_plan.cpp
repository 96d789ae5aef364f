#include "core/host/shares/shares_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/host/shares/share_files.h"
#include "core/util/regular_file.h"
#include "core/util/sha256.h"
#include "core/util/whole_number.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;
constexpr std::uintmax_t kMostPlanBytes = std::uintmax_t{1} << 30;

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& found) {
  throw Error(
      fmt::format("{}: {}, expected a plan as `ablate run STUDY.toml --plan FILE --shares N` writes it", file.string(), found));
}

SharedTrial trial_from(const json& entry, int shares, const std::filesystem::path& file) {
  SharedTrial trial{entry.at("key"), entry.at("label"), entry.at("cost"), SharedTrial::kDoneBefore};
  const auto& share = entry.at("share");
  if (!share.is_null()) {
    if (!share.is_number_unsigned() || share.get<std::uint64_t>() >= static_cast<std::uint64_t>(shares))
      refuse(file, fmt::format("found share {} of {}", share.dump(), shares));
    trial.share = share.get<int>();
  }
  if (!(trial.cost > 0 && std::isfinite(trial.cost))) refuse(file, fmt::format("found a cost of {}", trial.cost));
  return trial;
}

}  // namespace

std::vector<int> shared_out(const std::vector<double>& costs, int shares) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  std::set<std::pair<double, int>> loads;  // the smallest load first; among equal loads the first share
  for (int share = 0; share < shares; ++share) loads.insert({0, share});
  std::vector<int> given(costs.size());
  for (const auto trial : order) {
    auto least = loads.extract(loads.begin());
    given[trial] = least.value().second;
    least.value().first += costs[trial];
    loads.insert(std::move(least));
  }
  return given;
}

double estimated_cost(const PlannedTrial& trial) {
  const auto& spec = trial.trial->spec;
  const auto positions = spec.train.batch * std::max(trial.train_length, trial.length);
  return static_cast<double>(std::max<std::int64_t>(1, spec.model.layers)) *
         static_cast<double>(std::max<std::int64_t>(1, spec.train.steps)) *
         static_cast<double>(std::max<std::int64_t>(1, positions));
}

SharesPlan make_shares(const std::string& experiment, const std::vector<const PlannedTrial*>& trials,
                       const std::vector<double>& seconds, const std::set<std::string>& done, int shares) {
  SharesPlan plan{experiment, shares, {}};
  std::vector<double> costs, rates;  // rates: seconds per unit of estimated_cost
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (seconds.at(i) > 0) rates.push_back(seconds[i] / estimated_cost(*trials[i]));
  const double rate = rates.empty() ? 1 : middle(rates);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto& trial = *trials[i];
    if (!seen.insert(trial.key).second) continue;
    plan.trials.push_back({trial.key, trial.trial->label, seconds[i] > 0 ? seconds[i] : rate * estimated_cost(trial),
                           done.contains(trial.key) ? SharedTrial::kDoneBefore : 0});
    if (!done.contains(trial.key)) costs.push_back(plan.trials.back().cost);
  }
  auto given = shared_out(costs, shares);
  std::reverse(given.begin(), given.end());
  for (auto& trial : plan.trials) {
    if (trial.share == SharedTrial::kDoneBefore) continue;
    trial.share = given.back();
    given.pop_back();
  }
  return plan;
}

std::string shares_document(const SharesPlan& plan, const std::string& folder_id) {
  json document{{"ablate-shares", kFormat}, {"experiment", plan.experiment}, {"shares", plan.shares}};
  if (!folder_id.empty()) document[kFolderId] = folder_id;
  auto& trials = document["trials"] = json::array();
  for (const auto& trial : plan.trials)
    trials.push_back({{"key", trial.key},
                      {"label", trial.label},
                      {"cost", trial.cost},
                      {"share", trial.share < 0 ? json() : json(trial.share)}});
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

void write_shares(const std::filesystem::path& file, const SharesPlan& plan) {
  if (const auto failed = put_whole(file, shares_document(plan, new_run() + new_run() + new_run())))
    throw not_written("the plan cannot be written: " + file.string(), failed);
}

SharesPlan read_shares(const std::filesystem::path& file) try {
  RegularFile opened(file);
  if (opened.size() > kMostPlanBytes) refuse(file, "found more than 1 GiB");
  const auto document = json::parse(whole_text(opened));
  if (document.at("ablate-shares").get<int>() != kFormat)
    refuse(file, fmt::format("found format {}", document.at("ablate-shares").get<int>()));
  SharesPlan plan{document.at("experiment"), 0, {}};
  if (!document.at("shares").is_number_unsigned()) refuse(file, fmt::format("found {} shares", document.at("shares").dump()));
  plan.shares = document.at("shares");
  if (plan.shares < 1 || plan.shares > SharesPlan::kMostShares) refuse(file, fmt::format("found {} shares", plan.shares));
  std::set<std::string> keys;
  for (const auto& entry : document.at("trials")) {
    plan.trials.push_back(trial_from(entry, plan.shares, file));
    if (!keys.insert(plan.trials.back().key).second)
      refuse(file, fmt::format("found the key {} twice", short_digest(plan.trials.back().key)));
  }
  return plan;
} catch (const json::exception&) {
  refuse(file, "found something else");
}

std::optional<ShareNames> share_names(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto shares = whole_number_of(std::string_view(text).substr(slash + 1));
  if (!shares || *shares < 1 || *shares > SharesPlan::kMostShares) return std::nullopt;
  ShareNames names{{}, *shares};
  std::set<int> seen;
  for (std::string_view left = std::string_view(text).substr(0, slash);;) {
    const auto comma = left.find(',');
    const auto index = whole_number_of(left.substr(0, comma));
    if (!index || *index >= *shares || !seen.insert(*index).second) return std::nullopt;
    names.indexes.push_back(*index);
    if (comma == std::string_view::npos) return names;
    left.remove_prefix(comma + 1);
  }
}

std::string digest_of(const SharesPlan& plan) {
  std::string text = std::to_string(plan.shares);
  for (const auto& trial : plan.trials) text += fmt::format(" {}:{}", trial.key, trial.share);
  return sha256(text);
}

std::vector<const PlannedTrial*> trials_of(const SharesPlan& plan, int index, const std::vector<const PlannedTrial*>& trials,
                                           const std::filesystem::path& file) {
  std::map<std::string, const SharedTrial*> planned;
  for (const auto& trial : plan.trials) planned[trial.key] = &trial;
  const auto stale = [&](const std::string& which, const std::string& label, const std::string& key) {
    throw Error(
        fmt::format("{} does not belong to this study as it is now: {} {} ({}). The study, its data or the code has changed: "
                    "write a new plan, on the machine that the shares run on.",
                    file.string(), which, label, short_digest(key)));
  };
  std::vector<const PlannedTrial*> own;
  std::set<std::string> keys;
  for (const auto* trial : trials) {
    if (!keys.insert(trial->key).second) continue;
    const auto found = planned.find(trial->key);
    if (found == planned.end()) stale("it lacks", trial->trial->label, trial->key);
    if (found->second->share == index) own.push_back(trial);
  }
  for (const auto& trial : plan.trials)
    if (!keys.contains(trial.key)) stale("the study has no", trial.label, trial.key);
  return own;
}

}  // namespace ablate
