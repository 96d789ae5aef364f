// The image plugin on small files that the tests write.
#include <sys/stat.h>

#include <set>

#include "tests/task/support.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

std::unique_ptr<Task> load(const fs::path& folder, json changes = {}) {
  if (!changes.contains("dev")) changes["dev"] = 10;
  changes["data"] = folder.string();
  return load_task("image", changes, folder);
}
std::string refusal(const fs::path& folder, const json& changes = {}) {
  return message_of([&] { load(folder, changes); });
}

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

void lengthen(const fs::path& path, std::int64_t bytes) {
  fs::resize_file(path, static_cast<std::uintmax_t>(static_cast<std::int64_t>(fs::file_size(path)) + bytes));
}

/// Records whose planes are constant.
Bytes cifar_batch(const std::vector<std::array<std::uint8_t, 4>>& label_red_green_blue) {
  Bytes bytes;
  for (const auto& [label, red, green, blue] : label_red_green_blue) {
    bytes.push_back(label);
    for (const auto plane : {red, green, blue}) bytes.insert(bytes.end(), 1024, plane);
  }
  return bytes;
}

struct CifarFolder {
  TemporaryFolder folder;
  explicit CifarFolder(const std::string& ending = "") {
    for (int batch = 1; batch <= 5; ++batch)
      write_bytes(file("data_batch_" + std::to_string(batch) + ".bin" + ending),
                  cifar_batch({{static_cast<std::uint8_t>(batch), 10, 20, 30}, {0, static_cast<std::uint8_t>(batch), 0, 0}}));
    auto test = cifar_batch({{9, 255, 255, 255}, {0, 255, 0, 0}, {1, 0, 255, 0}, {2, 0, 0, 255}, {3, 100, 50, 200}});
    test[4 * 3073 + 1 + 5] = 0;  // red of the last picture's sixth pixel
    write_bytes(file("test_batch.bin" + ending), test);
  }
  fs::path file(const std::string& name) const { return folder.path() / name; }
};

}  // namespace

TEST_CASE("idx files, plain and gzipped, are read whole and split once") {
  const std::string ending = GENERATE("", ".gz");
  const IdxFolder files(ending);
  const auto task = load(files.path());
  const auto info = task->info();
  CHECK(info.vocabulary == 257);
  CHECK(info.length == 24);
  CHECK(info.classes == 3);
  CHECK(task->size(Split::kTrain) == 50);
  CHECK(task->size(Split::kDev) == 10);
  CHECK(task->size(Split::kTest) == 20);
  CHECK((read_examples(*task, Split::kTest) == expected(files.test)));
  auto all = expected(files.train);
  std::sort(all.begin(), all.end());
  CHECK((train_and_dev(*task) == all));  // 60 different pictures: so the two splits share none

  const auto again = load(files.path());
  CHECK(again->digest() == task->digest());
  CHECK((read_examples(*again, Split::kDev) == read_examples(*task, Split::kDev)));
  const auto other = load(files.path(), {{"data_seed", 7}});
  CHECK(other->digest() != task->digest());
  CHECK((read_examples(*other, Split::kDev) != read_examples(*task, Split::kDev)));
  CHECK((train_and_dev(*other) == all));
}

TEST_CASE("the digest follows the content, not the form of the files") {
  const IdxFolder plain, zipped(".gz");
  const auto digest = load(plain.path())->digest();
  CHECK(load(zipped.path())->digest() == digest);
  auto changed = idx_labels(Bytes(20, 1));
  write_bytes(fs::path(plain.path()) / "t10k-labels-idx1-ubyte", changed);
  CHECK(load(plain.path())->digest() != digest);
}

TEST_CASE("pooling averages squares, halves up") {
  TemporaryFolder folder;
  const Bytes picture = {0, 1, 10, 10, 255, 255,  //
                         1, 0, 20, 21, 255, 254,  //
                         0, 0, 0,  0,  1,   2,    //
                         0, 1, 3,  3,  3,   4};
  write_bytes(folder.path() / "train-images-idx3-ubyte", idx_images(4, 6, {picture, picture}));
  write_bytes(folder.path() / "train-labels-idx1-ubyte", idx_labels({0, 1}));
  write_bytes(folder.path() / "test-images-idx3-ubyte", idx_images(4, 6, {picture}));
  write_bytes(folder.path() / "test-labels-idx1-ubyte", idx_labels({1}));
  const auto task = load(folder.path(), {{"pool", 2}, {"dev", 1}});
  CHECK(task->info().length == 6);
  // sums 2, 61, 1019, 1, 6, 10 over 4 pixels: 0.5, 15.25, 254.75, 0.25, 1.5, 2.5
  CHECK((read_examples(*task, Split::kTest)[0] == example_of({1, 15, 255, 0, 2, 3}, 1)));
  check_mentions(refusal(folder.path(), {{"pool", 4}, {"dev", 1}}), {"pool = 4", "4 x 6", "divisor"});
}

