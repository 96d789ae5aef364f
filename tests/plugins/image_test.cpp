// The image plugin on small files that the tests write.
#include <set>

#include "tests/plugins/image_files.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

std::vector<Example> train_and_dev(Task& task) {
  auto all = read_examples(task, Split::kTrain);
  for (auto& example : read_examples(task, Split::kDev)) all.push_back(std::move(example));
  std::sort(all.begin(), all.end());
  return all;
}

Example example_of(const Bytes& pixels, std::int64_t label) {
  Example example{{}, label};
  for (const auto pixel : pixels) example.ids.push_back(pixel + 1);
  return example;
}

std::vector<Example> expected(const std::vector<Bytes>& pictures) {
  std::vector<Example> all;
  for (std::size_t i = 0; i < pictures.size(); ++i) all.push_back(example_of(pictures[i], static_cast<std::int64_t>(i % 3)));
  return all;
}

}  // namespace

TEST_CASE("idx files, plain and gzipped, are read completely, and each picture is in one split") {
  const std::string ending = GENERATE("", ".gz");
  const IdxFolder files(ending);
  const auto task = load_images(files.path());
  const auto info = task->info();
  CHECK(info.fields.at(0).vocabulary == 257);
  CHECK(info.length == 24);
  CHECK(
      (std::array{info.geometry.rows, info.geometry.columns, info.geometry.channels} == std::array<std::int64_t, 3>{4, 6, 1}));
  const auto named = task->files();
  REQUIRE(named.size() == 4);
  for (const auto& file : named) CHECK(fs::is_regular_file(file));
  CHECK(info.classes == 3);
  CHECK(task->size(Split::kTrain) == 50);
  CHECK(task->size(Split::kDev) == 10);
  CHECK(task->size(Split::kTest) == 20);
  CHECK((read_examples(*task, Split::kTest) == expected(files.test)));
  auto all = expected(files.train);
  std::sort(all.begin(), all.end());
  CHECK((train_and_dev(*task) == all));  // 60 different pictures, so the two splits share none

  const auto again = load_images(files.path());
  CHECK(again->digest() == task->digest());
  CHECK((read_examples(*again, Split::kDev) == read_examples(*task, Split::kDev)));
  const auto other = load_images(files.path(), {{"data_seed", 7}});
  CHECK(other->digest() != task->digest());
  CHECK((read_examples(*other, Split::kDev) != read_examples(*task, Split::kDev)));
  CHECK((train_and_dev(*other) == all));
}

TEST_CASE("the digest follows the content, not the form of the files") {
  const IdxFolder plain, zipped(".gz");
  const auto digest = load_images(plain.path())->digest();
  CHECK(load_images(zipped.path())->digest() == digest);
  auto changed = idx_labels(Bytes(20, 1));
  write_bytes(fs::path(plain.path()) / "t10k-labels-idx1-ubyte", changed);
  CHECK(load_images(plain.path())->digest() != digest);
}

TEST_CASE("pooling averages squares, and rounds halves up") {
  TemporaryFolder folder;
  const Bytes picture = {0, 1, 10, 10, 255, 255,  //
                         1, 0, 20, 21, 255, 254,  //
                         0, 0, 0,  0,  1,   2,    //
                         0, 1, 3,  3,  3,   4};
  write_bytes(folder.path() / "train-images-idx3-ubyte", idx_images(4, 6, {picture, picture}));
  write_bytes(folder.path() / "train-labels-idx1-ubyte", idx_labels({0, 1}));
  write_bytes(folder.path() / "test-images-idx3-ubyte", idx_images(4, 6, {picture}));
  write_bytes(folder.path() / "test-labels-idx1-ubyte", idx_labels({1}));
  const auto task = load_images(folder.path(), {{"pool", 2}, {"dev", 1}});
  CHECK(task->info().length == 6);
  CHECK(task->info().geometry.columns == 3);
  // sums 2, 61, 1019, 1, 6, 10 over 4 pixels: 0.5, 15.25, 254.75, 0.25, 1.5, 2.5
  CHECK((read_examples(*task, Split::kTest)[0] == example_of({1, 15, 255, 0, 2, 3}, 1)));
  check_mentions(refusal(folder.path(), {{"pool", 4}, {"dev", 1}}), {"pool = 4", "4 x 6", "divisor"});
}

