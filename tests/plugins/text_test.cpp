// The text plugin on small files in the published form.
#include <set>

#include "tests/plugins/text_files.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

std::set<std::string> texts_of(Task& task, Split split) {
  std::set<std::string> texts;
  for (const auto& example : read_examples(task, split)) texts.insert(text_of(example));
  return texts;
}

std::string refusal(const fs::path& data, const json& changes = {}) {
  return message_of([&] { load_reviews(data, changes); });
}

}  // namespace

TEST_CASE("reviews are read as bytes, cut to the length, with the label of their folder") {
  const ReviewsFolder files(6);
  files.write("test/pos/1_9.txt", std::string("\0\xff\x80 end", 7));
  const auto task = load_reviews(files.root(), {{"length", 12}});
  const auto info = task->info();
  CHECK(info.fields.at(0).vocabulary == 257);
  CHECK(info.length == 12);
  CHECK(info.classes == 2);
  const auto test = read_examples(*task, Split::kTest);
  REQUIRE(test.size() == 12);
  for (std::size_t i = 0; i < test.size(); ++i) {
    CHECK(test[i].label == static_cast<std::int64_t>(i % 2));  // by id, negative first, so that every prefix is balanced
    const auto text = std::string("test ") + (i % 2 == 0 ? "neg " : "pos ") + std::to_string(i / 2) + "............";
    if (i != 3) CHECK(text_of(test[i]) == text.substr(0, i < 2 ? 10 : 12));
  }
  CHECK((test[3].ids == std::vector<std::int64_t>{1, 256, 129, 33, 'e' + 1, 'n' + 1, 'd' + 1}));
  CHECK(task->describe(Split::kTest, 0) == "label 0, against the film: test neg 0");
  CHECK(task->describe(Split::kTest, 1) == "label 1, for the film: test pos 0");
  CHECK_THROWS_AS(task->describe(Split::kTest, 12), std::out_of_range);
}

TEST_CASE("dev is drawn by film, or is the test split, as in the Long Range Arena") {
  const ReviewsFolder files(20);
  const auto task = load_reviews(files.root());
  // Each film has two positive and two negative reviews, so dev = 4 is one film.
  CHECK(task->size(Split::kTrain) == 36);
  CHECK(task->size(Split::kTest) == 40);
  const auto dev = texts_of(*task, Split::kDev), train = texts_of(*task, Split::kTrain);
  REQUIRE(dev.size() == 4);
  std::set<int> films;
  for (const auto& text : dev) {
    CHECK_FALSE(train.contains(text));
    CHECK(text.starts_with("train "));
    films.insert(std::stoi(text.substr(10)) / 2);
  }
  CHECK(films.size() == 1);
  CHECK(load_reviews(files.root(), {{"dev", 5}})->size(Split::kDev) == 8);  // films are not split
  CHECK(load_reviews(files.root())->digest() == task->digest());
  std::set<std::string> digests;
  for (int seed = 0; seed < 8; ++seed) digests.insert(load_reviews(files.root(), {{"data_seed", seed}})->digest());
  CHECK(digests.size() > 3);  // each seed draws one of ten films

  const auto published = load_reviews(files.root(), {{"dev_from", "test"}});
  CHECK(published->size(Split::kTrain) == 40);
  CHECK((read_examples(*published, Split::kDev) == read_examples(*task, Split::kTest)));
  CHECK((read_examples(*published, Split::kTest) == read_examples(*task, Split::kTest)));
  CHECK(published->digest() != task->digest());
  check_mentions(refusal(files.root(), {{"dev", 37}}), {"dev = 37", "nothing of the 40 training reviews, of 10 films"});
}

