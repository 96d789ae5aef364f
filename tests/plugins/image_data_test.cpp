// The image plugin on the real data sets, if they exist.
#include <map>
#include <set>

#include "tests/plugins/task.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

/// Checks that every class has 1,000 examples in the test files.
void check_test_labels(const std::vector<Example>& test) {
  std::map<std::int64_t, int> labels;
  for (const auto& example : test) ++labels[example.label];
  REQUIRE(labels.size() == 10);
  for (const auto& [label, count] : labels) CHECK(count == 1000);
}

}  // namespace

TEST_CASE("Fashion-MNIST in the form of Debian's package") {
  if (!fs::is_directory("/usr/share/datasets/fashion-mnist")) return skip_without_package("dataset-fashion-mnist");
  TemporaryFolder cache;
  const auto task = load_task("image", {{"pool", 2}}, cache.path());
  const auto info = task->info();
  CHECK(info.length == 196);
  CHECK(info.classes == 10);
  CHECK(task->size(Split::kTrain) == 55000);
  CHECK(task->size(Split::kDev) == 5000);
  CHECK(task->size(Split::kTest) == 10000);
  const auto test = read_examples(*task, Split::kTest);
  check_test_labels(test);
  CHECK(test[0].label == 9);  // an ankle boot, as in every tutorial
  CHECK(make_task("image", {}, cache.path())->info().length == 784);
}

TEST_CASE("CIFAR-10: the colour batch turned grey is the grey idx file") {
  const auto folder = real_data("cifar10");
  if (folder.empty()) return;
  TemporaryFolder batches;
  const auto idx = load_task("image", {{"data", folder.string()}}, batches.path());
  CHECK(idx->info().length == 1024);
  CHECK(idx->size(Split::kTrain) == 45000);
  CHECK(idx->size(Split::kDev) == 5000);
  if (!fs::exists(folder / "test_batch.bin.gz")) return skip(folder.string() + " has no colour batch test_batch.bin.gz");
  // Only the colour test batch exists, so it also replaces the training batches.
  for (const std::string name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"})
    fs::create_symlink(folder / "test_batch.bin.gz", batches.path() / (name + ".bin.gz"));
  const auto colour = load_task("image", {{"data", batches.path().string()}}, batches.path());
  const auto grey = read_examples(*idx, Split::kTest), made_grey = read_examples(*colour, Split::kTest);
  REQUIRE(grey.size() == 10000);
  REQUIRE(made_grey.size() == 10000);
  check_test_labels(grey);
  // Pixels differ only if 0.2989 R + 0.5870 G + 0.1140 B is exactly a half. The author of the idx files used floating point,
  // in which some halves are rounded down (measured: 1 pixel in 57,000, always by 1).
  std::int64_t labels = 0, halves = 0, others = 0;
  for (std::size_t i = 0; i < grey.size(); ++i) {
    labels += grey[i].label != made_grey[i].label;
    for (std::size_t pixel = 0; pixel < 1024; ++pixel) {
      const auto more = made_grey[i].ids[pixel] - grey[i].ids[pixel];
      halves += more == 1;
      others += more != 0 && more != 1;
    }
  }
  CHECK(labels == 0);
  CHECK(others == 0);
  CHECK(halves < 10000 * 1024 / 20000);
}

TEST_CASE("CIFAR-10: the colour batch as density equals the file's planes, position by position") {
  const auto folder = real_data("cifar10");
  if (folder.empty()) return;
  TemporaryFolder cache;
  const auto task =
      load_task("image", {{"data", "cifar10/test_batch.bin"}, {"objective", "density"}, {"dev", 1000}}, cache.path());
  const auto info = task->info();
  CHECK(info.length == 3072);
  CHECK(task->size(Split::kTrain) == 8000);
  CHECK(task->size(Split::kTest) == 1000);
  const auto file = gzopen((folder / "test_batch.bin.gz").c_str(), "rb");
  REQUIRE(file != nullptr);
  Bytes records(10000 * 3073);
  REQUIRE(gzread(file, records.data(), static_cast<unsigned>(records.size())) == static_cast<int>(records.size()));
  gzclose(file);
  std::set<std::vector<std::int64_t>> pictures;
  for (std::size_t i = 0; i < 10000; ++i) {
    std::vector<std::int64_t> values;
    for (std::size_t pixel = 0; pixel < 1024; ++pixel)
      for (std::size_t plane = 0; plane < 3; ++plane) values.push_back(records[i * 3073 + 1 + plane * 1024 + pixel]);
    pictures.insert(std::move(values));
  }
  std::vector<std::int64_t> ids(3072), targets(3072);
  std::vector<std::uint8_t> present(3072, 1);
  for (std::int64_t i = 0; i < 1000; ++i) {
    task->read(Split::kTest, {&i, 1}, {.length = 3072, .ids = {ids}, .reals = {{}}, .present = {present}, .targets = targets});
    REQUIRE(pictures.contains(targets));
    REQUIRE(ids[0] == 0);
    for (std::size_t at = 1; at < ids.size(); ++at) REQUIRE(ids[at] == targets[at - 1] + 1);
  }
}
