// The image plugin's density on ImageNet's published form: npz batches, and archives of them.
#include <atomic>
#include <cstring>
#include <set>
#include <span>
#include <thread>

#include "tests/plugins/image_files.h"
#include "tests/plugins/zip_files.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

constexpr std::size_t kPlane = 64 * 64, kPicture = 3 * kPlane;

/// Returns planes of noise.
Bytes pictures_of(std::size_t count, unsigned seed) {
  Bytes all;
  for (const auto& picture : random_pictures(count, kPicture, seed)) all.insert(all.end(), picture.begin(), picture.end());
  return all;
}

/// Returns an array in numpy's format 1.0: magic, version, size of the header, header up to a multiple of 64 bytes, content.
Bytes array(const std::string& dictionary, const Bytes& content) {
  std::string header = dictionary;
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  bytes.push_back(static_cast<std::uint8_t>(header.size() & 255));
  bytes.push_back(static_cast<std::uint8_t>(header.size() >> 8));
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

std::string dictionary(std::size_t pictures, const std::string& values = "12288") {
  return "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(pictures) + ", " + values + "), }";
}

void write_npz(const fs::path& path, std::size_t count, unsigned seed) {
  write_zip(path,
            {{"data.npy", array(dictionary(count), pictures_of(count, seed))},
             {"labels.npy", array("{'descr': '<i8', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }",
                                  Bytes(8 * count, 1))}},
            false);
}

/// Two pictures in each of ten batches, and three test pictures. Batch b has the seed b, and test the seed 0.
struct ImageNetFolder {
  TemporaryFolder folder;
  ImageNetFolder() {
    for (unsigned batch = 1; batch <= 10; ++batch) write_npz(train(batch), 2, batch);
    write_npz(test(), 3, 0);
  }
  fs::path train(unsigned batch) const { return folder.path() / ("train_data_batch_" + std::to_string(batch) + ".npz"); }
  fs::path test() const { return folder.path() / "val_data.npz"; }
};

const nlohmann::json kDensity{{"objective", "density"}, {"dev", 4}, {"data_seed", 3}};

Bytes values_of(const Task& task, Split split, std::int64_t index) {
  std::vector<std::int64_t> ids(kPicture), targets(kPicture);
  std::vector<std::uint8_t> present(kPicture, 1);
  task.read(
      split, {&index, 1},
      {.length = static_cast<std::int64_t>(kPicture), .ids = {ids}, .reals = {{}}, .present = {present}, .targets = targets});
  REQUIRE(ids[0] == 0);
  for (std::size_t i = 1; i < kPicture; ++i) REQUIRE(ids[i] == targets[i - 1] + 1);
  return {targets.begin(), targets.end()};
}

/// Returns picture `index` of `planes`, which pictures_of made, with interleaved planes.
Bytes interleaved(const Bytes& planes, std::size_t index) {
  Bytes values;
  for (std::size_t i = 0; i < kPlane; ++i)
    for (std::size_t plane = 0; plane < 3; ++plane) values.push_back(planes[index * kPicture + plane * kPlane + i]);
  return values;
}

}  // namespace

TEST_CASE("ImageNet's batches: planes become pixels, val_data is the test split, and train batches are split by seed") {
  const ImageNetFolder files;
  const auto task = load_images(files.folder.path(), kDensity);
  const auto info = task->info();
  CHECK(info.length == 12288);
  CHECK(info.classes == 256);
  CHECK((info.geometry.rows == 64 && info.geometry.columns == 64 && info.geometry.channels == 3));
  CHECK(info.unit == "dimension");
  CHECK(task->files().size() == 11);
  REQUIRE(task->size(Split::kTest) == 3);
  for (std::int64_t i = 0; i < 3; ++i)
    CHECK(values_of(*task, Split::kTest, i) == interleaved(pictures_of(3, 0), static_cast<std::size_t>(i)));
  std::set<Bytes> expected, found;
  for (unsigned batch = 1; batch <= 10; ++batch)
    for (const std::size_t i : {0, 1}) expected.insert(interleaved(pictures_of(2, batch), i));
  REQUIRE(task->size(Split::kDev) == 4);
  REQUIRE(task->size(Split::kTrain) == 16);
  for (std::int64_t i = 0; i < 4; ++i) found.insert(values_of(*task, Split::kDev, i));
  for (std::int64_t i = 0; i < 16; ++i) found.insert(values_of(*task, Split::kTrain, i));
  CHECK(found == expected);
  CHECK(task->describe(Split::kTest, 0).find("label") == std::string::npos);
  CHECK(load_images(files.folder.path(), {{"objective", "density"}, {"dev", 4}, {"pool", 16}})->info().length == 48);
  for (const auto* grey : {"rounded", "tensorflow"})
    check_mentions(refusal(files.folder.path(), {{"grey", grey}}), {"ImageNet", "objective = \"density\""});
}

