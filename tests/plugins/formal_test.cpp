// Words and their values: the value of each prefix is computed anew, by matrices, by sums, and by a grammar of expressions.
#include <map>
#include <numeric>
#include <set>

#include "tests/plugins/positions.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

using Ids = std::vector<std::int64_t>;
using Matrix = std::vector<Ids>;  // [5][5]
constexpr Split kSplits[] = {Split::kTrain, Split::kDev, Split::kTest};
constexpr const char* kKinds[] = {"parity", "modular-arithmetic", "s5", "a5", "z60"};

std::unique_ptr<Task> formal(const char* kind, const json& changes = json::object()) {
  static const TemporaryFolder cache;
  json all{{"kind", kind}};
  all.update(changes);
  return load_task("formal", all, cache.path());
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(5, Ids(5, 0));
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t k = 0; k < 5; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

/// Computes the determinant by expansion along the first row.
std::int64_t determinant(const Matrix& m) {
  if (m.size() == 1) return m[0][0];
  std::int64_t sum = 0;
  for (std::size_t j = 0; j < m.size(); ++j) {
    Matrix rest;
    for (std::size_t i = 1; i < m.size(); ++i) {
      rest.push_back(m[i]);
      rest.back().erase(rest.back().begin() + static_cast<std::ptrdiff_t>(j));
    }
    sum += (j % 2 == 0 ? 1 : -1) * m[0][j] * determinant(rest);
  }
  return sum;
}

/// Returns the permutations of five elements as matrices, in lexicographic order. Row i has its 1 at the image of i.
std::vector<Matrix> permutations(bool even_alone) {
  std::vector<Matrix> all;
  for (std::int64_t number = 0; number < 5 * 5 * 5 * 5 * 5; ++number) {
    Matrix matrix(5, Ids(5, 0));
    std::set<std::int64_t> sent;
    for (std::int64_t i = 4, rest = number; i >= 0; --i, rest /= 5) {
      matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(rest % 5)] = 1;
      sent.insert(rest % 5);
    }
    if (sent.size() == 5 && (!even_alone || determinant(matrix) == 1)) all.push_back(matrix);
  }
  return all;
}

/// Evaluates sum := product { (+ | -) product }, product := number { * number }, modulo `modulus`.
std::int64_t value_of(const Ids& ids, std::int64_t modulus) {
  std::size_t at = 0;
  const auto product = [&] {
    std::int64_t value = ids[at++];
    while (at < ids.size() && ids[at] == modulus + 2) {
      ++at;
      value = value * ids[at++] % modulus;
    }
    return value;
  };
  std::int64_t sum = product();
  while (at < ids.size()) {
    const bool plus = ids[at++] == modulus;
    sum += plus ? product() : -product();
  }
  return (sum % modulus + modulus) % modulus;
}

/// Returns the value of each prefix, without optimisation, or -1 if the prefix is not an expression.
Ids values_of(const std::string& kind, const Ids& ids) {
  static const std::map<std::string, std::vector<Matrix>> groups{{"s5", permutations(false)}, {"a5", permutations(true)}};
  Ids values;
  for (std::size_t end = 1; end <= ids.size(); ++end) {
    const Ids part(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(end));
    if (kind == "modular-arithmetic") {
      const bool is_number = part.back() < 5, is_end = part.back() == 8;
      values.push_back(is_number || is_end ? value_of(is_end ? Ids(part.begin(), part.end() - 1) : part, 5) : -1);
    } else if (groups.contains(kind)) {
      const auto& group = groups.at(kind);
      Matrix all = group.front();
      for (const auto id : part) all = product(all, group[static_cast<std::size_t>(id)]);
      values.push_back(std::ranges::find(group, all) - group.begin());
    } else {
      values.push_back(std::accumulate(part.begin(), part.end(), std::int64_t{0}) % (kind == "z60" ? 60 : 2));
    }
  }
  return values;
}

}  // namespace

TEST_CASE("every prefix of a word has the value that the test computes anew") {
  for (const std::string kind : kKinds) {
    INFO(kind);
    const auto task = formal(kind.c_str(), {{"asked", "every"}, {"test_longest", 64}}),
               last = formal(kind.c_str(), {{"asked", "last"}, {"test_longest", 64}});
    const auto info = task->info();
    for (const auto split : kSplits)
      for (std::int64_t index = 0; index < 60; ++index) {
        const auto word = read_asked(*task, info, split, index);
        CHECK(word.targets == values_of(kind, word.ids));
        auto whole = read_asked(*last, info, split, index);
        CHECK(whole.ids == word.ids);
        CHECK(whole.targets.back() == word.targets.back());
        CHECK(std::count(whole.targets.begin(), whole.targets.end(), -1) == std::ssize(whole.ids) - 1);
      }
  }
}

