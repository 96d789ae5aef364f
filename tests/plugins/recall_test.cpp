// Multi-query associative recall: the sequence itself answers every query, and no list of pairs is in two splits.
#include <map>
#include <set>

#include "tests/plugins/task.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

constexpr Split kSplits[] = {Split::kTrain, Split::kDev, Split::kTest};
constexpr std::int64_t kLength = 32, kVocabulary = 64;

using Ids = std::vector<std::int64_t>;

struct Asked {
  Ids ids, targets;
  std::int64_t pairs;
  bool operator==(const Asked&) const = default;
  Ids listed() const { return {ids.begin(), ids.begin() + 2 * pairs}; }
};

std::vector<Asked> read(const Task& task, Split split, Ids indices = {}, std::int64_t length = kLength) {
  if (indices.empty())
    for (std::int64_t i = 0; i < task.size(split); ++i) indices.push_back(i);
  const auto n = indices.size(), places = static_cast<std::size_t>(length);
  Ids ids(n * places, 0), targets(n * places, -1), slices(n, 0);
  std::vector<std::uint8_t> present(n * places, 1);
  task.read(split, indices,
            {.length = length,
             .ids = {ids},
             .reals = std::vector<std::span<float>>(1),
             .present = {present},
             .targets = targets,
             .slices = slices});
  CHECK(std::ranges::count(present, 1) == static_cast<std::ptrdiff_t>(n * places));
  std::vector<Asked> examples;
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = [&](const Ids& all) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * places);
      return Ids(first, first + length);
    };
    examples.push_back({row(ids), row(targets), slices[i]});
  }
  return examples;
}

json small(const json& changes = json::object()) {
  json all{{"length", kLength}, {"vocabulary", kVocabulary}, {"pairs", "2,4,8"}, {"train", 900}, {"dev", 300}, {"test", 300}};
  all.update(changes);
  return all;
}

/// Returns the token after the first occurrence of each repeated token; -1 elsewhere.
Ids answers(const Asked& example) {
  std::map<std::int64_t, std::int64_t> behind;
  Ids found(example.ids.size(), -1);
  for (std::size_t at = 0; at < example.ids.size(); ++at) {
    const auto id = example.ids[at];
    if (id == 0) continue;
    if (const auto known = behind.find(id); known != behind.end())
      found[at] = known->second;
    else if (at + 1 < example.ids.size())
      behind[id] = example.ids[at + 1];
  }
  return found;
}

}  // namespace

TEST_CASE("the sequence answers each of its queries, one query for each pair") {
  const TemporaryFolder cache;
  const auto task = load_task("recall", small(), cache.path());
  const auto info = task->info();
  CHECK(info.causal);
  CHECK(info.objective == Objective::kPositions);
  CHECK(info.unit.empty());
  CHECK(info.slices == std::vector<std::string>{"pairs"});
  CHECK(info.classes == kVocabulary);
  std::map<std::int64_t, std::int64_t> of_pairs;
  for (const auto split : kSplits)
    for (const auto& example : read(*task, split)) {
      ++of_pairs[example.pairs];
      CHECK(answers(example) == example.targets);
      CHECK(std::ranges::count_if(example.targets, [](auto id) { return id >= 0; }) == example.pairs);
      CHECK(std::ranges::count(example.ids, 0) == kLength - 3 * example.pairs);
      const auto listed = example.listed();
      CHECK(std::set(listed.begin(), listed.end()).size() == listed.size());
      for (std::size_t i = 0; i < listed.size(); ++i) {
        const bool is_key = listed[i] >= 1 && listed[i] < kVocabulary / 2;
        CHECK(is_key == (i % 2 == 0));
        CHECK(listed[i] < kVocabulary);
      }
    }
  CHECK(of_pairs == std::map<std::int64_t, std::int64_t>{{2, 500}, {4, 500}, {8, 500}});
}

TEST_CASE("near positions are more likely, by the power law") {
  const TemporaryFolder cache;
  const auto task = load_task("recall", small({{"pairs", "1"}, {"train", 20000}}), cache.path());
  std::map<std::size_t, double> at;  // number of queries at 15 positions: 2, 4, ..., 30
  for (const auto& example : read(*task, Split::kTrain))
    at[static_cast<std::size_t>(std::ranges::find_if(example.targets, [](auto id) { return id >= 0; }) -
                                example.targets.begin())] += 1;
  CHECK(at.size() == 15);
  double sum = 0;
  for (int gap = 1; gap <= 15; ++gap) sum += std::pow(gap, 0.01 - 1);
  for (int gap = 1; gap <= 15; ++gap) {
    const double share = std::pow(gap, 0.01 - 1) / sum, found = at[2 * static_cast<std::size_t>(gap)] / 20000;
    INFO(gap);
    CHECK(std::abs(found - share) < 4 * std::sqrt(share / 20000));
  }
}

TEST_CASE("no list of pairs is in two splits, even if lists are few, and another seed draws other lists") {
  const TemporaryFolder cache;
  const auto task = load_task("recall", small({{"pairs", "1,2"}, {"vocabulary", 24}}), cache.path());
  const auto other = load_task("recall", small({{"pairs", "1,2"}, {"vocabulary", 24}, {"data_seed", 1}}), cache.path());
  std::map<Ids, Split> split_of;
  for (const auto& each : {task.get(), other.get()})
    for (const auto split : kSplits)
      for (const auto& example : read(*each, split)) CHECK(split_of.emplace(example.listed(), split).first->second == split);
  CHECK((read(*task, Split::kTrain) != read(*other, Split::kTrain)));
  CHECK(task->digest() != other->digest());
}

TEST_CASE("an example is a function of its index") {
  const TemporaryFolder cache;
  const auto task = load_task("recall", small(), cache.path());
  const auto all = read(*task, Split::kDev);
  for (const std::int64_t index : {299, 7, 0}) CHECK(read(*task, Split::kDev, {index}).front() == all[index]);
  CHECK_THROWS_AS(read(*task, Split::kDev, {0, 300}), std::out_of_range);
  CHECK_THROWS_AS(read(*task, Split::kDev, {-1}), std::out_of_range);
  CHECK(task->digest() == "recall 1 32 64 0 900 300 300,2,4,8");
  const auto& first = all.front();
  CHECK(
      task->describe(Split::kDev, 0).starts_with("pairs " + std::to_string(first.ids[0]) + ">" + std::to_string(first.ids[1])));
}

TEST_CASE("all positions may be used") {
  const TemporaryFolder cache;
  const auto task = load_task("recall", small({{"length", 8}, {"pairs", "2"}, {"vocabulary", 24}}), cache.path());
  for (const auto& example : read(*task, Split::kTrain, {}, 8)) CHECK(answers(example) == example.targets);
}

TEST_CASE("wrong parameters of recall are refused by name") {
  const TemporaryFolder cache;
  const auto message = [&](const json& changes) {
    return message_of([&] { make_task("recall", small(changes), cache.path()); });
  };
  for (const char* pairs : {"", "0", "9", "4,2", "2,2", "2,", ",2", "2;4", "two", "-1", "2,99999999999999999999"}) {
    INFO(pairs);
    check_mentions(message({{"pairs", pairs}}), {"pairs = \"" + std::string(pairs) + "\"", "from 1 to length / 4 = 8"});
  }
  check_mentions(message({{"vocabulary", 12}}), {"vocabulary = 12 has 5 keys", "8 pairs"});
  check_mentions(message({{"vocabulary", 12}, {"pairs", "1"}}), {"100 different lists of 1"});
  CHECK_NOTHROW(make_task("recall", small({{"pairs", "2, 4"}}), cache.path()));
}