TEST_CASE("ImageNet as published: archives of npz files give the same data, stored or deflated") {
  const bool packed = GENERATE(false, true);
  const ImageNetFolder files;
  const auto expected = load_images(files.folder.path(), kDensity);
  const TemporaryFolder published;
  const auto pack = [&](const std::string& part, const std::vector<fs::path>& members) {
    std::vector<std::pair<std::string, Bytes>> entries = {{part + "/README", {'x'}}};
    for (const auto& member : members) entries.emplace_back(part + "/" + member.filename().string(), read_bytes(member));
    write_zip(published.path() / (part + ".zip"), entries, packed);
  };
  // The second part has batch 10 before batch 6.
  pack("Imagenet64_train_part1_npz", {files.train(1), files.train(2), files.train(3), files.train(4), files.train(5)});
  pack("Imagenet64_train_part2_npz", {files.train(10), files.train(6), files.train(7), files.train(8), files.train(9)});
  pack("Imagenet64_val_npz", {files.test()});
  const auto task = load_images(published.path(), kDensity);
  CHECK(task->files().size() == 3);
  CHECK(task->digest() == expected->digest());
  CHECK(values_of(*task, Split::kTrain, 0) == values_of(*expected, Split::kTrain, 0));

  // One archive is unpacked into the folder of its name.
  fs::remove(published.path() / "Imagenet64_val_npz.zip");
  check_mentions(refusal(published.path(), kDensity), {"ImageNet's npz form lacks Imagenet64_val_npz.zip or val_data.npz"});
  fs::create_directory(published.path() / "Imagenet64_val_npz");
  fs::copy(files.test(), published.path() / "Imagenet64_val_npz");
  CHECK(load_images(published.path(), kDensity)->digest() == expected->digest());
}

TEST_CASE("missing batches of ImageNet's archive or folder are named; a form with no file in the folder is not mentioned") {
  const ImageNetFolder files;
  const auto entry = [&](unsigned batch) {
    return std::pair(files.train(batch).filename().string(), read_bytes(files.train(batch)));
  };
  const auto archive = files.folder.path() / "Imagenet64_train_part1_npz.zip";
  write_zip(archive, {entry(1), entry(2), entry(3), entry(4)});
  fs::remove(files.train(5));
  check_mentions(refusal(files.folder.path(), kDensity),
                 {archive.string() + ": lacks train_data_batch_5.npz, expected all of its batches: fetch it again"});
  write_zip(archive, {entry(1), entry(2), entry(3), entry(4), entry(4)});
  check_mentions(refusal(files.folder.path(), kDensity), {archive.string() + ": holds train_data_batch_4.npz twice"});
  fs::remove(archive);
  fs::remove(files.train(7));
  const auto message = refusal(files.folder.path(), kDensity);
  check_mentions(
      message, {files.folder.path().string(), "ImageNet's npz form lacks train_data_batch_5.npz, train_data_batch_7.npz. Put"});
  CHECK(message.find("idx") == std::string::npos);
  CHECK(message.find("CIFAR") == std::string::npos);
}

TEST_CASE("a damaged npz is refused by its checksum, stored or deflated, as a file or in an archive") {
  const bool packed = GENERATE(false, true), archived = GENERATE(false, true);
  const ImageNetFolder files;
  const auto array_of_test = array(dictionary(3), pictures_of(3, 0));
  auto file = files.test();
  write_zip(file, {{"data.npy", array_of_test}, {"labels.npy", Bytes(9)}}, packed);
  auto bytes = read_bytes(file);
  bytes[array_of_test.size() / 2] ^= 1;
  write_bytes(file, bytes);
  if (archived) {
    fs::remove(file);
    file = files.folder.path() / "Imagenet64_val_npz.zip";
    write_zip(file, {{"Imagenet64_val_npz/val_data.npz", bytes}}, packed);
  }
  // In an archive inside an archive, libarchive may find the end of a file only by its checksum, which is wrong here.
  check_mentions(refusal(files.folder.path(), kDensity),
                 {file.string() + (archived ? "" : ": cannot be read (ZIP bad CRC"), "fetch it again"});
}

