// Parts of simple rules: each is one number of an example, or of the symbols up to a target. Frequencies of symbols and runs
// are left to the floors' linear predictors.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/shared/objectives.h"
#include "core/trial/audit/features.h"

namespace ablate {
namespace {

using Ids = std::vector<std::int64_t>;
constexpr std::int64_t kFewIds = 64;

/// Reduces the present ids, in order, to one number.
struct Summary {
  const char* name;
  double (*of)(const Ids& ids, std::int64_t base);
  bool measured = false;
};

double sum(const Ids& ids, std::int64_t base) {
  std::int64_t sum = 0;
  for (const auto id : ids) sum += id;
  return static_cast<double>(sum % base);
}
double alternating_sum(const Ids& ids, std::int64_t base) {
  std::int64_t sum = 0, sign = 1;
  for (const auto id : ids) sum += std::exchange(sign, -sign) * id;
  return static_cast<double>((sum % base + base) % base);
}
double largest(const Ids& ids, std::int64_t) {
  return ids.empty() ? kNothing : static_cast<double>(*std::max_element(ids.begin(), ids.end()));
}
double smallest(const Ids& ids, std::int64_t) {
  return ids.empty() ? kNothing : static_cast<double>(*std::min_element(ids.begin(), ids.end()));
}
double commonest_id(const Ids& ids, std::int64_t) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const auto id : ids) ++counts[id];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? kNothing : static_cast<double>(most->first);
}
double different_ids(const Ids& ids, std::int64_t) {
  return static_cast<double>(std::set<std::int64_t>(ids.begin(), ids.end()).size());
}
double ends_compared(const Ids& ids, std::int64_t) {
  return ids.empty() ? kNothing : ids.front() < ids.back() ? -1 : ids.front() > ids.back() ? 1 : 0;
}
double place_of_largest(const Ids& ids, std::int64_t) {
  return static_cast<double>(std::max_element(ids.begin(), ids.end()) - ids.begin()) /
         static_cast<double>(std::max<std::size_t>(ids.size(), 1));
}

constexpr Summary kSummaries[] = {{"the sum", sum},
                                  {"the alternating sum", alternating_sum},
                                  {"the largest", largest},
                                  {"the smallest", smallest},
                                  {"the commonest", commonest_id},
                                  {"the number of different ones", different_ids},
                                  {"first against last", ends_compared},
                                  {"the place of the largest", place_of_largest, true}};

/// Returns the present ids of a part: one field of one sequence.
Ids ids_of(const Example& example, std::size_t part, std::size_t sequence) {
  Ids ids;
  for (std::size_t at = 0; at < example.ids[part].size(); ++at)
    if (example.present[sequence][at] != 0) ids.push_back(example.ids[part][at]);
  return ids;
}

/// Combines two whole numbers into one.
double together(double a, double b) { return a * 1048583.0 + b; }

std::vector<std::int64_t> bases(const TaskInfo& info, std::int64_t vocabulary) {
  std::set<std::int64_t> all = {2, info.classes};
  if (vocabulary <= kFewIds) all.insert(vocabulary);
  return {all.begin(), all.end()};
}

void add_class_features(const TaskInfo& info, std::size_t field, std::vector<Feature>& all) {
  const auto& about = info.fields[field];
  const bool pair = info.sequences == 2;
  const auto second = info.fields.size() + field;
  for (const auto& summary : kSummaries)
    for (const auto base : bases(info, about.vocabulary)) {
      const bool once = summary.of != sum && summary.of != alternating_sum;
      if (once && base != 2) continue;
      const auto name = std::string(summary.name) + " of " + about.name + (once ? "" : " modulo " + std::to_string(base));
      all.push_back({name,
                     [=](const Example& example, std::size_t) {
                       const auto value = summary.of(ids_of(example, field, 0), base);
                       if (!pair) return value;
                       const auto other = summary.of(ids_of(example, second, 1), base);
                       return summary.measured ? value - other : together(value, other);
                     },
                     summary.measured});
    }
  for (std::int64_t id = 0; id < std::min<std::int64_t>(about.vocabulary, 16); ++id)
    all.push_back({"the count of " + std::to_string(id) + " of " + about.name, [=](const Example& example, std::size_t) {
                     double count = 0;
                     for (std::size_t sequence = 0; sequence < example.present.size(); ++sequence)
                       for (const auto other : ids_of(example, sequence == 0 ? field : second, sequence))
                         count += other == id ? 1 : 0;
                     return count;
                   }});
  // Adds every pair of positions among the first and last five. If an example has two sequences, each has one of the positions.
  constexpr std::size_t kEnds = 5;
  const auto length = static_cast<std::size_t>(info.length);
  std::set<std::size_t> places;
  for (std::size_t i = 0; i < std::min(kEnds, length); ++i) places.insert({i, length - 1 - i});
  for (const auto a : places)
    for (const auto b : places)
      if (pair || a < b)
        all.push_back(
            {about.name + " at " + std::to_string(a) + " and " + std::to_string(b), [=](const Example& example, std::size_t) {
               return together(static_cast<double>(example.ids[field][a]),
                               static_cast<double>(example.ids[pair ? second : field][b]));
             }});
  all.push_back({"first and last of " + about.name, [=](const Example& example, std::size_t) {
                   const auto ids = ids_of(example, field, 0);
                   return ids.empty() ? kNothing : together(static_cast<double>(ids.front()), static_cast<double>(ids.back()));
                 }});
}

