// The listops plugin through its contract: generated, cached and loaded data.
#include <sys/stat.h>

#include <map>
#include <numeric>
#include <set>

#include "tests/plugins/task.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

const json kSmall = {{"train", 600}, {"dev", 100}, {"test", 100}};
const json kShort = {{"train", 3000}, {"dev", 200}, {"test", 200}, {"min_length", 10}, {"max_length", 60}};

/// Evaluates by grammar and definition, independent of the plugin's evaluator: recursive, with medians by sorting.
int evaluate(const std::vector<std::int64_t>& ids, std::size_t& at) {
  const auto id = ids.at(at++);
  if (id <= 10) return static_cast<int>(id) - 1;
  std::vector<int> values;
  while (ids.at(at) != 15) values.push_back(evaluate(ids, at));
  ++at;
  if (id == 11) return *std::min_element(values.begin(), values.end());
  if (id == 12) return *std::max_element(values.begin(), values.end());
  if (id == 14) return std::accumulate(values.begin(), values.end(), 0) % 10;
  std::multiset<int> sorted(values.begin(), values.end());
  const auto n = values.size();
  const double median = (*std::next(sorted.begin(), (n - 1) / 2) + *std::next(sorted.begin(), n / 2)) / 2.0;
  return static_cast<int>(median);
}

std::vector<Example> all_examples(Task& task) {
  std::vector<Example> all;
  for (const auto split : {Split::kTrain, Split::kDev, Split::kTest})
    for (auto& example : read_examples(task, split)) all.push_back(std::move(example));
  return all;
}

fs::path only_file(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  REQUIRE(files.size() == 1);
  return files[0];
}

}  // namespace

TEST_CASE("generated expressions: lengths, arguments, depth, answers, all different") {
  TemporaryFolder cache;
  const bool is_short = GENERATE(false, true);
  const auto task = load_task("listops", is_short ? kShort : kSmall, cache.path());
  const auto info = task->info();
  CHECK(info.fields.at(0).vocabulary == 16);
  CHECK(info.classes == 10);
  CHECK(info.length == (is_short ? 60 : 2000));
  std::set<std::vector<std::int64_t>> seen;
  std::map<std::int64_t, int> symbols, labels;
  const auto examples = all_examples(*task);
  REQUIRE(examples.size() == (is_short ? 3400 : 800));
  double mean_length = 0;
  for (const auto& example : examples) {
    const auto& ids = example.ids;
    REQUIRE(ids.size() > (is_short ? 10 : 500));
    REQUIRE(ids.size() < (is_short ? 60 : 2000));
    std::size_t end = 0;
    REQUIRE(evaluate(ids, end) == example.label);
    REQUIRE(end == ids.size());
    std::vector<int> arguments;
    for (const auto id : ids) {
      ++symbols[id];
      if (id <= 14 && !arguments.empty()) ++arguments.back();
      if (id >= 11 && id <= 14) {
        arguments.push_back(0);
        REQUIRE(arguments.size() <= 9);  // operators at depths 1 to 9, digits at 10
      } else if (id == 15) {
        REQUIRE(arguments.back() >= 2);
        REQUIRE(arguments.back() <= 10);
        arguments.pop_back();
      }
    }
    seen.insert(ids);
    ++labels[example.label];
    mean_length += static_cast<double>(ids.size()) / static_cast<double>(examples.size());
  }
  CHECK(seen.size() == examples.size());
  CHECK(symbols.size() == 15);
  CHECK(labels.size() == 10);
  if (!is_short) CHECK(mean_length == Approx(1040).margin(60));  // mean of the published generator over 800 examples
}

TEST_CASE("generation depends only on the parameters, not on threads or sizes") {
  TemporaryFolder one, two, three;
  const auto a = load_task("listops", kShort, one.path(), 1), b = load_task("listops", kShort, two.path(), 2);
  CHECK(a->digest() == b->digest());
  // SHA-256 of the stored bytes, which is part of recorded keys.
  CHECK(a->digest() == "14ac41a346202865296cfed91a332e30f96ea8d2a7f1dd3e64a1b28570fe2def");
  CHECK(a->files().empty());
  CHECK((all_examples(*a) == all_examples(*b)));
  auto seeded = kShort;
  seeded["data_seed"] = 1;
  const auto c = load_task("listops", seeded, three.path());
  CHECK(c->digest() != a->digest());
  CHECK((read_examples(*c, Split::kTrain) != read_examples(*a, Split::kTrain)));
  auto smaller = kShort;
  smaller["train"] = 50;
  const auto d = load_task("listops", smaller, three.path(), 3);
  CHECK((read_examples(*d, Split::kTrain) == read_examples(*a, Split::kTrain, 50)));
}

