// The pathfinder plugin through its contract: generated, cached and read examples.
#include <map>
#include <set>

#include "tests/plugins/pathfinder_files.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

const json kSmall = {{"train", 600}, {"dev", 30}, {"test", 31}};

/// Reads the examples of all splits. All pixels are present.
std::vector<Example> all_examples(Task& task) {
  std::vector<Example> all;
  for (const auto split : {Split::kTrain, Split::kDev, Split::kTest})
    for (auto& example : read_examples(task, split)) all.push_back(std::move(example));
  return all;
}

std::multiset<Example> as_examples(const std::vector<Bytes>& pictures) {
  std::multiset<Example> examples;
  for (std::size_t i = 0; i < pictures.size(); ++i)
    examples.insert({{pictures[i].begin(), pictures[i].end()}, i % 3 == 0 ? 1 : 0});
  return examples;
}

}  // namespace

TEST_CASE("generated pictures are complete, balanced and all different") {
  const TemporaryFolder cache;
  const auto [side, contour] = GENERATE(std::pair{32, 14}, std::pair{64, 9}, std::pair{128, 6});
  auto changes = kSmall;
  changes.update({{"train", 64}, {"size", side}, {"contour", contour}});
  const auto task = load_task("pathfinder", changes, cache.path());
  const auto info = task->info();
  CHECK(info.fields.at(0).vocabulary == 256);
  CHECK(info.length == side * side);
  CHECK(info.geometry.rows == side);
  CHECK(info.geometry.columns == side);
  CHECK(info.classes == 2);
  CHECK(task->files().empty());
  for (const auto& [split, size] : {std::pair{Split::kTrain, 64}, {Split::kDev, 30}, {Split::kTest, 31}}) {
    std::int64_t connected = 0, second = 0;
    const auto examples = read_examples(*task, split);
    REQUIRE(std::ssize(examples) == size);
    for (std::size_t i = 0; i < examples.size(); ++i) {
      connected += examples[i].label;
      second += i % 2 == 1 ? examples[i].label : 0;
    }
    CHECK(second > size / 12);  // the index of an example does not show its label
    CHECK(second < size * 5 / 12);
    CHECK((connected == size / 2 || connected == (size + 1) / 2));  // half of all examples are connected
  }
  const auto all = all_examples(*task);
  for (const auto& example : all) {
    REQUIRE(std::ssize(example.ids) == side * side);
    const auto black = std::ranges::count(example.ids, 0), bright = std::ranges::count(example.ids, 255);
    CHECK(black > side * side / 2);
    CHECK(bright >= 2 * 2);  // only the middles of two circles
    CHECK(bright <= 2 * 29);
  }
  CHECK(std::set<Example>(all.begin(), all.end()).size() == all.size());
  const auto text = task->describe(Split::kDev, 1);
  const bool connected = read_examples(*task, Split::kDev, 2)[1].label == 1;
  CHECK(text.starts_with(connected ? "label 1, connected\n" : "label 0, not connected\n"));
  CHECK(std::ranges::count(text, '\n') == 1 + side);
  CHECK(text.find('@') != std::string::npos);
  CHECK_THROWS_AS(task->describe(Split::kDev, 30), std::out_of_range);
}

TEST_CASE("generation depends only on the parameters, not on threads or sizes, and is equal on every machine") {
  const TemporaryFolder one, two, three;
  const auto a = load_task("pathfinder", kSmall, one.path(), 1), b = load_task("pathfinder", kSmall, two.path(), 3);
  CHECK(a->digest() == b->digest());
  CHECK((all_examples(*a) == all_examples(*b)));
  // A change of the digest means other data: then the generator's version must be raised.
  CHECK(a->digest() == "253ab4bbdfe7071e08b82ef96cea8f5c5e871faa76d552ebf777bdef74077320");
  auto changes = kSmall;
  changes["data_seed"] = 1;
  const auto c = load_task("pathfinder", changes, three.path());
  CHECK(c->digest() != a->digest());
  CHECK((read_examples(*c, Split::kTrain) != read_examples(*a, Split::kTrain)));
  const auto d = load_task("pathfinder", {{"train", 50}, {"dev", 30}, {"test", 20}}, three.path(), 3);
  CHECK((read_examples(*d, Split::kTrain) == read_examples(*a, Split::kTrain, 50)));
  CHECK((read_examples(*d, Split::kTest) == read_examples(*a, Split::kTest, 20)));
  CHECK(load_task("pathfinder", {{"train", 600}, {"dev", 31}, {"test", 30}}, three.path())->digest() != a->digest());
}

