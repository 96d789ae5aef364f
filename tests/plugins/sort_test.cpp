// The sort task: answers agree with counts of the symbols, and `leading` is the share of right answers before the first error.
#include <cmath>
#include <map>
#include <set>

#include "tests/plugins/task.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

constexpr std::int64_t kLength = 64, kSymbols = 6, kTokens = kLength - kSymbols;

using Ids = std::vector<std::int64_t>;

struct Sorted {
  Ids ids, targets;
  bool operator==(const Sorted&) const = default;
  Ids order() const { return {targets.begin() + kTokens, targets.end()}; }
};

Sorted read(const Task& task, Split split, std::int64_t index) {
  Ids ids(kLength, 0), targets(kLength, -1);
  std::vector<std::uint8_t> present(kLength, 1);
  task.read(
      split, std::span(&index, 1),
      {.length = kLength, .ids = {ids}, .reals = std::vector<std::span<float>>(1), .present = {present}, .targets = targets});
  CHECK(std::ranges::count(present, 1) == kLength);
  return {ids, targets};
}

json small(const json& changes = json::object()) {
  json all{{"length", kLength}, {"symbols", kSymbols}, {"train", 300}, {"dev", 50}, {"test", 50}};
  all.update(changes);
  return all;
}

}  // namespace

TEST_CASE("the answer has the symbols by frequency, ties by first position") {
  const TemporaryFolder cache;
  const auto task = load_task("sort", small(), cache.path());
  const auto info = task->info();
  CHECK((info.causal && info.objective == Objective::kPositions && info.length == kLength && info.classes == kSymbols));
  bool tied = false;
  for (std::int64_t index = 0; index < 300; ++index) {
    const auto [ids, targets] = read(*task, Split::kTrain, index);
    std::map<std::int64_t, std::int64_t> count, first;
    for (std::int64_t i = kTokens; i-- > 0;) ++count[ids[i]], first[ids[i]] = i;
    CHECK(ids[kTokens] == kSymbols);  // the separator
    for (std::int64_t i = 0; i < kTokens; ++i) CHECK(targets[i] == -1);
    for (std::int64_t rank = 0; rank + 1 < kSymbols; ++rank) {
      const auto here = targets[kTokens + rank], next = targets[kTokens + rank + 1];
      CHECK(ids[kTokens + rank + 1] == here);
      CHECK(count[here] >= count[next]);
      if (count[here] != count[next] || count[here] == 0) continue;
      tied = true;
      CHECK(first[here] < first[next]);
    }
    const auto order = Sorted{ids, targets}.order();
    CHECK(std::set(order.begin(), order.end()).size() == kSymbols);
  }
  CHECK(tied);
}

TEST_CASE("frequencies drift: the halves of a sequence differ more than draws of one mixture") {
  const TemporaryFolder cache;
  const auto task = load_task("sort", small(), cache.path());
  double apart = 0;
  for (std::int64_t index = 0; index < 300; ++index) {
    const auto ids = read(*task, Split::kTrain, index).ids;
    std::map<std::int64_t, double> drift;
    for (std::int64_t i = 0; i < kTokens; ++i) drift[ids[i]] += i < kTokens / 2 ? 1 : -1;
    for (const auto& [symbol, difference] : drift) apart += difference * difference;
  }
  // If both halves had the same distribution, the expected sum of squares would be at most the number of tokens.
  CHECK(apart / 300 > 1.5 * kTokens);
}

