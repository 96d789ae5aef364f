// Copying, selective copying and induction: the expected answer is found by a new search through the example.
#include <cmath>
#include <map>
#include <set>

#include "tests/plugins/positions.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

using Ids = std::vector<std::int64_t>;
constexpr Split kSplits[] = {Split::kTrain, Split::kDev, Split::kTest};
constexpr const char* kKinds[] = {"copying", "induction", "selective-copying"};

std::unique_ptr<Task> copy(const char* kind, const json& changes = json::object()) {
  static const TemporaryFolder cache;
  json all{{"kind", kind}};
  all.update(changes);
  return load_task("copy", all, cache.path());
}

std::int64_t asked(const Asked& example) {
  return std::ranges::count_if(example.targets, [](auto target) { return target >= 0; });
}

}  // namespace

TEST_CASE("after the end mark the targets are the string, and each input is the previous target") {
  const auto task = copy("copying");
  const auto info = task->info();
  CHECK((info.length == 64 && info.classes == 16 && info.causal && info.objective == Objective::kPositions));
  for (const auto split : kSplits)
    for (std::int64_t index = 0; index < 100; ++index) {
      const auto example = read_asked(*task, info, split, index);
      const auto& ids = example.ids;
      CHECK((ids.size() == 64 && ids[32] == 15 && std::ranges::count(ids, 15) == 1));
      CHECK(asked(example) == 32);
      for (std::size_t i = 0; i < 32; ++i) CHECK(example.targets[32 + i] == ids[i]);
      for (std::size_t i = 0; i < 31; ++i) CHECK(ids[33 + i] == ids[i]);
    }
}

TEST_CASE("the targets of the marks are the tokens without the blanks, in order; all places are equally likely") {
  const auto task = copy("selective-copying", {{"length", 40}, {"copied", 8}});
  const auto info = task->info();
  std::vector<double> at(32), of(16);
  std::set<Ids> places;
  constexpr int kExamples = 4000;
  for (std::int64_t index = 0; index < kExamples; ++index) {
    const auto example = read_asked(*task, info, Split::kTrain, index);
    Ids tokens, stand;
    for (std::size_t i = 0; i < 32; ++i) {
      CHECK((example.ids[i] >= 0 && example.ids[i] < 15));
      if (example.ids[i] == 0) continue;
      tokens.push_back(example.ids[i]);
      stand.push_back(static_cast<std::int64_t>(i));
      ++at[i], ++of[static_cast<std::size_t>(example.ids[i])];
    }
    CHECK(tokens == Ids(example.targets.end() - 8, example.targets.end()));
    CHECK(std::all_of(example.ids.begin() + 32, example.ids.end(), [](auto id) { return id == 15; }));
    CHECK(asked(example) == 8);
    places.insert(stand);
  }
  CHECK(places.size() > kExamples - 20);  // 10,518,300 sets are possible
  for (const auto count : at) CHECK(std::abs(count - kExamples / 4.0) < 5 * std::sqrt(kExamples / 4.0));
  for (std::size_t token = 1; token < 15; ++token)
    CHECK(std::abs(of[token] - kExamples * 8 / 14.0) < 5 * std::sqrt(kExamples * 8 / 14.0));
}

TEST_CASE("the last token has occurred once before, and its target is the token after that occurrence") {
  const auto task = copy("induction", {{"length", 32}});
  const auto info = task->info();
  std::vector<double> at(30);
  constexpr int kExamples = 6000;
  for (std::int64_t index = 0; index < kExamples; ++index) {
    const auto example = read_asked(*task, info, Split::kTrain, index);
    const auto& ids = example.ids;
    CHECK((std::ranges::count(ids, 15) == 2 && ids.back() == 15));
    const auto first = static_cast<std::size_t>(std::ranges::find(ids, 15) - ids.begin());
    REQUIRE(first < 30);  // another token follows
    ++at[first];
    CHECK((asked(example) == 1 && example.targets.back() == ids[first + 1]));
  }
  for (const auto count : at) CHECK(std::abs(count - kExamples / 30.0) < 5 * std::sqrt(kExamples / 30.0));
}