TEST_CASE("the folder, a folder around it, and its archives, packed by gzip or xz, give the same data") {
  const ReviewsFolder files(8);
  files.write("README", "not a review");
  fs::create_directory(files.root() / "train/unsup");
  files.write("train/unsup/0_0.txt", "a review without a label, in train alone");
  const auto task = load_reviews(files.root());
  CHECK(task->files().size() == 4 * (8 + 1));
  CHECK(load_reviews(files.folder.path())->digest() == task->digest());
  for (const auto& [name, options] :
       {std::pair{"aclImdb_v1.tar.gz", "czf"}, {"aclImdb_labelled.tar.xz", "cJf"}, {"plain.tar", "cf"}}) {
    INFO(name);
    const auto archive = files.pack(name, options);
    const auto packed = load_reviews(archive);
    CHECK(packed->files() == std::vector{archive});
    CHECK(packed->digest() == task->digest());
    CHECK((read_examples(*packed, Split::kDev) == read_examples(*task, Split::kDev)));
  }
  fs::remove_all(files.root());
  CHECK(load_reviews(files.folder.path())->files() == std::vector{files.folder.path() / "aclImdb_v1.tar.gz"});
  fs::remove(files.folder.path() / "aclImdb_v1.tar.gz");
  CHECK(load_reviews(files.folder.path())->files() == std::vector{files.folder.path() / "aclImdb_labelled.tar.xz"});
}

TEST_CASE("the digest depends on texts, labels and splits, and on nothing else") {
  const ReviewsFolder files(8);
  const auto digest = load_reviews(files.root())->digest();
  const auto text = files.root() / "train/neg/2_2.txt";
  fs::last_write_time(text, fs::last_write_time(text) - std::chrono::hours(1));
  CHECK(load_reviews(files.root())->digest() == digest);
  CHECK(load_reviews(files.root(), {{"length", 20}})->digest() != digest);
  files.write("test/neg/7_2.txt", "another review");
  CHECK(load_reviews(files.root())->digest() != digest);
}