TEST_CASE("published shares are integer weights from 1 to 9, divided by their sum, and drift from first to second shares") {
  const TemporaryFolder cache;
  constexpr std::int64_t kLong = 6002, kPart = 300;  // sequences of two symbols
  const auto length = static_cast<std::size_t>(kLong);
  for (const bool published : {false, true}) {
    const auto task =
        load_task("sort", {{"length", kLong}, {"symbols", 2}, {"train", 400}, {"shares", published ? "published" : "uniform"}},
                  cache.path());
    double squares = 0, rare = 0, bent = 0;
    for (std::int64_t index = 0; index < 400; ++index) {
      std::vector<std::int64_t> ids(length), targets(length);
      std::vector<std::uint8_t> present(length);
      task->read(Split::kTrain, std::span(&index, 1),
                 {.length = kLong, .ids = {ids}, .reals = {{}}, .present = {present}, .targets = targets});
      const auto share = [&](std::int64_t first) {
        return static_cast<double>(std::count(ids.begin() + first, ids.begin() + first + kPart, 0)) / kPart;
      };
      const auto early = share(0), middle = share(3000 - kPart / 2), late = share(6000 - kPart);
      for (const auto part : {early, late}) squares += (part - 0.5) * (part - 0.5), rare += part < 0.05 || part > 0.95 ? 1 : 0;
      bent += middle - (early + late) / 2;
    }
    // Variance of a / (a + b) over all 81 pairs of weights, or of a uniform number, plus the noise of 300 tokens.
    double expected = published ? 0 : 1.0 / 12;
    for (double a = 1; published && a < 10; ++a)
      for (double b = 1; b < 10; ++b) expected += (a / (a + b) - 0.5) * (a / (a + b) - 0.5) / 81;
    expected += (0.25 - expected) / kPart;
    CHECK(squares / 800 == Approx(expected).epsilon(0.13));
    CHECK((published ? rare <= 2 : rare > 40));
    CHECK(std::abs(bent / 400) < 0.01);
  }
  const auto task = load_task("sort", small({{"shares", "published"}}), cache.path());
  CHECK(task->digest() != load_task("sort", small(), cache.path())->digest());
  CHECK(task->describe(Split::kTest, 0).substr(0, 24) == "3 4 1 4 4 3 1 1 5 1 5 1 ");  // equal on every machine
}

TEST_CASE("an example is a function of seed, split and index") {
  const TemporaryFolder cache;
  const auto task = load_task("sort", small(), cache.path()), same = load_task("sort", small(), cache.path()),
             other = load_task("sort", small({{"data_seed", 1}}), cache.path());
  CHECK(task->digest() == same->digest());
  CHECK(task->digest() != other->digest());
  CHECK(read(*task, Split::kDev, 7) == read(*same, Split::kDev, 7));
  CHECK_FALSE(read(*task, Split::kDev, 7) == read(*task, Split::kTest, 7));
  CHECK_FALSE(read(*task, Split::kDev, 7) == read(*other, Split::kDev, 7));
  CHECK_THROWS_AS(read(*task, Split::kDev, 50), std::out_of_range);
  CHECK(task->digest() == "sort 1 64 6 0 300 50 50");
  // Equal on every machine: an example from the time when the task was written.
  CHECK(task->describe(Split::kTest, 0).substr(0, 24) == "2 5 2 2 2 0 5 3 3 5 1 3 ");
}

TEST_CASE("the metric leading is the share of right answers before the first error") {
  const TemporaryFolder cache;
  const auto task = load_task("sort", small(), cache.path());
  REQUIRE(task->info().metrics.size() == 1);
  CHECK(task->info().metrics.front().name == "leading");
  auto answers = read(*task, Split::kDev, 3).targets;
  const auto leading = [&] {
    double value = -1;
    task->judge(Split::kDev, 3, answers, std::span(&value, 1));
    return value;
  };
  CHECK(leading() == Approx(100));
  std::swap(answers[kTokens + 2], answers[kTokens + 3]);
  CHECK(leading() == Approx(100.0 * 2 / kSymbols));
  answers[kTokens] = answers[kTokens + 1];
  CHECK(leading() == 0);
}

TEST_CASE("a length that is too short for a sequence is refused by name") {
  const TemporaryFolder cache;
  check_mentions(message_of([&] {
                   make_task("sort", small({{"symbols", 50}}), cache.path());
                 }),
                 {"length = 64, expected at least 66", "50 symbols"});
}
