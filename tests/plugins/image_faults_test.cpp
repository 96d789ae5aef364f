// Messages of the image plugin about files that it cannot use.
#include <sys/stat.h>

#include "tests/plugins/image_files.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

void lengthen(const fs::path& path, std::int64_t bytes) {
  fs::resize_file(path, static_cast<std::uintmax_t>(static_cast<std::int64_t>(fs::file_size(path)) + bytes));
}

}  // namespace

TEST_CASE("faults of idx files are reported") {
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
                   {folder.string(),
                    "the idx form lacks train-labels-idx1-ubyte, t10k-images-idx3-ubyte or test-images-idx3-ubyte, "
                    "plain or ending in .gz. Put"});
    for (const auto* file : {"train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) fs::remove(folder / file);
    check_mentions(refusal(folder), {"the idx form lacks train-images-idx3-ubyte", "data_batch_1.bin", "test_batch.bin",
                                     "Imagenet64_val_npz.zip or val_data.npz"});
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
  SECTION("cut off within the header") {
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
  SECTION("different counts") {
    Bytes fewer(59, 1);
    fewer.front() = 0;
    write_bytes(labels, idx_labels(fewer));
    check_mentions(refusal(folder), {images.string(), "60 images", labels.string(), "59 labels"});
  }
  SECTION("a test label that is not in training") {
    poke(folder / "t10k-labels-idx1-ubyte", 8 + 4, 3);
    check_mentions(refusal(folder), {"t10k-labels-idx1-ubyte", "example 4", "label 3", "0 to 2"});
  }
  SECTION("labels with gaps, or only one label") {
    const std::string expected = "; expected labels 0, 1, 2, ... without a gap, at least two";
    const auto density = [&] { return load_images(folder, {{"objective", "density"}})->size(Split::kTrain); };
    const auto is_told = [&](const Bytes& all, const std::string& found) {
      INFO(found);
      write_bytes(labels, idx_labels(all));
      CHECK(refusal(folder) == labels.string() + ": found " + found + expected);
      // info() reports the same message as load().
      CHECK(message_of([&] {
              make_task("image", {{"data", folder.string()}}, folder)->info();
            }) == labels.string() + ": found " + found + expected);
      CHECK(density() == 50);  // density needs no label
    };
    Bytes two(60, 0);
    two.back() = 200;
    is_told(two, "60 labels up to 200, none of them 1 (and 198 others missing)");
    two.front() = 1;
    two.back() = 3;
    is_told(two, "60 labels up to 3, none of them 2");
    is_told(Bytes(60, 0), "60 labels, all of them 0");
    is_told(Bytes(60, 7), "60 labels up to 7, none of them 0 (and 6 others missing)");
    is_told(Bytes(60, 255), "60 labels up to 255, none of them 0 (and 254 others missing)");
  }
  SECTION("test pictures of another size") {
    write_bytes(folder / "t10k-images-idx3-ubyte", idx_images(6, 4, files.test));
    check_mentions(refusal(folder), {"t10k-images-idx3-ubyte", "another size"});
  }
  SECTION("a dev split that uses all examples") {
    check_mentions(refusal(folder, {{"dev", 60}}), {"dev = 60", "none of 60 examples for training"});
  }
}

TEST_CASE("a path that is not a regular file is reported with its kind, and is not read") {
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
  check_mentions(refusal(fs::path(files.path()) / "t10k-labels-idx1-ubyte"), {"is no folder"});
}

TEST_CASE("faults of gzipped files are reported") {
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
    bytes[bytes.size() - 6] ^= 0x55;  // inside the checksum
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
  SECTION("less and more content than the header says") {
    auto bytes = idx_images(4, 6, files.train);
    bytes.pop_back();
    write_bytes(images, bytes);
    check_mentions(refusal(folder), {images.string(), "found 1455 bytes", "expected 1456"});
    bytes.insert(bytes.end(), 2, 0);
    write_bytes(images, bytes);
    check_mentions(refusal(folder), {images.string(), "found more than 1456 bytes"});
  }
}

TEST_CASE("faults of CIFAR batches are reported") {
  const CifarFolder files;
  const auto folder = files.folder.path();
  const auto batch = files.file("data_batch_3.bin");
  SECTION("missing") {
    fs::remove(batch);
    check_mentions(refusal(folder),
                   {folder.string(), "holds no whole data set: CIFAR-10's binary form lacks data_batch_3.bin, plain"});
    // If the batches are in the folder cifar-10-batches-bin, the message names it, and batches elsewhere count as missing.
    const auto below = folder / "cifar-10-batches-bin";
    fs::create_directory(below);
    for (const auto& entry : std::vector<fs::path>(fs::directory_iterator(folder), fs::directory_iterator()))
      if (entry.extension() == ".bin") fs::rename(entry, below / entry.filename());
    check_mentions(refusal(folder), {"lacks cifar-10-batches-bin/data_batch_3.bin"});
    fs::rename(below / "data_batch_2.bin", folder / "data_batch_2.bin");
    check_mentions(refusal(folder), {"lacks cifar-10-batches-bin/data_batch_2.bin, cifar-10-batches-bin/data_batch_3.bin"});
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

TEST_CASE("faults of CIFAR-10's archive are reported") {
  const CifarFolder files;
  SECTION("a missing batch") {
    const auto archive = files.pack("data_batch_3.bin");
    fs::remove(files.file("data_batch_3.bin"));
    check_mentions(refusal(files.folder.path()), {archive.string(), "lacks data_batch_3.bin", "fetch it again"});
  }
  SECTION("an invalid batch") {
    write_bytes(files.file("data_batch_3.bin"), cifar_batch({{1, 0, 0, 0}, {10, 0, 0, 0}}));
    const auto archive = files.pack();
    check_mentions(refusal(archive),
                   {(archive / "cifar-10-batches-bin/data_batch_3.bin").string(), "record 2", "label 10", "0 to 9"});
  }
  SECTION("cut off") {
    const auto archive = files.pack();
    lengthen(archive, -40);
    check_mentions(refusal(archive), {archive.string(), "fetch it again"});
  }
}

TEST_CASE("missing data: the error names the searched files and the remedy") {
  TemporaryFolder empty;
  check_mentions(refusal(empty.path() / "nowhere"), {"nowhere", "was not found", "fashion-mnist: ", "cifar10: "});
  const DataFolder data(empty.path());
  check_mentions(message_of([&] {
                   load_task("image", {{"data", "cifar10"}}, empty.path());
                 }),
                 {empty.path().string() + "/cifar10", "/usr/share/datasets/cifar10",
                  "Set ABLATE_DATA to a folder with cifar10/cifar-10-binary.tar.gz in it"});
  check_mentions(message_of([&] {
                   load_task("image", {{"data", "imagenet64"}, {"objective", "density"}}, empty.path());
                 }),
                 {empty.path().string() + "/imagenet64", "https://image-net.org",
                  "Set ABLATE_DATA to a folder with imagenet64 in it, and the three archives in that"});
}