TEST_CASE("the cache is read again, and a damaged cache is made anew") {
  TemporaryFolder cache;
  const auto first = load_task("listops", kShort, cache.path());
  const auto file = only_file(cache.path());
  const auto whole = read_bytes(file);
  const auto time = fs::last_write_time(file) - std::chrono::hours(1);
  fs::last_write_time(file, time);

  const auto second = load_task("listops", kShort, cache.path());
  CHECK(fs::last_write_time(file) == time);  // the cache was read, not written again
  CHECK(second->digest() == first->digest());
  CHECK((all_examples(*second) == all_examples(*first)));

  auto damaged = whole;
  const std::string how = GENERATE("symbol", "label", "header", "sizes", "cut", "longer", "empty", "pipe");
  if (how == "symbol") damaged[damaged.size() - 1000] ^= 1;
  if (how == "label") damaged[48 + 4 * 3400 + 5] ^= 1;
  if (how == "header") damaged[3] ^= 1;
  if (how == "sizes") damaged[16 + 7] = 0xff;  // claims 2^63 examples
  if (how == "cut") damaged.resize(damaged.size() / 2);
  if (how == "longer") damaged.push_back(0);
  if (how == "empty") damaged.clear();
  INFO("damage: " << how);
  if (how == "pipe") {
    fs::remove(file);
    REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  } else {
    write_bytes(file, damaged);
  }
  const auto third = load_task("listops", kShort, cache.path());
  CHECK(third->digest() == first->digest());
  CHECK((all_examples(*third) == all_examples(*first)));
  CHECK(read_bytes(only_file(cache.path())) == whole);
}

TEST_CASE("data that cannot be cached are still loaded") {
  TemporaryFolder folder;
  write_text(folder.path() / "file", "");
  const auto task = load_task("listops", kShort, folder.path() / "file" / "below");
  CHECK(task->size(Split::kTrain) == 3000);
}

TEST_CASE("settings that allow too few expressions are refused with an error") {
  TemporaryFolder cache;
  const auto with = [&](json changes) { return message_of([&] { load_task("listops", changes, cache.path()); }); };
  check_mentions(with({{"min_length", 0}, {"max_length", 2}}), {"found only 10 of 100000", "min_length"});  // the ten digits
  check_mentions(with({{"min_length", 3000}, {"max_length", 3100}, {"max_depth", 2}}), {"found only 0 of", "max_depth = 2"});
  // The parameter comes first, so that the host finds the study's line.
  CHECK(with({{"min_length", 60}, {"max_length", 61}}) ==
        "min_length = 60 leaves no length below max_length = 61, expected at most max_length - 2 = 59");
}

TEST_CASE("describe shows an expression and its answer") {
  TemporaryFolder data;
  for (const char* name : {"basic_train.tsv", "basic_val.tsv", "basic_test.tsv"})
    write_text(data.path() / name, "Source\tTarget\n( ( ( [SM 4 ) 9 ) ] )\t3\n5\t5\n");
  const auto task = load_task("listops", {{"data", data.path().string()}}, data.path());
  CHECK(task->describe(Split::kDev, 0) == "[SM 4 9 ] = 3");
  CHECK_THROWS_AS(task->describe(Split::kDev, 2), std::out_of_range);
  CHECK(task->digest() == "769473a9e979ef112207b1be03344cee107ecfec1196033c83f4d52ec5f5441c");
}