TEST_CASE("CIFAR-10's binary batches become grey") {
  const std::string ending = GENERATE("", ".gz");
  const CifarFolder files(ending);
  const auto task = load_images(files.folder.path(), {{"dev", 4}});
  const auto info = task->info();
  CHECK(info.fields.at(0).vocabulary == 257);
  CHECK(info.length == 1024);
  CHECK(info.classes == 10);
  CHECK(task->size(Split::kTrain) == 6);
  CHECK(task->size(Split::kDev) == 4);
  const auto test = read_examples(*task, Split::kTest);
  REQUIRE(test.size() == 5);
  // 0.2989 * 255 = 76.2, 0.587 * 255 = 149.7, 0.114 * 255 = 29.07; their sum is 254.97
  CHECK(test[0] == example_of(Bytes(1024, 255), 9));
  CHECK(test[1] == example_of(Bytes(1024, 76), 0));
  CHECK(test[2] == example_of(Bytes(1024, 150), 1));
  CHECK(test[3] == example_of(Bytes(1024, 29), 2));
  Bytes last(1024, 82);  // 29.89 + 29.35 + 22.8 = 82.04
  last[5] = 52;          // 29.35 + 22.8 = 52.15
  CHECK(test[4] == example_of(last, 3));
  std::multiset<std::int64_t> labels;
  for (const auto& example : train_and_dev(*task)) labels.insert(example.label);
  CHECK(labels == std::multiset<std::int64_t>{0, 0, 0, 0, 0, 1, 2, 3, 4, 5});
}

TEST_CASE("grey as in the Long Range Arena: TensorFlow's conversion of bytes, which truncates") {
  const CifarFolder files;
  auto record = random_pictures(1, 1 + 3 * 1024, 9).front();
  record[0] = 3;
  auto test = read_bytes(files.file("test_batch.bin"));
  test.insert(test.end(), record.begin(), record.end());
  write_bytes(files.file("test_batch.bin"), test);
  const auto task = load_images(files.folder.path(), {{"dev", 4}, {"grey", "tensorflow"}});
  const auto examples = read_examples(*task, Split::kTest);
  REQUIRE(examples.size() == 6);
  CHECK(examples[0] == example_of(Bytes(1024, 255), 9));  // 254.97 times 255.5 / 255 is 255.47
  CHECK(examples[2] == example_of(Bytes(1024, 149), 1));  // 149.98, which "rounded" makes 150
  Bytes expected;
  for (std::size_t i = 1; i <= 1024; ++i) {
    const double share = (0.2989 * record[i] + 0.587 * record[i + 1024] + 0.114 * record[i + 2048]) / 255;
    expected.push_back(static_cast<std::uint8_t>(share * 255.5));
  }
  CHECK(examples[5] == example_of(expected, 3));
  CHECK(task->digest() != load_images(files.folder.path(), {{"dev", 4}})->digest());

  // If idx files exist too, the colour files are used.
  const IdxFolder idx;
  for (const auto& file : fs::directory_iterator(idx.path())) fs::copy(file.path(), files.folder.path());
  CHECK(load_images(files.folder.path(), {{"dev", 4}, {"grey", "tensorflow"}})->digest() == task->digest());
  CHECK(load_images(files.folder.path(), {{"dev", 4}})->info().length == 24);
}

TEST_CASE("TensorFlow's grey is refused for files that are already grey") {
  const IdxFolder files;
  check_mentions(refusal(files.path(), {{"grey", "tensorflow"}}),
                 {"grey = \"tensorflow\" needs colours", files.path() + " holds idx files, which are grey", "data_batch_1.bin",
                  "cifar-10-binary.tar.gz", "grey = \"rounded\""});
}

