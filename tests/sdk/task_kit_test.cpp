// The SDK's kit for tasks: it identifies, reads and caches content, and draws from a seed. Its results must never change,
// because data sets depend on these results, and the digests of data sets are part of trials' keys.
#include <sys/stat.h>
#include <zlib.h>

#include <map>

#include "ablate/data_files.h"
#include "ablate/digest.h"
#include "ablate/examples.h"
#include "ablate/input_file.h"
#include "ablate/random.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temporary.h"

using namespace ablate;

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

std::string hex_of(const std::string& text) { return Digest().add(text.data(), text.size()).hex(); }

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

void write_gzip(const fs::path& path, const std::string& text) {
  const auto file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
}

}  // namespace

TEST_CASE("a digest is the SHA-256 of all pieces together, and columns stay separate") {
  // FIPS 180-4's examples.
  CHECK(hex_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(Digest().add('a').add("bc", 2).hex() == hex_of("abc"));
  CHECK(Digest().add(std::uint32_t{0x636261}).hex() == hex_of(std::string("abc\0", 4)));
  CHECK(Digest().add_column(std::string("abc")).hex() == hex_of(std::string("\3\0\0\0\0\0\0\0abc", 11)));
  CHECK(Digest().add_column(Bytes{1}).add_column(Bytes{}).hex() != Digest().add_column(Bytes{}).add_column(Bytes{1}).hex());
  CHECK(Digest().add_column(std::vector<std::uint16_t>{1, 2}).hex() == hex_of(std::string("\4\0\0\0\0\0\0\0\1\0\2\0", 12)));
}

TEST_CASE("a gzipped file reads like a plain file: in pieces, as a whole, or only its first bytes") {
  TemporaryFolder folder;
  std::string text;
  for (unsigned i = 0; i < 1'000'000; ++i) text += static_cast<char>(i * i >> 5);
  const auto plain = folder.write("text", text);
  write_gzip(folder / "text.gz", text);
  CHECK(plain_or_gzipped(folder / "text") == plain);
  for (const auto& path : {plain, folder / "text.gz"}) {
    INFO(path);
    const auto all = InputFile(path).read_some(UINT64_MAX);
    CHECK(std::string(all.begin(), all.end()) == text);
    CHECK(InputFile(path).read_some(1000) == Bytes(all.begin(), all.begin() + 1000));
    CHECK(InputFile(path).read_some(0).empty());
    InputFile file(path);
    Bytes first(10);
    file.read_all(first, "ten");
    CHECK(first == Bytes(all.begin(), all.begin() + 10));
    CHECK(file.read_rest(text.size() - 10, "the rest").size() == text.size() - 10);
    CHECK(says(message_of([&] { InputFile(path).read_rest(10, "ten"); }), "expected 10 bytes for ten"));
    CHECK(says(message_of([&] { InputFile(path).read_rest(1ull << 40, "a claim"); }), "expected 1099511627776 bytes"));
  }
  fs::remove(plain);
  CHECK(plain_or_gzipped(folder / "text") == folder / "text.gz");
  CHECK(plain_or_gzipped(folder / "other").empty());
  fs::resize_file(folder / "text.gz", fs::file_size(folder / "text.gz") - 100);
  CHECK(says(message_of([&] { InputFile(folder / "text.gz").read_some(UINT64_MAX); }), "the gzip stream is cut off after"));
  CHECK(says(message_of([&] { InputFile(folder.path()); }), "found a folder, expected a file"));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(says(message_of([&] { InputFile(folder / "pipe"); }), "is not a regular file"));
}

TEST_CASE("lines are read without their ends, from a plain or gzipped file or any source, and an error names its line") {
  TemporaryFolder folder;
  std::vector<std::string> expected = {"first", "", "ends with CR LF", "a \r within", std::string("a \0 too", 7)};
  std::string text = "first\n\nends with CR LF\r\na \r within\n" + expected.back() + "\n";
  for (int i = 0; i < 40; ++i) {  // 20 MB: lines cross the pieces in which a file is read, and one line is longer than a piece
    expected.emplace_back(i == 20 ? 10'000'000 : 250'000 + i, static_cast<char>('a' + i % 26));
    text += expected.back() + "\n";
  }
  const bool has_end = GENERATE(true, false);
  if (!has_end) text.pop_back();
  write_gzip(folder / "text.gz", text);
  std::size_t at = 0;
  const auto source = [&](std::span<std::uint8_t> to) {
    const auto count = std::min(to.size(), text.size() - at);
    std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(at), count, to.begin());
    at += count;
    return count;
  };
  std::vector<Lines> forms;
  forms.emplace_back(folder.write("text", text));
  forms.emplace_back(folder / "text.gz");
  forms.emplace_back("archive/text", source);
  for (auto& lines : forms) {
    std::vector<std::string> found;
    while (const auto line = lines.next()) found.emplace_back(*line);
    CHECK((found == expected));
    CHECK_FALSE(lines.next());
  }
  CHECK_FALSE(Lines(folder.write("empty", "")).next());
  Lines lines(folder.write("three", "a\nb\nc"));
  lines.next(), lines.next();
  CHECK(message_of([&] { lines.refuse("found b, expected a"); }) == (folder / "three").string() + ":2: found b, expected a");
  CHECK_THROWS_AS(lines.refuse(""), FileError);
  CHECK(says(message_of([&] { Lines(folder.path()); }), "found a folder, expected a file"));
  fs::resize_file(folder / "text.gz", fs::file_size(folder / "text.gz") - 100);
  Lines cut(folder / "text.gz");
  CHECK(says(message_of([&] {
               while (cut.next()) continue;
             }),
             "the gzip stream is cut off after"));
}

TEST_CASE("generators, shuffles and splits are the same on every machine") {
  // The C++ standard fixes the results of std::seed_seq and std::mt19937_64.
  std::seed_seq words{std::uint32_t{5}, std::uint32_t{1}, std::uint32_t{7}};
  CHECK(generator((std::uint64_t{1} << 32) + 5, {7}) == std::mt19937_64(words));
  CHECK(generator(5, {7}) != generator(5, {8}));
  CHECK(generator(5, {7}) != generator(6, {7}));
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) REQUIRE(below(6, random) < 6);
  std::vector<int> items = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::mt19937_64 zero(0);
  shuffle(items, zero);
  CHECK(items == std::vector<int>{6, 5, 9, 2, 7, 3, 4, 0, 8, 1});
  std::array<std::array<int, 3>, 3> counts{};  // by item and its position
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::size_t> three = {0, 1, 2};
    shuffle(three, random);
    for (std::size_t place = 0; place < 3; ++place) ++counts[three[place]][place];
  }
  for (const auto& places : counts)
    for (const auto count : places) CHECK(count == Approx(1000).margin(150));

  const auto [train, dev, test] = split_by_seed(10, 2, 3, 0);
  CHECK(train.size() == 5);
  CHECK(Places(items.end() - 2, items.end()) == dev);
  CHECK(Places(items.end() - 5, items.end() - 2) == test);
  auto all = train;
  for (const auto* split : {&dev, &test}) all.insert(all.end(), split->begin(), split->end());
  std::ranges::sort(all);
  CHECK(all == Places{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(split_by_seed(10, 2, 3, 1) != split_by_seed(10, 2, 3, 0));
  CHECK(says(message_of([] { split_by_seed(10, 4, 6, 0); }), "leave none of 10 examples for training"));
}

TEST_CASE("data are found by name below ABLATE_DATA, and errors list the paths searched") {
  TemporaryFolder folder;
  folder.write("sets/mine/file", "");
  const char* before = std::getenv("ABLATE_DATA");
  const std::string kept = before != nullptr ? before : "";
  setenv("ABLATE_DATA", (folder / "sets").c_str(), 1);
  CHECK(find_data("one", "mine", "a folder") == folder / "sets/mine");
  CHECK(find_data("one", "mine/file", "a file", is_file) == folder / "sets/mine/file");
  CHECK(find_data("one", (folder / "sets").string(), "a folder") == folder / "sets");
  const auto message = message_of([] { find_data("one", "mine/file", "a folder of it. Get it"); });
  CHECK(says(message, "one: data = \"mine/file\" was not found; looked for " + (folder / "sets/mine/file").string() +
                          " (is no folder), /usr/share/datasets/mine/file, "));
  CHECK(
      says(message, "; expected a folder of it. Get it (ABLATE_DATA, the folder of data sets: " + (folder / "sets").string()));
  const auto here = message_of([] { find_data("one", "./mine", "a folder"); });
  CHECK_FALSE(says(here, (folder / "sets").string() + "/"));  // "./mine" is searched only in the working folder
  CHECK(says(here, "looked for " + fs::current_path().string()));
  fs::create_symlink("itself", folder / "sets/itself");
  for (const auto& [data, will_do] :
       {std::pair<std::string, std::function<bool(const fs::path&)>>{"itself", is_folder},
        {"mine", [](const fs::path& place) { return is_file(place.parent_path() / "itself"); }}}) {
    const auto said = message_of([&] { find_data("one", data, "a folder of it", will_do); });
    INFO(said);
    const auto itself = (folder / "sets/itself").string();
    CHECK(says(said, "one: data = \"" + data + "\" was not found; looked for " + (folder / "sets" / data).string() +
                         (data == "mine" ? " (" + itself + ": " : " (") +
                         "Too many levels of symbolic links); expected a folder of it"));
  }
  CHECK(says(message_of([] { find_data("one", "", "a folder"); }), "data = \"\" was not found; expected a folder"));
  if (before != nullptr)
    setenv("ABLATE_DATA", kept.c_str(), 1);
  else
    unsetenv("ABLATE_DATA");
}

TEST_CASE("an index is checked, and a row ends after its last token") {
  CHECK(place_of(4, 5) == 4);
  for (const std::int64_t index : {-1, 5})
    CHECK(
        says(message_of([&] { place_of(index, 5); }), "found the index " + std::to_string(index) + ", expected one in [0, 5)"));
  std::vector<std::uint8_t> present(6, 1);
  const BatchView batch{.length = 3, .ids = {}, .reals = {}, .present = {present}, .starts = {}, .targets = {}, .slices = {}};
  end_row(batch, 0, 3);
  end_row(batch, 1, 1);
  CHECK(present == std::vector<std::uint8_t>{1, 1, 1, 1, 0, 0});
}

namespace {

struct Numbers final : Values {
  std::map<std::string, std::int64_t> of;
  explicit Numbers(std::map<std::string, std::int64_t> numbers) : of(std::move(numbers)) {}
  std::int64_t integer(const char* name) const override { return of.at(name); }
  bool boolean(const char*) const override { throw std::logic_error("no boolean"); }
  double real(const char*) const override { throw std::logic_error("no real"); }
  std::string text(const char*) const override { throw std::logic_error("no text"); }
  Rate rate(const char*) const override { throw std::logic_error("no rate"); }
  std::vector<Rate> rates(const char*) const override { throw std::logic_error("no rates"); }
  std::string file(const char*) const override { throw std::logic_error("no file"); }
  std::int64_t count(const char*) const override { throw std::logic_error("no plugins"); }
};

/// Task whose example `index` has the ids 0 to `index`, and a target only at the first id.
struct Rising final : GeneratedRows {
  explicit Rising(const Values& values) : GeneratedRows(values, 40) {}
  TaskInfo info() override { return {}; }
  std::string digest() const override { return in_words("rising 1", "by ones", 0.5, sizes(), seed()); }
  Row make(Split split, std::int64_t index) const override {
    last = random_of(split, index);
    Row row{{}, {0}};
    for (std::int64_t id = 0; id <= index; ++id) row.ids.push_back(id);
    row.targets.resize(row.ids.size(), -1);
    return row;
  }
  mutable std::mt19937_64 last;
};

}  // namespace

TEST_CASE("a generated task's example depends on its index, and its rows are filled, ended and described") {
  Rising task(Numbers({{"train", 0}, {"dev", 3}, {"test", 5}, {"data_seed", 7}}));
  CHECK((task.size(Split::kTrain) == 40 && task.size(Split::kDev) == 3 && task.size(Split::kTest) == 5));
  CHECK(Rising(Numbers({{"train", 2}, {"dev", 3}, {"test", 5}, {"data_seed", 7}})).size(Split::kTrain) == 2);
  CHECK(task.digest() == "rising 1 by ones 0.500000 40 3 5 7");
  CHECK(task.describe(Split::kTest, 2) == "0>0 1 2");
  CHECK(task.last == generator(7, {2, 0, 2}));
  CHECK(says(message_of([&] { task.describe(Split::kDev, 3); }), "found the index 3, expected one in [0, 3)"));
  for (const std::size_t slices : {0u, 2u}) {
    std::vector<std::int64_t> ids(6, 0), targets(6, -1), groups(slices, 0);
    std::vector<std::uint8_t> present(6, 1);
    const std::vector<std::int64_t> indices = {1, 0};
    task.read(
        Split::kDev, indices,
        {.length = 3, .ids = {ids}, .reals = {}, .present = {present}, .starts = {}, .targets = targets, .slices = groups});
    CHECK(ids == Ids{0, 1, 0, 0, 0, 0});
    CHECK(targets == Ids{0, -1, -1, 0, -1, -1});
    CHECK(present == std::vector<std::uint8_t>{1, 1, 0, 1, 0, 0});
    CHECK(groups == (slices == 0 ? Ids{} : Ids{2, 1}));
  }
}

TEST_CASE("a sequence's content decides its split, the same on every machine") {
  CHECK(short_digest(Ids{1, 2}) == 0xffe0);
  CHECK(short_hash(Ids{1, 2}) == 0x9c388adbb85671f6);
  for (const auto split : {Split::kTrain, Split::kDev, Split::kTest}) CHECK(belongs_to(split, 7) == (split == Split::kDev));
  std::mt19937_64 random(3), same(3);
  for (int i = 0; i < 100; ++i) CHECK(one_of(-2, 4, random) == -2 + static_cast<std::int64_t>(below(6, same)));
  int draws = 0;
  CHECK(draw_until([&] { return ++draws; }, [](int n) { return n > 4; }, [] { return "none"; }) == 5);
  CHECK(message_of([&] { draw_until([&] { return ++draws; }, [](int) { return false; }, [] { return "too few"; }); }) ==
        "too few");
  CHECK(draws == 1005);
  CHECK(message_of([] { expect(false, "length", 7, "an even number"); }) == "length = 7, expected an even number");
}