TEST_CASE("generated pictures are read from the cache; a damaged cache is made anew") {
  const TemporaryFolder cache;
  const auto first = load_task("pathfinder", kSmall, cache.path());
  const auto file = fs::directory_iterator(cache.path())->path();
  const auto whole = read_bytes(file);
  const auto time = fs::last_write_time(file) - std::chrono::hours(1);
  fs::last_write_time(file, time);
  const auto second = load_task("pathfinder", kSmall, cache.path());
  CHECK(fs::last_write_time(file) == time);  // the cache was read, not written
  CHECK(second->digest() == first->digest());
  CHECK((all_examples(*second) == all_examples(*first)));
  auto damaged = whole;
  damaged[damaged.size() / 2] ^= 1;
  write_bytes(file, damaged);
  CHECK(load_task("pathfinder", kSmall, cache.path())->digest() == first->digest());
  CHECK(read_bytes(file) == whole);
}

TEST_CASE("a black pixel of pathfinder is a token, or absent if the study sets that") {
  const PicturesFolder files;
  const auto token = load_pictures(files.root()), absent = load_pictures(files.root(), {{"black", "absent"}});
  CHECK_FALSE(token->info().holes);
  CHECK(absent->info().holes);
  CHECK(absent->digest() != token->digest());
  std::array<std::vector<std::int64_t>, 2> ids;
  std::array<std::vector<std::uint8_t>, 2> present;
  for (const std::size_t i : {0, 1}) {
    std::vector<std::int64_t> targets(2, -1);
    ids[i].assign(2 * 1024, 0), present[i].assign(2 * 1024, 1);
    (i == 0 ? token : absent)
        ->read(Split::kDev, std::vector<std::int64_t>{2, 0},
               {.length = 1024, .ids = {ids[i]}, .reals = {{}}, .present = {present[i]}, .targets = targets});
  }
  CHECK(ids[1] == ids[0]);
  CHECK(std::ranges::count(ids[0], 0) > 0);
  CHECK(present[0] == std::vector<std::uint8_t>(2 * 1024, 1));
  for (std::size_t i = 0; i < 2 * 1024; ++i) REQUIRE(present[1][i] == (ids[1][i] > 0));
}

TEST_CASE("sizes and contours that were never published are refused") {
  const TemporaryFolder cache;
  const auto refused = [&](const json& changes) { return message_of([&] { make_task("pathfinder", changes, cache.path()); }); };
  check_mentions(refused({{"size", 48}}), {"size = 48, expected 32, 64 or 128"});
  check_mentions(refused({{"contour", 10}}), {"contour = 10, expected 6, 9 or 14"});
}

TEST_CASE("a folder named for other contours is refused before it is read; a folder with another name is read") {
  const PicturesFolder files;
  const TemporaryFolder cache;
  for (const auto& data : {files.root().string(), files.root().string() + "/"})
    check_mentions(message_of([&] {
                     make_task("pathfinder", {{"data", data}, {"contour", 9}}, cache.path())->info();
                   }),
                   {"contour = 9, expected 14: ", data, "has contours of 14 paddles"});
  const auto own = files.root().parent_path() / "own";
  fs::rename(files.root(), own);
  CHECK(load_pictures(own, {{"contour", 9}})->size(Split::kTrain) == 16);
}

TEST_CASE("published pictures are read by their metadata lines, from any folder above them") {
  const PicturesFolder files;
  const auto task = load_pictures(files.root());
  CHECK(task->size(Split::kTrain) == 16);
  CHECK(task->size(Split::kDev) == 4);
  CHECK(task->files().size() == 12 + 24);
  CHECK(task->files().front() == files.metadata(0));
  CHECK(task->files()[2] == files.metadata(2));  // 2.npy comes before 10.npy
  const auto all = all_examples(*task);
  CHECK((std::multiset<Example>(all.begin(), all.end()) == as_examples(files.pictures)));
  for (const auto& above : {files.folder.path(), files.folder.path() / "lra_release", files.root().parent_path()})
    CHECK(load_pictures(above)->digest() == task->digest());
  CHECK(load_pictures(files.root(), {}, 1)->digest() == task->digest());
  CHECK(load_pictures(files.root(), {{"data_seed", 1}})->digest() != task->digest());
  auto other = files.pictures[7];
  other[1000] ^= 1;
  write_png(files.picture(3, 1), 32, other);
  CHECK(load_pictures(files.root())->digest() != task->digest());
  write_png(files.picture(3, 1), 32, files.pictures[7]);
  CHECK(load_pictures(files.root())->digest() == task->digest());
  write_text(files.metadata(3), PicturesFolder::line(3, 0, "1") + PicturesFolder::line(3, 1, "0"));
  CHECK(load_pictures(files.root())->digest() == task->digest());  // the same labels as before the edits
  write_text(files.metadata(3), PicturesFolder::line(3, 0, "1") + PicturesFolder::line(3, 1, "1"));
  CHECK(load_pictures(files.root())->digest() != task->digest());
}