TEST_CASE("the last training pictures are dev if the study requests that, in the files' order") {
  const IdxFolder files;
  const auto task = load_images(files.path(), {{"dev_pictures", "last"}});
  auto all = expected(files.train);
  CHECK((read_examples(*task, Split::kTest) == expected(files.test)));
  CHECK((read_examples(*task, Split::kDev) == std::vector(all.end() - 10, all.end())));
  all.resize(50);
  CHECK((read_examples(*task, Split::kTrain) == all));
  CHECK(load_images(files.path(), {{"dev_pictures", "last"}, {"data_seed", 1}})->digest() == task->digest());
  CHECK(load_images(files.path())->digest() != task->digest());
  CHECK_FALSE(refusal(files.path(), {{"dev_pictures", "last"}, {"dev", 60}}).empty());

  // A single batch is divided into train, dev and test, in this order.
  const CifarFolder colours;
  const auto batch = load_images(colours.file("test_batch.bin"), {{"dev", 2}, {"dev_pictures", "last"}});
  std::vector<std::int64_t> labels;
  for (const auto split : {Split::kTrain, Split::kDev, Split::kTest})
    for (const auto& example : read_examples(*batch, split)) labels.push_back(example.label);
  CHECK(labels == std::vector<std::int64_t>{9, 0, 1, 2, 3});
}

TEST_CASE("CIFAR-10's published archive, and its unpacked folder, give its batches") {
  const auto objective = GENERATE("class", "density");
  const nlohmann::json changes = {{"dev", 4}, {"objective", objective}};
  const CifarFolder files, unpacked;
  const auto digest = load_images(files.folder.path(), changes)->digest();
  const auto archive = files.pack();
  for (const auto& data : {files.folder.path(), archive}) {
    const auto task = load_images(data, changes);
    CHECK(task->digest() == digest);
    CHECK((task->files() == std::vector{archive}));
    CHECK(task->size(Split::kTest) == 5);
  }
  fs::create_directory(unpacked.file("cifar-10-batches-bin"));
  for (int batch = 1; batch <= 5; ++batch) {
    const auto name = "data_batch_" + std::to_string(batch) + ".bin";
    fs::rename(unpacked.file(name), unpacked.file("cifar-10-batches-bin/" + name));
  }
  fs::rename(unpacked.file("test_batch.bin"), unpacked.file("cifar-10-batches-bin/test_batch.bin"));
  CHECK(load_images(unpacked.folder.path(), changes)->digest() == digest);
}

TEST_CASE("describe draws the picture") {
  TemporaryFolder folder;
  for (const std::string name : {"train", "test"}) {
    write_bytes(folder.path() / (name + "-images-idx3-ubyte"), idx_images(2, 2, {{0, 255, 128, 0}, {0, 255, 128, 0}}));
    write_bytes(folder.path() / (name + "-labels-idx1-ubyte"), idx_labels({0, 1}));
  }
  const auto task = load_images(folder.path(), {{"dev", 1}});
  CHECK(task->describe(Split::kTest, 1) == "label 1\n  @@\n++  \n");
  CHECK_THROWS_AS(task->describe(Split::kTest, 2), std::out_of_range);
  CHECK_THROWS_AS(task->describe(Split::kDev, -1), std::out_of_range);
}

TEST_CASE("black is a token, or absent if the study sets that") {
  const Bytes picture = {0, 7, 0, 255, 0, 1};
  TemporaryFolder folder;
  for (const char* name : {"train", "t10k"}) {
    write_bytes(folder.path() / (std::string(name) + "-images-idx3-ubyte"), idx_images(2, 3, {picture, picture, picture}));
    write_bytes(folder.path() / (std::string(name) + "-labels-idx1-ubyte"), idx_labels({0, 1, 1}));
  }
  for (const bool absent : {false, true}) {
    const auto task = load_images(folder.path(), {{"dev", 1}, {"black", absent ? "absent" : "token"}});
    CHECK(task->info().holes == absent);
    std::vector<std::int64_t> ids(6), targets(1, -1);
    std::vector<std::uint8_t> present(6, 1);
    BatchView view{.length = 6, .targets = targets};
    view.ids.emplace_back(ids);
    view.present.emplace_back(present);
    task->read(Split::kTest, std::vector<std::int64_t>{1}, view);
    CHECK(ids == std::vector<std::int64_t>{1, 8, 1, 256, 1, 2});
    CHECK(present == (absent ? std::vector<std::uint8_t>{0, 1, 0, 1, 0, 1} : std::vector<std::uint8_t>(6, 1)));
  }
}
