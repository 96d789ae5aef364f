// The lm plugin on small files: rows, targets, splits by position, and messages about files that it cannot use.
#include "tests/plugins/stream.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

/// Returns byte i of the text.
std::uint8_t byte_at(std::int64_t i) { return static_cast<std::uint8_t>((i * i / 7 + i) % 251); }

Bytes text_of(std::int64_t size) {
  Bytes text;
  for (std::int64_t i = 0; i < size; ++i) text.push_back(byte_at(i));
  return text;
}

}  // namespace

TEST_CASE("a row is the bytes from its position, and its targets are the bytes after them") {
  const TemporaryFolder folder;
  write_bytes(folder.path() / "text", text_of(1003));
  const auto task = load_task("lm", {{"data", (folder.path() / "text").string()}, {"length", 8}}, folder.path());
  const auto info = task->info();
  CHECK(info.length == 8);
  CHECK(info.classes == 256);
  CHECK(info.fields.at(0).vocabulary == 256);
  CHECK(info.unit == "byte");
  CHECK((info.causal && info.objective == Objective::kPositions && info.sampling == Sampling::kStream));
  // 5 % of 1003 is 50, so train has the first 903 bytes. A split's last byte is only a target.
  const std::int64_t begins[] = {0, 903, 953}, sizes[] = {902, 49, 49};
  for (const auto split : {Split::kTrain, Split::kDev, Split::kTest}) {
    const auto begin = begins[static_cast<int>(split)], size = sizes[static_cast<int>(split)];
    CHECK(task->size(split) == size);
    const std::vector<std::int64_t> places = {0, 1, 17, size - 8, size - 3, size - 1};
    const auto rows = read_rows(*task, split, places, 8);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      INFO("split " << static_cast<int>(split) << ", place " << places[r]);
      CHECK(rows[r].starts == (places[r] == 0 ? 1 : 0));
      for (std::int64_t j = 0; j < 8; ++j) {
        const bool inside = places[r] + j < size;
        const auto at = begin + places[r] + j;
        const auto column = static_cast<std::size_t>(j);
        CHECK(rows[r].present[column] == (inside ? 1 : 0));
        CHECK(rows[r].ids[column] == (inside ? byte_at(at) : 0));
        CHECK(rows[r].targets[column] == (inside ? byte_at(at + 1) : -1));
      }
    }
    for (const auto index : {std::int64_t{-1}, size})
      CHECK_THROWS_AS(read_rows(*task, split, {0, index}, 8), std::out_of_range);
  }
}

TEST_CASE("a study can use only the first bytes of a text, gzipped or not: the same content has the same digest") {
  const TemporaryFolder folder;
  const auto plain = (folder.path() / "plain").string(), zipped = (folder.path() / "zipped.gz").string(),
             cut = (folder.path() / "cut").string();
  write_bytes(plain, text_of(3000));
  write_bytes(zipped, text_of(3000));
  write_bytes(cut, text_of(1000));
  const auto load = [&](const std::string& data, std::int64_t bytes) {
    return load_task("lm", {{"data", data}, {"bytes", bytes}, {"length", 4}}, folder.path());
  };
  CHECK(load(plain, 0)->size(Split::kTrain) == 2699);
  CHECK(load(plain, 1000)->size(Split::kTrain) == 899);
  CHECK(load(plain, 0)->digest() == load(zipped, 0)->digest());
  CHECK(load(plain, 0)->digest() == load(zipped, 3000)->digest());
  CHECK(load(plain, 1000)->digest() == load(cut, 0)->digest());
  // The digest is the SHA-256 of only the bytes, and is part of recorded keys.
  CHECK(load(cut, 0)->digest() == "bd8ee980e643a7cdf90b7febb1d165e34585a5ffd45c11d7d269aa2dee3364eb");
  CHECK(load(zipped, 1000)->digest() != load(zipped, 1001)->digest());
  CHECK(load(zipped, 0)->files() == std::vector<fs::path>{zipped});
  auto other = text_of(3000);
  other[2999] ^= 1;
  write_bytes(cut, other);
  CHECK(load(cut, 0)->digest() != load(plain, 0)->digest());
}

