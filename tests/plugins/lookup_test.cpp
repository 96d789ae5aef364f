// Lookup: the sequence itself answers every query, in any order, and no list of pairs occurs in two splits.
#include <map>
#include <set>

#include "tests/plugins/task.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

constexpr Split kSplits[] = {Split::kTrain, Split::kDev, Split::kTest};

using Ids = std::vector<std::int64_t>;

struct Sequence {
  Ids keys, values, targets;  ///< [length]; 0: no key or no value
  bool operator==(const Sequence&) const = default;
};

std::vector<Sequence> read(const Task& task, Split split, Ids indices = {}, std::size_t length = 32) {
  if (indices.empty())
    for (std::int64_t i = 0; i < task.size(split); ++i) indices.push_back(i);
  const auto size = indices.size() * length;
  Ids keys(size, 0), values(size, 0), targets(size, -1);
  std::vector<std::uint8_t> present(size, 1);
  task.read(split, indices,
            {.length = static_cast<std::int64_t>(length),
             .ids = {keys, values},
             .reals = std::vector<std::span<float>>(2),
             .present = {present},
             .targets = targets});
  CHECK(std::ranges::count(present, 1) == static_cast<std::ptrdiff_t>(size));
  std::vector<Sequence> sequences;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto row = [&](const Ids& all) {
      return Ids(all.begin() + std::ptrdiff_t(i * length), all.begin() + std::ptrdiff_t((i + 1) * length));
    };
    sequences.push_back({row(keys), row(values), row(targets)});
  }
  return sequences;
}

json few(const json& changes = json::object()) {
  json all{{"length", 32}, {"pairs", 4}, {"keys", 12}, {"values", 8}, {"train", 900}, {"dev", 300}, {"test", 300}};
  all.update(changes);
  return all;
}

/// Returns the value of each key that has a value.
std::map<std::int64_t, std::int64_t> map_of(const Sequence& sequence) {
  std::map<std::int64_t, std::int64_t> values;
  for (std::size_t i = 0; i < sequence.keys.size(); ++i)
    if (sequence.values[i] > 0) CHECK(values.emplace(sequence.keys[i], sequence.values[i]).second);
  return values;
}

}  // namespace

TEST_CASE("the target of each query key is the value of that key's pair") {
  const TemporaryFolder cache;
  const auto task = load_task("lookup", few(), cache.path());
  const auto info = task->info();
  CHECK_FALSE(info.causal);
  CHECK(info.objective == Objective::kPositions);
  CHECK(info.classes == 8);
  CHECK(info.fields.size() == 2);
  CHECK(info.fields[0].vocabulary == 13);
  CHECK(info.fields[1].vocabulary == 9);
  for (const auto split : kSplits)
    for (const auto& sequence : read(*task, split)) {
      const auto values = map_of(sequence);
      CHECK(values.size() == 4);
      std::set<std::int64_t> different, asked;
      for (const auto& [key, value] : values) {
        CHECK((key >= 1 && key <= 12 && value >= 1 && value <= 8));
        different.insert(value);
      }
      CHECK(different.size() == 4);
      for (std::size_t i = 0; i < sequence.keys.size(); ++i) {
        const bool is_query = sequence.keys[i] > 0 && sequence.values[i] == 0;
        CHECK(sequence.targets[i] == (is_query ? values.at(sequence.keys[i]) - 1 : -1));
        if (is_query) CHECK(asked.insert(sequence.keys[i]).second);
      }
      CHECK(asked.size() == 4);
    }
}