TEST_CASE("symbols, classes and targets follow the kind") {
  const std::map<std::string, std::pair<std::int64_t, std::int64_t>> of_kind{
      {"parity", {2, 2}}, {"modular-arithmetic", {9, 5}}, {"s5", {120, 120}}, {"a5", {60, 60}}, {"z60", {60, 60}}};
  for (const auto& [kind, sizes] : of_kind) {
    INFO(kind);
    const auto task = formal(kind.c_str());
    const auto info = task->info();
    CHECK((info.fields.front().vocabulary == sizes.first && info.classes == sizes.second));
    CHECK((info.length == 256 && info.train_length == 40 && info.causal));
    CHECK(info.objective == Objective::kPositions);
    CHECK(info.slices == std::vector<std::string>{"length"});
    const auto word = read_asked(*task, info, Split::kTest, 0);
    CHECK((word.targets.front() >= 0) == (sizes.second >= 60));  // in words of a group, every token has a label
  }
  CHECK(formal("modular-arithmetic", {{"modulus", 7}})->info().classes == 7);
}

TEST_CASE("each length is equally likely, short in train and dev, long in test, and the length is a slice") {
  const auto task = formal("parity"), published = formal("parity", {{"dev_lengths", "test"}});
  const auto info = task->info();
  std::map<std::int64_t, std::int64_t> lengths, slices;
  for (std::int64_t index = 0; index < 19000; ++index) ++lengths[std::ssize(read_asked(*task, info, Split::kTrain, index).ids)];
  CHECK((lengths.begin()->first == 3 && lengths.rbegin()->first == 40 && lengths.size() == 38));
  for (const auto& [length, count] : lengths) CHECK(std::abs(static_cast<double>(count) - 500) < 5 * std::sqrt(500));
  for (std::int64_t index = 0; index < 500; ++index) {
    const auto dev = std::ssize(read_asked(*task, info, Split::kDev, index).ids);
    CHECK((dev >= 3 && dev <= 40));
    CHECK(read_asked(*published, info, Split::kDev, index).ids.size() >= 40);
    const auto word = read_asked(*task, info, Split::kTest, index);
    const auto length = std::ssize(word.ids);
    CHECK((length >= 40 && length <= 256));
    CHECK(word.slice == (length < 80 ? 40 : length < 160 ? 80 : 160));
    ++slices[word.slice];
  }
  CHECK(slices.size() == 3);
  for (std::int64_t index = 0; index < 100; ++index)
    CHECK(read_asked(*formal("modular-arithmetic", {{"shortest", 7}, {"longest", 13}}), info, Split::kTrain, index).ids.size() %
              2 ==
          0);
}

TEST_CASE("all symbols and all values are equally likely in the words of a group") {
  for (const char* kind : {"parity", "a5", "z60"}) {
    const auto task = formal(kind, {{"asked", "every"}, {"shortest", 20}});
    const auto info = task->info();
    std::vector<double> ids(static_cast<std::size_t>(info.classes)), values(ids.size());
    double all = 0;
    for (std::int64_t index = 0; index < 2000; ++index) {
      const auto word = read_asked(*task, info, Split::kTrain, index);
      for (const auto id : word.ids) ++ids[static_cast<std::size_t>(id)], ++all;
      for (const auto value : word.targets) ++values[static_cast<std::size_t>(value)];
    }
    const double share = 1 / static_cast<double>(info.classes), deviation = std::sqrt(all * share);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      CHECK(std::abs(ids[i] - all * share) < 5 * deviation);
      CHECK(std::abs(values[i] - all * share) < 5 * deviation);
    }
  }
}

TEST_CASE("signs are equally likely, and are between numbers") {
  const auto task = formal("modular-arithmetic");
  const auto info = task->info();
  std::map<std::int64_t, double> signs;
  double all = 0;
  for (std::int64_t index = 0; index < 1000; ++index) {
    const auto [ids, targets, slice] = read_asked(*task, info, Split::kTrain, index);
    CHECK((ids.size() % 2 == 0 && ids.back() == 8));
    for (std::size_t i = 0; i < ids.size(); ++i) CHECK((ids[i] < 5) == (i % 2 == 0));
    for (std::size_t i = 1; i + 1 < ids.size(); i += 2) ++signs[ids[i]], ++all;
  }
  CHECK(signs.size() == 3);
  for (const auto& [sign, count] : signs) CHECK(std::abs(count - all / 3) < 5 * std::sqrt(all / 3));
}