TEST_CASE("CIFAR-10's binary batches become grey") {
  const std::string ending = GENERATE("", ".gz");
  const CifarFolder files(ending);
  const auto task = load(files.folder.path(), {{"dev", 4}});
  const auto info = task->info();
  CHECK(info.vocabulary == 257);
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

TEST_CASE("faults of idx files are told") {
  IdxFolder files;
  const fs::path folder = files.path(), images = folder / "train-images-idx3-ubyte",
                 labels = folder / "train-labels-idx1-ubyte";
  const auto poke = [](const fs::path& path, std::size_t at, std::uint8_t value) {
    auto bytes = read_bytes(path);
    bytes.at(at) = value;
    write_bytes(path, bytes);
  };
  SECTION("missing") {
    fs::remove(labels);
    fs::remove(folder / "t10k-images-idx3-ubyte");
    check_mentions(refusal(folder),
                   {folder.string(), "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte or test-images-idx3-ubyte",
                    "data_batch_1.bin", "test_batch.bin", ".gz"});
  }
  SECTION("wrong magic") {
    poke(images, 3, 1);
    check_mentions(refusal(folder), {images.string(), "0x00000801", "expected 0x00000803"});
  }
  SECTION("wrong magic of labels") {
    poke(labels, 3, 3);
    check_mentions(refusal(folder), {labels.string(), "0x00000803", "expected 0x00000801"});
  }
  SECTION("truncated") {
    lengthen(images, -1);
    check_mentions(refusal(folder), {images.string(), "found 1455 bytes", "expected 1456 bytes"});
  }
  SECTION("too long") {
    lengthen(images, 1);
    check_mentions(refusal(folder), {images.string(), "found 1457 bytes", "expected 1456 bytes"});
  }
  SECTION("within the header") {
    lengthen(images, -1446);
    check_mentions(refusal(folder), {images.string(), "ends after 10 bytes, within the idx header"});
  }
  SECTION("a header that claims more than any file holds") {
    for (const std::size_t at : {4, 5, 6, 7}) {
      poke(images, at, 0xff);
      poke(labels, at, 0xff);
    }
    check_mentions(refusal(folder), {labels.string(), "found 68 bytes", "expected 4294967303 bytes"});
  }
  SECTION("an empty shape") {
    poke(images, 11, 0);
    check_mentions(refusal(folder), {images.string(), "60 images of 0 x 6"});
  }
  SECTION("other counts") {
    write_bytes(labels, idx_labels(Bytes(59, 1)));
    check_mentions(refusal(folder), {images.string(), "60 images", labels.string(), "59 labels"});
  }
  SECTION("a test label that training does not know") {
    poke(folder / "t10k-labels-idx1-ubyte", 8 + 4, 3);
    check_mentions(refusal(folder), {"t10k-labels-idx1-ubyte", "example 4", "label 3", "0 to 2"});
  }
  SECTION("test pictures of another size") {
    write_bytes(folder / "t10k-images-idx3-ubyte", idx_images(6, 4, files.test));
    check_mentions(refusal(folder), {"t10k-images-idx3-ubyte", "another size"});
  }
  SECTION("a dev split that takes all") {
    check_mentions(refusal(folder, {{"dev", 60}}), {"dev = 60", "60 training pictures"});
  }
}

TEST_CASE("what is no file is called what it is, and never waited for or read without end") {
  const IdxFolder files;
  const fs::path images = fs::path(files.path()) / "train-images-idx3-ubyte";
  fs::remove(images);
  fs::create_directory(images);
  check_mentions(refusal(files.path()), {images.string(), "found a folder"});
  fs::remove(images);
  REQUIRE(mkfifo(images.c_str(), 0600) == 0);
  check_mentions(refusal(files.path()), {images.string(), "is not a regular file"});
  fs::remove(images);
  fs::create_symlink("/dev/zero", images);
  check_mentions(refusal(files.path()), {images.string(), "is not a regular file"});
  check_mentions(refusal(fs::path(files.path()) / "t10k-labels-idx1-ubyte"), {"is a file and no folder"});
}

TEST_CASE("faults of gzipped files are told") {
  const IdxFolder files(".gz");
  const fs::path folder = files.path(), images = folder / "train-images-idx3-ubyte.gz";
  SECTION("cut off in the data") {
    lengthen(images, -200);
    check_mentions(refusal(folder), {images.string(), "the gzip stream is cut off", "fetch"});
  }
  SECTION("cut off in the trailer") {
    lengthen(images, -3);
    check_mentions(refusal(folder), {images.string(), "the gzip stream is cut off"});
  }
  SECTION("damaged") {
    auto bytes = read_bytes(images);
    bytes[bytes.size() - 6] ^= 0x55;  // in the checksum
    std::ofstream(images, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    check_mentions(refusal(folder), {images.string(), "the gzip stream is damaged"});
  }
  SECTION("a header that claims more than the file can hold") {
    auto bytes = idx_images(4, 6, files.train);
    bytes[4] = 0x40;
    write_bytes(images, bytes);
    auto labels = idx_labels(Bytes(60, 0));
    labels[4] = 0x40;
    write_bytes(folder / "train-labels-idx1-ubyte.gz", labels);
    check_mentions(refusal(folder), {"train-labels-idx1-ubyte.gz", "cannot hold", "1073741892 bytes"});
  }
  SECTION("fewer and more content than the header says") {
    auto bytes = idx_images(4, 6, files.train);
    bytes.pop_back();
    write_bytes(images, bytes);
    check_mentions(refusal(folder), {images.string(), "found 1455 bytes", "expected 1456"});
    bytes.insert(bytes.end(), 2, 0);
    write_bytes(images, bytes);
    check_mentions(refusal(folder), {images.string(), "found more than 1456 bytes"});
  }
}

TEST_CASE("faults of CIFAR batches are told") {
  const CifarFolder files;
  const auto folder = files.folder.path();
  const auto batch = files.file("data_batch_3.bin");
  SECTION("missing") {
    fs::remove(batch);
    check_mentions(refusal(folder), {folder.string(), "Missing for CIFAR-10's binary form: data_batch_3.bin."});
  }
  SECTION("truncated") {
    lengthen(batch, -73);
    check_mentions(refusal(folder), {batch.string(), "record 2", "found 3000 of its 3073 bytes"});
  }
  SECTION("label out of range") {
    write_bytes(batch, cifar_batch({{1, 0, 0, 0}, {10, 0, 0, 0}}));
    check_mentions(refusal(folder), {batch.string(), "record 2", "label 10", "0 to 9"});
  }
  SECTION("empty") {
    write_bytes(batch, {});
    check_mentions(refusal(folder), {batch.string(), "is empty"});
  }
}

TEST_CASE("data that is nowhere: what was looked for, and what to do") {
  TemporaryFolder empty;
  check_mentions(refusal(empty.path() / "nowhere"), {"nowhere", "is no folder", "fashion-mnist, cifar10"});
  const char* before = std::getenv("ABLATE_DATA");
  const std::string kept = before != nullptr ? before : "";
  setenv("ABLATE_DATA", empty.path().c_str(), 1);
  check_mentions(message_of([&] {
                   load_task("image", {{"data", "cifar10"}}, empty.path());
                 }),
                 {empty.path().string() + "/cifar10", "/usr/share/datasets/cifar10", "set ABLATE_DATA"});
  if (before != nullptr)
    setenv("ABLATE_DATA", kept.c_str(), 1);
  else
    unsetenv("ABLATE_DATA");
}

TEST_CASE("describe draws the picture") {
  TemporaryFolder folder;
  for (const std::string name : {"train", "test"}) {
    write_bytes(folder.path() / (name + "-images-idx3-ubyte"), idx_images(2, 2, {{0, 255, 128, 0}, {0, 255, 128, 0}}));
    write_bytes(folder.path() / (name + "-labels-idx1-ubyte"), idx_labels({4, 4}));
  }
  const auto task = load(folder.path(), {{"dev", 1}});
  CHECK(task->describe(Split::kTest, 1) == "label 4\n  @@\n++  \n");
  CHECK_THROWS_AS(task->describe(Split::kTest, 2), std::out_of_range);
  CHECK_THROWS_AS(task->describe(Split::kDev, -1), std::out_of_range);
}