/// Choice of one id among the ids up to a target, by their counts there. Of equally frequent ids, the first to occur is chosen.
enum class Rank { kCommonest, kNextRarer, kNextCommoner };

/// Returns the chosen id, or kNothing. kNextRarer and kNextCommoner compare counts with the count of the id at the target.
double ranked(const std::vector<std::int64_t>& ids, std::size_t at, Rank rank) {
  std::vector<std::int64_t> order;  // by first occurrence
  std::unordered_map<std::int64_t, std::int64_t> counts;
  for (std::size_t before = 0; before <= at; ++before)
    if (++counts[ids[before]] == 1) order.push_back(ids[before]);
  const auto own = counts[ids[at]];
  double best = kNothing;
  std::int64_t found = 0;
  for (const auto id : order) {
    const auto count = counts[id];
    if (rank == Rank::kNextRarer && count >= own) continue;
    if (rank == Rank::kNextCommoner && (id == ids[at] || count < own)) continue;
    if (best != kNothing && (rank == Rank::kNextCommoner ? count >= found : count <= found)) continue;
    found = count;
    best = static_cast<double>(id);
  }
  return best;
}

void add_place_features(const TaskInfo& info, std::size_t field, std::vector<Feature>& all) {
  const auto& name = info.fields[field].name;
  constexpr std::size_t kBack = 8;
  const auto id = [field](const Example& example, std::size_t at) { return static_cast<double>(example.ids[field][at]); };
  for (std::size_t back = 0; back <= kBack; ++back)
    all.push_back({name + " " + std::to_string(back) + " before",
                   [=](const Example& example, std::size_t at) { return at >= back ? id(example, at - back) : kNothing; }});
  all.push_back({name + " here and before", [=](const Example& example, std::size_t at) {
                   return together(id(example, at), at > 0 ? id(example, at - 1) : -1);
                 }});
  all.push_back({"the first of " + name, [=](const Example& example, std::size_t) { return id(example, 0); }});
  all.push_back({name + " at the mirrored position",
                 [=](const Example& example, std::size_t at) { return id(example, example.targets.size() - 1 - at); }});
  all.push_back({name + " half a length before", [=](const Example& example, std::size_t at) {
                   const auto half = example.targets.size() / 2;
                   return at >= half ? id(example, at - half) : kNothing;
                 }});
  all.push_back({"the " + name + " after the previous equal " + name, [=](const Example& example, std::size_t at) {
                   for (auto before = at; before-- > 0;)
                     if (example.ids[field][before] == example.ids[field][at]) return id(example, before + 1);
                   return kNothing;
                 }});
  for (const auto base : bases(info, info.fields[field].vocabulary))
    all.push_back(
        {"the sum of " + name + " so far modulo " + std::to_string(base), [=](const Example& example, std::size_t at) {
           std::int64_t total = 0;
           for (std::size_t before = 0; before <= at; ++before) total += example.ids[field][before];
           return static_cast<double>(total % base);
         }});
  all.push_back({"the largest of " + name + " so far", [=](const Example& example, std::size_t at) {
                   const auto begin = example.ids[field].begin();
                   return static_cast<double>(*std::max_element(begin, begin + static_cast<std::ptrdiff_t>(at) + 1));
                 }});
  for (const auto& [what, rank] : {std::pair{"the commonest of " + name + " so far", Rank::kCommonest},
                                   {"the next rarer of " + name + " so far", Rank::kNextRarer},
                                   {"the next commoner of " + name + " so far", Rank::kNextCommoner}})
    all.push_back(
        {what, [field, rank = rank](const Example& example, std::size_t at) { return ranked(example.ids[field], at, rank); }});
}

}  // namespace

std::vector<Feature> rule_features(const TaskInfo& info) {
  std::vector<Feature> all = length_features(info);
  for (std::size_t field = 0; field < info.fields.size(); ++field) {
    if (info.fields[field].vocabulary == 0) continue;
    asks_of(info.objective).in_place() ? add_place_features(info, field, all) : add_class_features(info, field, all);
  }
  return all;
}

}  // namespace ablate