TEST_CASE("the published form is read, and every row is checked") {
  TemporaryFolder data;
  const auto write = [&](const std::string& train) {
    write_text(data.path() / "basic_train.tsv", train);
    write_text(data.path() / "basic_val.tsv", "Source\tTarget\n5\t5\n");
    write_text(data.path() / "basic_test.tsv", "Source\tTarget\r\n( ( ( [MED 1 ) 4 ) ] )\t2\r\n");
  };
  const json changes = {{"data", data.path().string()}, {"max_length", 8}};
  const std::string good = "Source\tTarget\n( ( ( [MAX 2 ) ( ( ( [MIN 4 ) 7 ) ] ) ) ] )\t4\n[SM 9 9 9 ]\t7";
  const auto refused = [&](const std::string& train) {
    write(train);
    return message_of([&] { load_task("listops", changes, data.path()); });
  };

  SECTION("good") {
    write(good);
    const auto task = load_task("listops", changes, data.path());
    CHECK(task->size(Split::kTrain) == 2);
    CHECK(task->info().length == 8);
    CHECK((task->files() ==
           std::vector{data.path() / "basic_train.tsv", data.path() / "basic_val.tsv", data.path() / "basic_test.tsv"}));
    const auto train = read_examples(*task, Split::kTrain);
    CHECK(train[0] == Example{{12, 3, 11, 5, 8, 15, 15}, 4});
    CHECK(train[1] == Example{{14, 10, 10, 10, 15}, 7});
    CHECK((read_examples(*task, Split::kTest)[0] == Example{{13, 2, 5, 15}, 2}));
    const auto digest = task->digest();
    const auto plain = data.path() / "basic_train.tsv", packed = data.path() / "basic_train.tsv.gz";
    write_bytes(packed, read_bytes(plain));
    fs::remove(plain);
    CHECK(load_task("listops", changes, data.path())->digest() == digest);
    CHECK(load_task("listops", changes, data.path())->files().front() == packed);
    write(good + "\n3\t3\n");
    CHECK(load_task("listops", changes, data.path())->digest() != digest);
  }
  SECTION("a wrong answer") {
    check_mentions(refused(good + "\n[MED 9 0 6 3 ]\t5\n1\t1\n"),
                   {"basic_train.tsv:4: says 5", "the answer is 4", "[MED 9 0 6 3 ]"});
  }
  SECTION("the first of two wrong answers, late in a long file, for any number of threads") {
    std::string rows = "Source\tTarget\n";
    for (int i = 0; i < 1200000; ++i) rows += i == 1000000 || i == 1100000 ? "[SM 4 4 ]\t9\n" : "[SM 4 4 ]\t8\n";
    check_mentions(refused(rows), {"basic_train.tsv:1000002: says 9", "is 8"});
  }
  SECTION("malformed rows") {
    check_mentions(refused(good + "\n[MAX 1 2 ]\n"), {"basic_train.tsv:4: ", "1 columns", "expected two"});
    check_mentions(refused(good + "\n[MAX 1 2 ]\t2\t2\n"), {"basic_train.tsv:4: ", "3 columns"});
    check_mentions(refused(good + "\n\n"), {"basic_train.tsv:4: ", "1 columns"});
    check_mentions(refused(good + "\n[MAX 1 2 ]\t12\n"), {"basic_train.tsv:4: ", "'12'", "digit"});
    check_mentions(refused(good + "\n[MAX 1 2\t2\n"), {"basic_train.tsv:4: ", "']' missing"});
    check_mentions(refused(good + "\n[AVG 1 2 ]\t1\n"), {"basic_train.tsv:4: ", "'[AVG'", "expected a digit"});
    check_mentions(refused(good + "\n[SM 1 1 1 1 1 1 1 ]\t7\n"), {"basic_train.tsv:4: ", "9 symbols", "max_length = 8"});
    check_mentions(refused(good + "\n[MAX 1 " + std::string(1, '\0') + "2 ]\t2\n"),
                   {"basic_train.tsv:4: ", "'\\x002'", "expected a digit"});
  }
  SECTION("a path that is not a text file is reported with its kind, and is not read endlessly") {
    const auto train = data.path() / "basic_train.tsv";
    const auto refused_now = [&] { return message_of([&] { load_task("listops", changes, data.path()); }); };
    write(good);
    fs::remove(train);
    fs::create_directory(train);
    check_mentions(refused_now(), {"basic_train.tsv: found a folder"});
    fs::remove(train);
    REQUIRE(mkfifo(train.c_str(), 0600) == 0);
    check_mentions(refused_now(), {"basic_train.tsv: is not a regular file"});
    fs::remove(train);
    fs::create_symlink("/dev/zero", train);
    check_mentions(refused_now(), {"basic_train.tsv: is not a regular file"});
    const auto with = [&](const std::string& path) {
      return message_of([&] { load_task("listops", {{"data", path}}, data.path()); });
    };
    check_mentions(with((data.path() / "basic_val.tsv").string()), {"is no folder", "basic_train.tsv"});
    check_mentions(with("no-such-folder"), {"was not found", fs::current_path().string()});
  }
  SECTION("malformed files") {
    check_mentions(refused("[MAX 1 2 ]\t2\n"), {"basic_train.tsv", ":1: found '[MAX 1 2 ]", "header"});
    check_mentions(refused(""), {"basic_train.tsv", "header"});
    check_mentions(refused("Source\tTarget\n"), {"no row"});
    write(good);
    fs::remove(data.path() / "basic_val.tsv");
    check_mentions(message_of([&] { load_task("listops", changes, data.path()); }),
                   {"lacks basic_val.tsv;", "expected a folder of basic_train.tsv", "long-range-arena/lra_release.gz"});
  }
}