TEST_CASE("the empty published picture is left out; another empty picture is an error") {
  const PicturesFolder files;
  const auto easy = files.root().parent_path() / "curv_baseline";
  fs::rename(files.root(), easy);
  write_text(easy / "metadata/12.npy", "imgs/0 sample_172.png 172 1 1.8 6 2 5 1.5 1 1\n");
  write_text(easy / "imgs/0/sample_172.png", "");
  const auto load = [&] { return load_pictures(files.folder.path(), {{"contour", 6}}); };
  CHECK(load()->size(Split::kTrain) == 16);
  CHECK(load()->files().size() == 13 + 24);
  write_text(easy / "imgs/3/sample_1.png", "");
  check_mentions(message_of(load), {(easy / "metadata/3.npy").string() + ":2: " + (easy / "imgs/3/sample_1.png").string() +
                                    ": is no whole PNG file"});
}

TEST_CASE("missing or wrong published pictures are reported with file and line") {
  const PicturesFolder files;
  const auto refused = [&](const json& changes = {}) { return message_of([&] { load_pictures(files.root(), changes); }); };
  const auto metadata = files.metadata(3);
  const auto good = PicturesFolder::line(3, 0, "1");
  const auto line_2 = metadata.string() + ":2: ";
  const auto with_line = [&](const std::string& line) {
    write_text(metadata, good + line);
    return refused();
  };
  SECTION("metadata") {
    check_mentions(with_line("imgs/3 sample_1.png 1\n"), {line_2 + "found fewer than four words", "imgs/0 sample_0.png 0 1"});
    check_mentions(with_line("\n"), {line_2 + "found fewer than four words"});
    check_mentions(with_line(std::string("imgs/3 sample_1.png\0x 1 1\n", 26)), {line_2 + "found a zero byte, expected text"});
    check_mentions(with_line(PicturesFolder::line(3, 1, "2")), {line_2 + "found the label \"2\", expected 0 or 1"});
    check_mentions(with_line("imgs/3 ../../../x.png 1 1\n"), {line_2 + "names a picture outside of its folder"});
    check_mentions(with_line("/etc passwd 1 1\n"), {line_2 + "names a picture outside of its folder"});
    check_mentions(with_line(PicturesFolder::line(2, 1, "1")),
                   {line_2 + "names " + files.picture(2, 1).string() + ", as " + files.metadata(2).string() + ":2 does"});
    check_mentions(with_line(PicturesFolder::line(3, 9, "1")),
                   {line_2 + "names " + files.picture(3, 9).string(), "is missing"});
    write_text(metadata, "");
    check_mentions(refused(), {metadata.string() + ": is empty, expected a line for each picture"});
    for (std::size_t i = 0; i < 12; ++i) fs::remove(files.metadata(i));
    check_mentions(refused(), {files.root().string() + ": found no file metadata/*.npy"});
  }
  SECTION("pictures without a line") {
    const auto other = files.picture(3, 1);
    check_mentions(with_line(""), {other.string() + ": is named by no line of the metadata, expected one, as in " +
                                       metadata.string() + "; found 1 such pictures",
                                   "unpack the archive again"});
    fs::remove(files.metadata(1));
    check_mentions(refused(), {files.picture(1, 0).string() + ": is named by no line",
                               files.metadata(1).string() + ", which is missing; found 3 such pictures"});
  }
  SECTION("pictures") {
    const auto picture = files.picture(5, 1);
    const auto named = files.metadata(5).string() + ":2: " + picture.string();
    const auto whole = read_bytes(picture);
    auto damaged = whole;
    damaged.resize(damaged.size() / 2);
    write_bytes(picture, damaged);
    check_mentions(refused(), {named + ": is no whole PNG file"});
    damaged = whole;
    damaged[damaged.size() / 2] ^= 1;
    write_bytes(picture, damaged);
    check_mentions(refused(), {named + ": is no whole PNG file"});
    write_text(picture, "a text");
    check_mentions(refused(), {named + ": is no whole PNG file"});
    write_png(picture, 32, Bytes(3 * 1024, 7), PNG_FORMAT_RGB);
    check_mentions(refused(), {named + ": found a picture that is in colour", "eight bits of grey"});
    auto four_bits = whole;  // a header with a depth of 4 bits and the right checksum
    four_bits[24] = 4;
    const auto sum = crc32(0, four_bits.data() + 12, 17);
    for (int i = 0; i < 4; ++i) four_bits[29 + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
    write_bytes(picture, four_bits);
    check_mentions(refused(), {named + ": found a picture that is in colour, transparent or not of eight bits"});
    write_png(picture, 16, Bytes(256, 7));
    check_mentions(refused(), {named + ": found a picture of 16 x 16 pixels, expected size = 32"});
    write_bytes(picture, whole);
    check_mentions(refused({{"size", 64}}),
                   {files.metadata(0).string() + ":1: " + files.picture(0, 0).string(), "32 x 32 pixels, expected size = 64"});
  }
  SECTION("splits and folders") {
    check_mentions(refused({{"dev", 20}, {"test", 4}}), {"dev = 20 and test = 4", "none of 24 examples for training"});
    check_mentions(message_of([&] {
                     load_pictures(files.folder.path(), {{"size", 128}});
                   }),
                   {files.folder.path().string(), "pathfinder128/curv_contour_length_14", "lra_release.gz"});
  }
}