TEST_CASE("a word is a function of seed, split and index, and is in one split, even if it is short") {
  for (const char* kind : kKinds) {
    INFO(kind);
    const json sizes{{"test_shortest", 3}, {"test_longest", 10}, {"longest", 10}};
    const auto task = formal(kind, sizes), same = formal(kind, sizes);
    auto seeded = sizes;
    seeded["data_seed"] = 1;
    const auto other = formal(kind, seeded);
    const auto info = task->info();
    std::map<Ids, Split> split_of;
    bool differs = false;
    for (const auto split : kSplits)
      for (std::int64_t index = 0; index < 300; ++index) {
        const auto word = read_asked(*task, info, split, index);
        CHECK(word == read_asked(*same, info, split, index));
        CHECK(split_of.emplace(word.ids, split).first->second == split);
        const auto theirs = read_asked(*other, info, split, index);
        CHECK(split_of.emplace(theirs.ids, split).first->second == split);
        differs = differs || theirs != word;
      }
    CHECK(differs);
    CHECK(task->digest() == same->digest());
    CHECK(task->digest() != other->digest());
    CHECK_THROWS_AS(read_asked(*task, info, Split::kDev, 2000), std::out_of_range);
    CHECK_THROWS_AS(read_asked(*task, info, Split::kDev, -1), std::out_of_range);
  }
}

TEST_CASE("every parameter that changes words or targets changes the digest") {
  std::set<std::string> digests;
  const std::vector<json> all{json::object(),          {{"asked", "every"}},      {{"shortest", 4}}, {{"longest", 39}},
                              {{"test_shortest", 41}}, {{"test_longest", 255}},   {{"train", 7}},    {{"dev", 7}},
                              {{"test", 7}},           {{"dev_lengths", "test"}}, {{"data_seed", 5}}};
  for (const auto& changes : all) digests.insert(formal("parity", changes)->digest());
  for (const char* kind : {"modular-arithmetic", "s5", "a5", "z60"}) digests.insert(formal(kind)->digest());
  digests.insert(formal("modular-arithmetic", {{"modulus", 7}})->digest());
  CHECK(digests.size() == all.size() + 5);
  CHECK(formal("parity")->digest() == "formal 1 parity last 100000 of 3..40 2000 of 3..40 4000 of 40..256 2 0");
}

TEST_CASE("words are the same on every machine, and describe() writes them readably") {
  CHECK(formal("parity")->describe(Split::kDev, 0) ==
        "1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 0 0 0 1 1 1 0 1 1 1 1 1 1 1 1 0 1 1 0 1 0 0 0 1 1>0");
  CHECK(formal("modular-arithmetic", {{"longest", 12}})->describe(Split::kTrain, 0) == "4 * 1 =>4");
  CHECK(formal("s5", {{"longest", 5}})->describe(Split::kTrain, 0) == "14352>14352 53214>51243 53421>15324");
}

TEST_CASE("wrong parameters of formal are refused by name") {
  const auto message = [](const char* kind, const json& changes) { return message_of([&] { formal(kind, changes); }); };
  // The message begins with the parameter that the study must change, never with a default.
  const auto begins = [&](const json& changes, const std::string& text) {
    CHECK(message("parity", changes).starts_with(text));
  };
  begins({{"shortest", 41}}, "shortest = 41, expected at most longest = 40");
  begins({{"longest", 2}}, "longest = 2, expected at least shortest = 3");
  begins({{"test_shortest", 300}}, "test_shortest = 300, expected at most test_longest = 256");
  begins({{"test_longest", 20}}, "test_longest = 20, expected at least test_shortest = 40");
  begins({{"test_longest", 20}, {"test_shortest", 30}}, "test_longest = 20, expected at least test_shortest = 30");
  check_mentions(message("modular-arithmetic", {{"shortest", 5}, {"longest", 5}}), {"shortest = 5", "an even number between"});
  check_mentions(message("parity", {{"shortest", 1}, {"test_shortest", 1}}), {"shortest = 1", "too few words"});
}
