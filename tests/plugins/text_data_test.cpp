// The text plugin on IMDb, if it is present.
#include <set>

#include "tests/plugins/text_files.h"
#include "tests/support/process.h"

using namespace ablate;
using namespace ablate::tests;

TEST_CASE("a test without its data is skipped, and the exit code shows it") {
  const auto ended = Process({"/proc/self/exe", "IMDb*"}, {{"ABLATE_DATA", "/nowhere"}}).wait();
  CHECK(ended.exit_code == kSkipped);
  CHECK(ended.err.find("\nskipped: IMDb: 25,000 reviews for train and dev, 25,000 for test, with balanced labels: needs the "
                       "real data imdb") != std::string::npos);
}

TEST_CASE("IMDb: 25,000 reviews for train and dev, 25,000 for test, with balanced labels") {
  const auto data = real_data("imdb");
  if (data.empty()) return;
  const TemporaryFolder cache;
  const auto task = load_task("text", {{"data", data.string()}}, cache.path());
  CHECK(task->size(Split::kTrain) + task->size(Split::kDev) == 25000);
  CHECK(task->size(Split::kDev) >= 2500);
  CHECK(task->size(Split::kDev) < 2530);  // dev has whole films, of at most 30 reviews each
  const auto test = read_examples(*task, Split::kTest);
  REQUIRE(test.size() == 25000);
  std::int64_t positive = 0, longest = 0, cut = 0;
  for (const auto& example : test) {
    positive += example.label;
    longest = std::max(longest, std::ssize(example.ids));
    cut += example.ids.size() == 4000 ? 1 : 0;
  }
  CHECK(positive == 12500);
  CHECK(longest == 4000);
  CHECK(cut > 250);
  CHECK(cut < 1000);
  std::int64_t positive_in_dev = 0;
  for (const auto& example : read_examples(*task, Split::kDev)) positive_in_dev += example.label;
  CHECK(positive_in_dev > 1000);
  CHECK(positive_in_dev < 1500);

  // Reviews that occur in both halves of IMDb occur in train and in test: the plugin removes none.
  std::set<std::string> train;
  for (const auto& example : read_examples(*task, Split::kTrain)) train.insert(text_of(example));
  std::int64_t shared = 0;
  for (const auto& example : test) shared += train.contains(text_of(example)) ? 1 : 0;
  CHECK(shared > 50);
  CHECK(shared <= 130);

  const auto published = load_task("text", {{"data", data.string()}, {"dev_from", "test"}, {"length", 1000}}, cache.path());
  CHECK(published->size(Split::kTrain) == 25000);
  CHECK(published->size(Split::kDev) == 25000);
}