TEST_CASE("ImageNet's batches are read by as many threads as load() may use") {
  const ImageNetFolder files;
  const auto running = [] { return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()); };
  write_npz(files.test(), 1500, 0);  // enough time to count threads during the load
  for (const unsigned batch : {1u, 2u, 3u}) write_npz(files.train(batch), 500, batch);
  std::atomic<bool> ended{false};
  std::atomic<std::ptrdiff_t> most{0};
  std::thread watcher([&] {
    // Uses the smaller of two counts in a row, because a thread that was just joined may still be listed.
    for (std::ptrdiff_t last = 0, now = 0; !ended; last = now) most = std::max(most.load(), std::min(last, now = running()));
  });
  while (most == 0) std::this_thread::yield();  // waits for the first count
  const auto before = running();                // includes the watcher
  load_images(files.folder.path(), kDensity);
  ended = true;
  watcher.join();
  CHECK(most <= before + 1);  // load_images allows two threads, one of which is this thread
}

TEST_CASE("a single npz batch is divided among all three splits") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "val_data.npz";
  write_npz(file, 10, 1);
  const auto task = load_images(file, {{"objective", "density"}, {"dev", 3}});
  CHECK(task->size(Split::kTrain) == 4);
  CHECK(task->size(Split::kTest) == 3);
  check_mentions(refusal(file, {{"dev", 3}}), {file.string(), "objective = \"density\""});
}

TEST_CASE("faults of npz files are reported") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "train_data_batch_1.npz";
  const auto refused = [&](const std::string& name, const Bytes& content) {
    write_zip(file, {{name, content}});
    return refusal(file, {{"objective", "density"}, {"dev", 1}});
  };
  const auto all = pictures_of(4, 1);
  CHECK(refused("labels.npy", array(dictionary(4), all)).find("found the arrays labels.npy, expected data.npy") !=
        std::string::npos);
  check_mentions(refused("data.npy", array(dictionary(4, "3072"), all)), {file.string(), "(4, 3072)", "(pictures, 12288)"});
  check_mentions(refused("data.npy", array(dictionary(0), {})), {"(0, 12288)"});
  for (const auto count : {std::size_t{5}, std::size_t{1'000'000'000'000'000}})
    check_mentions(refused("data.npy", array(dictionary(count), all)), {file.string(), "(" + std::to_string(count) + ", 12288)",
                                                                        "expected at most 4 pictures, as it has 49280 bytes"});
  auto other = all;
  other.insert(other.end(), kPicture - 1, 7);
  check_mentions(refused("data.npy", array(dictionary(5), other)),
                 {"ends within picture 5", "found 12287 of its 12288", "5 pictures"});
  other.resize(all.size() + 1);
  check_mentions(refused("data.npy", array(dictionary(4), other)),
                 {file.string(), "has more data after the 4 pictures of its header", "fetch it again"});
  check_mentions(refused("data.npy", array("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 12288), }", all)),
                 {"'<f4'", "'|u1'"});
  check_mentions(refused("data.npy", array("{'descr': '|u1', 'fortran_order': True, 'shape': (4, 12288), }", all)),
                 {"True", "C order"});
  check_mentions(refused("data.npy", {'P', 'K'}), {file.string(), "numpy's format 1.0"});
  // The size in an archive's header can be wrong too.
  const auto fits = array(dictionary(50'000), all);
  write_zip(file, {{"data.npy", fits}}, false);
  auto bytes = read_bytes(file);
  const auto size = static_cast<std::uint32_t>(fits.size()), claim = std::uint32_t{1} << 30;
  const std::span right(reinterpret_cast<const std::uint8_t*>(&size), sizeof size);
  for (auto at = bytes.begin(); (at = std::ranges::search(at, bytes.end(), right.begin(), right.end()).begin()) != bytes.end();)
    std::memcpy(&*at, &claim, sizeof claim);
  write_bytes(file, bytes);
  check_mentions(refusal(file, {{"objective", "density"}, {"dev", 1}}),
                 {file.string() + ": found more than 268435456 bytes after unpacking (" + std::to_string(bytes.size()) +
                  " bytes packed)"});
  write_npz(file, 4, 1);
  fs::resize_file(file, fs::file_size(file) / 2);
  check_mentions(refusal(file, {{"objective", "density"}, {"dev", 1}}), {file.string(), "fetch it again"});
  write_text(file, "no archive");
  check_mentions(refusal(file, {{"objective", "density"}, {"dev", 1}}), {file.string(), "whole zip archive"});
}
