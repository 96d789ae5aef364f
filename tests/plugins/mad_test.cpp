// The six tasks of MAD: each example contains its answers, or all examples share a map that gives the answers.
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

Asked read(Task& task, Split split, std::int64_t index) { return read_asked(task, task.info(), split, index); }

std::unique_ptr<Task> mad(const char* kind, const json& changes = json::object()) {
  static const TemporaryFolder cache;
  json all{{"kind", kind}};
  all.update(changes);
  return load_task("mad", all, cache.path());
}

std::int64_t asked(const Asked& example) {
  return std::ranges::count_if(example.targets, [](auto target) { return target >= 0; });
}

/// Returns the latest values after each motif of keys. Ids below `keys` are keys, and ids from `keys` to `end` are values.
std::map<Ids, Ids> answers_of(const Ids& ids, std::int64_t keys, std::int64_t end, std::size_t before) {
  std::map<Ids, Ids> all;
  Ids key, value;
  for (std::size_t i = 0; i < before; ++i) {
    if (ids[i] < keys && !value.empty()) all[key] = value, key.clear(), value.clear();
    if (ids[i] < keys) key.push_back(ids[i]);
    if (ids[i] >= keys && ids[i] < end) value.push_back(ids[i]);
  }
  if (!value.empty()) all[key] = value;
  return all;
}

}  // namespace

TEST_CASE("default sizes are the published sizes") {
  for (const auto& [kind, vocabulary, length, train] :
       std::vector<std::tuple<const char*, std::int64_t, std::int64_t, std::int64_t>>{{"compression", 16, 32, 12800},
                                                                                      {"fuzzy-recall", 16, 128, 12800},
                                                                                      {"in-context-recall", 16, 128, 12800},
                                                                                      {"memorization", 256, 32, 256},
                                                                                      {"noisy-recall", 32, 128, 12800},
                                                                                      {"selective-copying", 16, 256, 12800}}) {
    INFO(kind);
    const auto task = mad(kind);
    const auto info = task->info();
    CHECK((info.classes == vocabulary && info.length == length && info.causal));
    CHECK((info.objective == Objective::kDecoded) == (std::string(kind) == "compression"));
    CHECK(task->size(Split::kTrain) == train);
    CHECK(mad(kind, {{"length", 64}, {"train", 5}})->size(Split::kTrain) == 5);
  }
}

TEST_CASE("recall has a target for each key that occurred before: its value") {
  for (const bool noisy : {false, true}) {
    const auto task = mad(noisy ? "noisy-recall" : "in-context-recall");
    const std::int64_t keys = 8, ids_end = 16;
    double noise = 0, pairs = 0;
    for (const auto split : kSplits)
      for (std::int64_t index = 0; index < 50; ++index) {
        const auto example = read(*task, split, index);
        std::map<std::int64_t, std::int64_t> value;
        for (std::size_t i = 0; i < example.ids.size(); i += 2) {
          const auto key = example.ids[i], next = example.ids[i + 1];
          CHECK(example.targets[i + 1] == -1);
          noise += key >= ids_end ? 1 : 0, ++pairs;
          CHECK((key >= ids_end) == (next >= ids_end));
          if (key >= ids_end) continue;
          CHECK((key < keys && next >= keys));
          CHECK(example.targets[i] == (value.contains(key) ? value[key] : -1));
          CHECK(value.try_emplace(key, next).first->second == next);
        }
        CHECK(example.targets[example.ids.size() - 2] >= 0);  // the last query always has a target
      }
    CHECK(noise / pairs == Approx(noisy ? 0.2 : 0).margin(0.02));
  }
}

TEST_CASE("fuzzy recall has targets for every token of the value of a motif that occurred before") {
  const auto task = mad("fuzzy-recall"), published = mad("fuzzy-recall", {{"protocol", "published"}});
  std::set<std::size_t> sizes;
  for (std::int64_t index = 0; index < 100; ++index) {
    const auto [ids, targets, slice] = read(*task, Split::kTest, index);
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const bool value_next = ids[i + 1] >= 7 && ids[i + 1] < 15, begins = value_next && ids[i] < 7;
      if (targets[i] >= 0) CHECK(targets[i] == ids[i + 1]);
      if (targets[i] >= 0) CHECK(value_next);
      if (!begins) continue;
      Ids key;
      for (auto k = i + 1; k-- > 0 && ids[k] < 7;) key.insert(key.begin(), ids[k]);
      sizes.insert(key.size());
      CHECK((targets[i] >= 0) == answers_of(ids, 7, 15, i + 1 - key.size()).contains(key));
    }
    CHECK(targets[ids.size() - 2] >= 0);
    const auto long_ones = read(*published, Split::kTest, index).ids;
    for (const auto& [key, value] : answers_of(long_ones, 7, 15, long_ones.size())) CHECK(key.size() == 3);
  }
  CHECK(sizes == std::set<std::size_t>{1, 2, 3});
}

TEST_CASE("all splits of memorization share one map without repeated values") {
  const auto task = mad("memorization"), other = mad("memorization", {{"data_seed", 1}});
  std::map<std::int64_t, std::int64_t> value;
  std::set<std::int64_t> values;
  bool differs = false;
  for (const auto split : kSplits)
    for (std::int64_t index = 0; index < 256; ++index) {
      const auto [ids, targets, slice] = read(*task, split, index);
      for (std::size_t i = 0; i < ids.size(); i += 2) {
        CHECK((ids[i] < 127 && ids[i + 1] == 255 && targets[i] == -1));
        CHECK(value.try_emplace(ids[i], targets[i + 1]).first->second == targets[i + 1]);
        values.insert(targets[i + 1]);
      }
      const auto theirs = read(*other, split, index);
      for (std::size_t i = 0; i < ids.size(); i += 2)
        differs = differs || (value.contains(theirs.ids[i]) && value[theirs.ids[i]] != theirs.targets[i + 1]);
    }
  CHECK((value.size() == 127 && values.size() == 127));
  CHECK(differs);
}