TEST_CASE("pairs and queries are at any position, each position equally likely") {
  const TemporaryFolder cache;
  const auto task = load_task("lookup", few({{"train", 8000}}), cache.path());
  std::vector<double> pairs(32, 0), questions(32, 0);
  for (const auto& sequence : read(*task, Split::kTrain))
    for (std::size_t i = 0; i < 32; ++i) {
      pairs[i] += sequence.values[i] > 0 ? 1 : 0;
      questions[i] += sequence.targets[i] >= 0 ? 1 : 0;
    }
  const double expected = 8000.0 * 4 / 32, deviation = std::sqrt(expected * (1 - 4.0 / 32));
  for (std::size_t i = 0; i < 32; ++i) {
    INFO(i);
    CHECK(std::abs(pairs[i] - expected) < 4.5 * deviation);
    CHECK(std::abs(questions[i] - expected) < 4.5 * deviation);
  }
}

TEST_CASE("no list of pairs is in two splits of lookup, in any order, and another seed draws other lists") {
  const TemporaryFolder cache;
  // Lists of one pair (120 lists exist), and lists of two pairs of 4 keys and 6 values, in both orders.
  for (const json& sizes : {json{{"pairs", 1}, {"values", 10}}, json{{"pairs", 2}, {"keys", 4}, {"values", 6}}}) {
    auto another = sizes;
    another["data_seed"] = 1;
    const auto task = load_task("lookup", few(sizes), cache.path()), other = load_task("lookup", few(another), cache.path());
    std::map<std::map<std::int64_t, std::int64_t>, Split> split_of;
    for (const auto& each : {task.get(), other.get()})
      for (const auto split : kSplits)
        for (const auto& sequence : read(*each, split)) CHECK(split_of.emplace(map_of(sequence), split).first->second == split);
    CHECK((read(*task, Split::kTrain) != read(*other, Split::kTrain)));
    CHECK(task->digest() != other->digest());
  }
}

TEST_CASE("an example of lookup is a function of its index") {
  const TemporaryFolder cache;
  const auto task = load_task("lookup", few(), cache.path());
  const auto all = read(*task, Split::kDev);
  for (const std::int64_t index : {299, 7, 0}) CHECK((read(*task, Split::kDev, {index}).front() == all[std::size_t(index)]));
  CHECK_THROWS_AS(read(*task, Split::kDev, {0, 300}), std::out_of_range);
  CHECK_THROWS_AS(read(*task, Split::kDev, {-1}), std::out_of_range);
  CHECK(task->digest() == "lookup 1 32 4 12 8 0 900 300 300");
  const auto text = task->describe(Split::kDev, 0);
  for (std::size_t i = 0; i < 32; ++i) {
    const auto& [keys, values, targets] = all.front();
    const auto at = "@" + std::to_string(i), key = " " + std::to_string(keys[i] - 1);
    if (values[i] > 0) CHECK(text.find(key + ">" + std::to_string(values[i] - 1) + at) != std::string::npos);
    if (targets[i] >= 0) CHECK(text.find(key + at) != std::string::npos);
  }
}

TEST_CASE("all positions, keys and values of lookup may be used") {
  const TemporaryFolder cache;
  const auto task = load_task("lookup", few({{"length", 8}, {"keys", 4}, {"values", 4}}), cache.path());
  for (const auto& sequence : read(*task, Split::kTrain, {}, 8)) {
    CHECK(map_of(sequence).size() == 4);
    CHECK(std::ranges::count(sequence.keys, 0) == 0);
  }
}

TEST_CASE("wrong parameters of lookup are refused by name") {
  const TemporaryFolder cache;
  const auto message = [&](const json& changes) {
    return message_of([&] { make_task("lookup", few(changes), cache.path()); });
  };
  check_mentions(message({{"pairs", 17}, {"keys", 40}, {"values", 40}}), {"pairs = 17", "at most length / 2 = 16"});
  check_mentions(message({{"keys", 3}}), {"keys = 3", "at least pairs = 4"});
  check_mentions(message({{"values", 3}}), {"values = 3", "at least pairs = 4"});
  check_mentions(message({{"pairs", 1}, {"keys", 9}, {"values", 11}}), {"pairs = 1", "100 different lists"});
  CHECK_NOTHROW(make_task("lookup", few({{"pairs", 1}, {"keys", 10}, {"values", 10}}), cache.path()));
}