TEST_CASE("test sequences may be longer, several lengths take turns, and the length is the slice") {
  for (const char* kind : kKinds) {
    const auto task = copy(kind, {{"length", 40}, {"test_length", 160}});
    const auto info = task->info();
    CHECK((info.length == 160 && info.train_length == 40));
    for (std::int64_t index = 0; index < 30; ++index) {
      const auto example = read_asked(*task, info, Split::kTest, index);
      CHECK(std::ssize(example.ids) == std::vector{40, 80, 160}[static_cast<std::size_t>(index % 3)]);
      CHECK(example.slice == std::ssize(example.ids));
      CHECK(read_asked(*task, info, Split::kTrain, index).ids.size() == 40);
      CHECK(read_asked(*task, info, Split::kDev, index).ids.size() == 40);
    }
  }
}

TEST_CASE("copy: an example is a function of seed, split and index, and is in one split") {
  for (const char* kind : kKinds) {
    INFO(kind);
    const json few{{"length", 8}, {"vocabulary", 6}, {"copied", 3}};
    const auto task = copy(kind, few), same = copy(kind, few);
    auto seeded = few;
    seeded["data_seed"] = 1;
    const auto other = copy(kind, seeded);
    const auto info = task->info();
    std::map<Ids, Split> split_of;
    bool differs = false;
    for (const auto split : kSplits)
      for (std::int64_t index = 0; index < 300; ++index) {
        const auto example = read_asked(*task, info, split, index), theirs = read_asked(*other, info, split, index);
        CHECK(example == read_asked(*same, info, split, index));
        CHECK(split_of.emplace(example.ids, split).first->second == split);
        CHECK(split_of.emplace(theirs.ids, split).first->second == split);
        differs = differs || theirs != example;
      }
    CHECK(differs);
    CHECK_THROWS_AS(read_asked(*task, info, Split::kDev, 2000), std::out_of_range);
    CHECK_THROWS_AS(read_asked(*task, info, Split::kDev, -1), std::out_of_range);
  }
  CHECK(copy("copying", {{"length", 16}})->describe(Split::kTest, 0) == "6 7 9 11 0 7 9 5 15>6 6>7 7>9 9>11 11>0 0>7 7>9 9>5");
  CHECK(copy("selective-copying", {{"length", 16}, {"copied", 4}})->describe(Split::kTest, 0) ==
        "13 0 0 2 0 10 0 0 14 0 0 0 15>13 15>2 15>10 15>14");
  CHECK(copy("induction", {{"length", 16}})->describe(Split::kTest, 0) == "1 13 5 12 2 15 8 2 10 8 11 1 14 3 13 15>8");
}

TEST_CASE("every parameter that changes examples of copy changes the digest") {
  std::set<std::string> digests;
  const std::vector<json> all{json::object(), {{"vocabulary", 8}}, {{"length", 64}}, {{"test_length", 512}}, {{"copied", 8}},
                              {{"train", 7}}, {{"dev", 7}},        {{"test", 7}},    {{"data_seed", 5}}};
  for (const auto& changes : all) digests.insert(copy("selective-copying", changes)->digest());
  for (const char* kind : {"copying", "induction"}) digests.insert(copy(kind)->digest());
  CHECK(digests.size() == all.size() + 2);
  CHECK(copy("copying", {{"length", 64}})->digest() == copy("copying")->digest());
  CHECK(copy("copying")->digest() == "copy 1 copying 16 16 64 64 100000 2000 2000 0");
}

TEST_CASE("wrong parameters of copy are refused by name") {
  const auto message = [](const char* kind, const json& changes) { return message_of([&] { copy(kind, changes); }); };
  check_mentions(message("copying", {{"length", 7}}), {"length = 7", "even"});
  check_mentions(message("selective-copying", {{"length", 32}}), {"length = 32, expected more than twice copied = 16"});
  check_mentions(message("selective-copying", {{"copied", 200}}), {"copied = 200, expected less than half of length = 256"});
  check_mentions(message("selective-copying", {{"vocabulary", 3}}), {"vocabulary = 3", "at least 4"});
  check_mentions(message("induction", {{"length", 2}}), {"length = 2", "at least 3"});
  check_mentions(message("induction", {{"test_length", 500}}), {"test_length = 500", "length = 256"});
  check_mentions(message("induction", {{"test_length", 128}}), {"test_length = 128", "length = 256"});
  check_mentions(message("copying", {{"length", 2}, {"vocabulary", 3}}), {"length = 2", "vocabulary = 3", "three splits"});
}