TEST_CASE("compression has targets for all tokens except the constant token, and the published form also for that token") {
  const auto ours = read(*mad("compression"), Split::kDev, 0),
             published = read(*mad("compression", {{"protocol", "published"}}), Split::kDev, 0);
  CHECK((ours.ids == published.ids && ours.ids.back() == 15));
  CHECK((asked(ours) == 31 && asked(published) == 32));
  for (std::size_t i = 0; i + 1 < ours.ids.size(); ++i) CHECK((ours.targets[i] == ours.ids[i] && ours.ids[i] < 15));
}

TEST_CASE("selective copying has the tokens without the blanks as targets, in order") {
  const auto task = mad("selective-copying");
  for (std::int64_t index = 0; index < 50; ++index) {
    const auto [ids, targets, slice] = read(*task, Split::kTrain, index);
    Ids tokens;
    for (std::size_t i = 0; i < 239; ++i)
      if (ids[i] != 14) tokens.push_back(ids[i]);
    CHECK(tokens == Ids(targets.end() - 16, targets.end()));
    CHECK((ids[239] == 15 && asked({ids, targets}) == 16));
  }
}

TEST_CASE("in the published form, each blank of selective copying stands before each token with equal probability") {
  const auto task = mad("selective-copying", {{"protocol", "published"}});
  constexpr double kExamples = 2000, kBlanks = 223, kTokens = 16;
  std::vector<double> blanks(16), squares(16);
  for (std::int64_t index = 0; index < static_cast<std::int64_t>(kExamples); ++index) {
    const auto [ids, targets, slice] = read(*task, Split::kTrain, index);
    Ids tokens, before(1, 0);
    for (std::size_t i = 0; i < 239; ++i)
      if (ids[i] == 14)
        ++before.back();
      else
        tokens.push_back(ids[i]), before.push_back(0);
    CHECK(tokens == Ids(targets.end() - 16, targets.end()));
    CHECK((ids[239] == 15 && asked({ids, targets}) == 16));
    REQUIRE((before.size() == 17 && before.back() == 0));
    for (std::size_t i = 0; i < 16; ++i) {
      const auto apart = static_cast<double>(before[i]) - kBlanks / kTokens;
      blanks[i] += apart, squares[i] += apart * apart;
    }
  }
  // The number of blanks before a token is binomial. If blanks were at arbitrary positions, it would vary 13 times as much.
  constexpr double kVariance = kBlanks / kTokens * (1 - 1 / kTokens);
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(std::abs(blanks[i]) < 5 * std::sqrt(kExamples * kVariance));
    CHECK(squares[i] / kExamples == Approx(kVariance).epsilon(0.2));
  }
  CHECK(task->digest() != mad("selective-copying")->digest());
}

TEST_CASE("the published protocol trains recall on every next token; other tasks have only answers as targets") {
  for (const char* kind : {"in-context-recall", "noisy-recall", "fuzzy-recall"}) {
    const auto task = mad(kind, {{"protocol", "published"}});
    const auto example = read(*task, Split::kTrain, 0);
    CHECK(asked(example) == 127);
    for (std::size_t i = 0; i < 127; ++i) CHECK(example.targets[i] == example.ids[i + 1]);
    CHECK(asked(read(*task, Split::kDev, 0)) < 127);
  }
}

TEST_CASE("mad: an example is a function of seed, split and index, and is in one split") {
  for (const char* kind : {"compression", "in-context-recall", "memorization", "selective-copying"}) {
    const auto task = mad(kind, {{"length", 40}}), same = mad(kind, {{"length", 40}});
    std::map<Ids, Split> split_of;
    for (const auto split : kSplits)
      for (std::int64_t index = 0; index < 100; ++index) {
        const auto example = read(*task, split, index);
        CHECK(example == read(*same, split, index));
        CHECK(split_of.emplace(example.ids, split).first->second == split);
      }
    CHECK_THROWS_AS(read(*task, Split::kDev, 1280), std::out_of_range);
  }
  CHECK(mad("in-context-recall")->digest() == "mad 1 in-context-recall answers 16 128 16 12800 1280 1280 0.200000 0");
  CHECK(mad("compression")->describe(Split::kTest, 0) ==
        "10>10 3>3 10>10 7>7 10>10 8>8 5>5 13>13 13>13 4>4 10>10 5>5 3>3 10>10 6>6 7>7 10>10 1>1 10>10 6>6 2>2 13>13 7>7 11>11 "
        "9>9 6>6 6>6 0>0 6>6 13>13 8>8 15");
}

TEST_CASE("wrong parameters of mad are refused by name") {
  const TemporaryFolder cache;
  const auto message = [&](const char* kind, json changes) {
    changes["kind"] = kind;
    return message_of([&] { make_task("mad", changes, cache.path()); });
  };
  check_mentions(message("in-context-recall", {{"length", 7}}), {"length = 7", "even"});
  check_mentions(message("noisy-recall", {{"vocabulary", 4}}), {"vocabulary = 4", "noise"});
  check_mentions(message("selective-copying", {{"copied", 200}}), {"copied = 200, expected less than half of length = 256"});
  check_mentions(message("selective-copying", {{"length", 32}}), {"length = 32, expected more than twice copied = 16"});
  check_mentions(message("fuzzy-recall", {{"length", 8}}), {"length = 8"});
  check_mentions(message("compression", {{"vocabulary", 3}, {"length", 2}}),
                 {"length = 2", "vocabulary = 3", "three splits", "expected more"});
}