TEST_CASE("describe writes a text readably") {
  const TemporaryFolder folder;
  auto text = text_of(200);
  for (const auto& [at, byte] : {std::pair<std::size_t, char>{0, 'a'}, {1, '\n'}, {2, '\xe2'}, {3, '~'}})
    text[at] = static_cast<std::uint8_t>(byte);
  write_bytes(folder.path() / "text", text);
  const auto task = load_task("lm", {{"data", (folder.path() / "text").string()}, {"length", 4}}, folder.path());
  CHECK(task->describe(Split::kTrain, 0) == "bytes from 0 on: a\n\\xe2~");
}

TEST_CASE("faults of texts are reported") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "text";
  const auto refusal = [&](const nlohmann::json& changes) {
    auto all = changes;
    if (!all.contains("data")) all["data"] = path.string();
    return message_of([&] { load_task("lm", all, folder.path()); });
  };
  write_bytes(path, text_of(179));
  CHECK_NOTHROW(load_task("lm", {{"data", path.string()}, {"length", 7}}, folder.path()));
  check_mentions(refusal({{"length", 8}}), {path.string(), "found 179 bytes", "at least 180", "length = 8"});
  check_mentions(refusal({{"length", 4}, {"bytes", 1000}}), {path.string(), "found 179 bytes", "bytes = 1000"});
  check_mentions(refusal({{"data", "/nowhere/text"}}), {"/nowhere/text", "was not found", "enwik8"});
  check_mentions(refusal({{"data", folder.path().string()}}), {folder.path().string(), "(is a folder)"});
  const auto zipped = folder.path() / "text.gz";
  write_bytes(zipped, random_pictures(1, 3000, 1).front());
  fs::resize_file(zipped, fs::file_size(zipped) - 100);
  check_mentions(refusal({{"data", zipped.string()}, {"length", 4}}), {zipped.string(), "the gzip stream is cut off", "fetch"});
  auto bytes = read_bytes(zipped);
  bytes[bytes.size() / 2] ^= 0x55;
  std::ofstream(zipped, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  check_mentions(refusal({{"data", zipped.string()}, {"length", 4}}), {zipped.string(), "fetch"});
}

TEST_CASE("missing texts: the remedy names the source and the place of each text") {
  const TemporaryFolder folder;
  const DataFolder data(folder.path());
  for (const std::string name : {"enwik8", "wikitext-103", "pg19"})
    check_mentions(message_of([&] {
                     make_task("lm", {{"data", name}}, folder.path())->info();
                   }),
                   {folder.path().string() + "/" + name, "https://mattmahoney.net", "https://wikitext.smerity.com",
                    "https://storage.googleapis.com/deepmind-gutenberg",
                    "Set ABLATE_DATA to a folder that contains them under these names: enwik8/enwik8.zip, "
                    "wikitext-103/wikitext-103-v1.zip, or pg19/"});
}

TEST_CASE("enwik8 is searched under ABLATE_DATA") {
  const TemporaryFolder folder;
  const DataFolder data(folder.path());
  check_mentions(
      message_of([&] { make_task("lm", {}, folder.path())->info(); }),
      {folder.path().string() + "/enwik8", "/usr/share/datasets/enwik8", "Set ABLATE_DATA", "https://mattmahoney.net"});
  fs::create_directory(folder.path() / "enwik8");
  write_bytes(folder.path() / "enwik8/enwik8.gz", text_of(200));
  CHECK(make_task("lm", {}, folder.path())->files() == std::vector<fs::path>{folder.path() / "enwik8/enwik8.gz"});
  write_bytes(folder.path() / "enwik8/enwik8", text_of(200));
  CHECK(make_task("lm", {}, folder.path())->files() == std::vector<fs::path>{folder.path() / "enwik8/enwik8"});
}