TEST_CASE("missing or wrong files are reported with their names") {
  const ReviewsFolder files(8);
  const auto root = files.root();
  const auto in = [&](const std::string& text) { return root.string() + text; };
  SECTION("names") {
    files.write("train/pos/8.txt", "text");
    check_mentions(refusal(root), {in(": train/pos/8.txt: found this name, expected ID_RATING.txt")});
    fs::rename(root / "train/pos/8.txt", root / "train/pos/08_9.txt");
    check_mentions(refusal(root), {in(": train/pos/08_9.txt: found this name")});
    fs::rename(root / "train/pos/08_9.txt", root / "train/pos/8_9.text");
    check_mentions(refusal(root), {in(": train/pos/8_9.text: found this name")});
  }
  SECTION("ratings") {
    files.write("test/neg/8_7.txt", "text");
    check_mentions(refusal(root), {in(": test/neg/8_7.txt: found the rating 7, expected 1 to 4 among negative")});
    fs::rename(root / "test/neg/8_7.txt", root / "test/pos/8_4.txt");
    check_mentions(refusal(root), {in(": test/pos/8_4.txt: found the rating 4, expected 7 to 10 among positive")});
  }
  SECTION("an empty review") {
    files.write("test/neg/3_2.txt", "");
    check_mentions(refusal(root), {in(": test/neg/3_2.txt: is empty")});
  }
  SECTION("a review that is missing, or there twice") {
    fs::remove(root / "train/neg/5_2.txt");
    check_mentions(refusal(root),
                   {in(": train/neg: found 7 reviews, but none with the id 5; expected each id from 0 on once")});
    files.write("train/neg/5_2.txt", "text");
    files.write("train/neg/5_3.txt", "text");
    check_mentions(refusal(root), {in(": train/neg: found 9 reviews, two with the id 5;")});
  }
  SECTION("reviews that are missing at the end") {
    fs::remove(root / "test/neg/7_2.txt");
    const std::string list =
        ": test/neg: found 7 reviews, expected 8, as test/urls_neg.txt has lines: unpack the archive again";
    for (const auto* dev_from : {"train", "test"}) check_mentions(refusal(root, {{"dev_from", dev_from}}), {in(list)});
    const auto archive = files.pack("aclImdb_v1.tar.gz", "czf");
    check_mentions(refusal(archive), {archive.string() + list});
    fs::remove(root / "test/urls_neg.txt");  // train/neg also shows the error
    check_mentions(refusal(root), {in(": test/neg: found 7 reviews, expected 8, as there are in train/neg")});
    fs::remove(root / "test/pos/7_9.txt");
    fs::remove(root / "test/urls_pos.txt");
    check_mentions(refusal(root), {in(": test/neg: found 7 reviews, expected 8, as there are in train/neg")});
    for (const auto* more : {"train/neg/7_2.txt", "train/pos/7_9.txt", "train/urls_neg.txt", "train/urls_pos.txt"})
      fs::remove(root / more);
    CHECK(load_reviews(root, {{"dev_from", "test"}})->size(Split::kTest) == 14);  // all folders have 7 reviews now
  }
  SECTION("no review, no folder") {
    for (int i = 0; i < 8; ++i) fs::remove(root / ("test/neg/" + std::to_string(i) + "_2.txt"));
    check_mentions(refusal(root), {in(": found no review in test/neg")});
    fs::remove(root / "test/neg");
    check_mentions(refusal(root), {in(" lacks the folder test/neg"), "aclImdb_v1.tar.gz"});
  }
  SECTION("films, which are needed only if dev is a separate split") {
    const std::string page = "http://www.imdb.com/title/tt0064354/usercomments\n";
    for (const std::string wrong : {"garbage", "", "http://www.imdb.com/title/", "tt0064354"}) {
      files.write("train/urls_pos.txt", page + page + wrong + "\n" + page + page + page + page + page);
      check_mentions(refusal(root), {in(": train/urls_pos.txt:3: found \"" + wrong + "\", expected the page of a film")});
    }
    files.write("train/urls_pos.txt", page + page);
    check_mentions(refusal(root), {in(": train/pos: found 8 reviews, expected 2, as train/urls_pos.txt has lines")});
    fs::remove(root / "train/urls_pos.txt");
    check_mentions(refusal(root), {in(": lacks train/urls_pos.txt")});
    CHECK(load_reviews(root, {{"dev_from", "test"}})->size(Split::kDev) == 16);
  }
  SECTION("archives") {
    files.write("test/neg/3_2.txt", "");
    const auto archive = files.pack("aclImdb_v1.tar.gz", "czf");
    check_mentions(refusal(archive), {archive.string() + ": test/neg/3_2.txt: is empty"});
    fs::resize_file(archive, fs::file_size(archive) / 2);
    check_mentions(refusal(archive), {archive.string() + ": the gzip stream is cut off after", "fetch it again"});
    write_text(archive, "no archive at all");
    check_mentions(refusal(archive), {archive.string() + ": cannot be read ("});
  }
  SECTION("an archive with one changed bit, in the content or in the checksum after it") {
    for (const std::string name : {"aclImdb_v1.tar.gz", "aclImdb_v1.tar.xz"}) {
      const auto archive = files.pack(name, name.ends_with("gz") ? "czf" : "cJf");
      const auto whole = read_bytes(archive);
      for (const auto place : {whole.size() / 3, whole.size() / 2, whole.size() - 8, whole.size() - 6}) {
        INFO(name << " " << place);
        auto damaged = whole;
        damaged[place] ^= 4;
        write_text(archive, {damaged.begin(), damaged.end()});
        check_mentions(refusal(archive), {archive.string() + ": ", "fetch it again"});
      }
    }
  }
  SECTION("an archive that is padded far beyond its end mark, as tar may do") {
    const auto tar = files.pack("plain.tar", "cf");
    fs::resize_file(tar, std::uintmax_t{3} << 20);
    const auto packed = files.folder.path() / "aclImdb_v1.tar.gz";
    write_bytes(packed, read_bytes(tar));
    CHECK(load_reviews(packed)->digest() == load_reviews(root)->digest());
    auto damaged = read_bytes(packed);
    damaged[damaged.size() - 6] ^= 4;
    write_text(packed, {damaged.begin(), damaged.end()});
    check_mentions(refusal(packed), {packed.string() + ": the gzip stream is damaged", "fetch it again"});
  }
  SECTION("nothing") {
    check_mentions(refusal(files.folder.path() / "nowhere"), {"nowhere", "was not found", "https://ai.stanford.edu/~amaas"});
    const TemporaryFolder empty;
    const DataFolder data(empty.path());
    check_mentions(message_of([&] { make_task("text", {}, empty.path())->info(); }),
                   {"text: data = \"imdb\" was not found", empty.path().string() + "/imdb"});
  }
}
