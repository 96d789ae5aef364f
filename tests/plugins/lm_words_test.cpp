// The lm plugin on texts in the published forms: by words, by bytes, and the number of words.
#include <map>
#include <sstream>

#include "ablate/word_count.h"
#include "tests/plugins/lm_files.h"
#include "tests/plugins/stream.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

std::unique_ptr<Task> load_lm(const fs::path& data, nlohmann::json changes = {}, int threads = 2) {
  if (!changes.contains("length")) changes["length"] = 8;
  changes["data"] = data.string();
  const TemporaryFolder cache;
  return load_task("lm", changes, cache.path(), threads);
}

std::string refusal(const fs::path& data, const nlohmann::json& changes = {}) {
  return message_of([&] { load_lm(data, changes); });
}

nlohmann::json words(std::int64_t vocabulary, std::int64_t least_count = 1) {
  return {{"tokens", "words"}, {"vocabulary", vocabulary}, {"least_count", least_count}};
}

/// Returns the words of a text, and <eos> for each line, with only the standard library.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream of_line(line);
    for (std::string word; of_line >> word;) all.push_back(word);
    all.emplace_back("<eos>");
  }
  return all;
}

/// Returns all tokens of a split. A split has one token more than positions.
std::vector<std::int64_t> tokens_of(const Task& task, Split split) {
  const auto size = task.size(split);
  auto row = read_rows(task, split, {0}, size).front();
  row.ids.push_back(row.targets.back());
  for (std::size_t i = 0; i + 1 < row.ids.size(); ++i) REQUIRE(row.targets[i] == row.ids[i + 1]);
  return row.ids;
}

std::int64_t counted(const Task& task, Split split, std::int64_t places) {
  return dynamic_cast<const WordCount&>(task).words(split, places);
}

}  // namespace

TEST_CASE("WikiText by words: ids by falling frequency in train, and the end of a line is a word") {
  const WikiTextFolder files;
  const auto task = load_lm(files.root(), words(20));
  CHECK(task->info().unit == "word");
  CHECK(task->info().classes == 20);
  CHECK(task->info().fields.at(0).vocabulary == 20);
  std::map<std::string, std::int64_t> counts;
  for (const auto& word : words_of(files.texts[0])) ++counts[word];
  std::vector<std::pair<std::int64_t, std::string>> frequent;
  for (const auto& [word, count] : counts) frequent.emplace_back(-count, word);
  std::sort(frequent.begin(), frequent.end());
  REQUIRE(frequent.size() > 20);
  std::map<std::string, std::int64_t> ids;
  for (std::int64_t id = 1; id < 20; ++id) ids[frequent[static_cast<std::size_t>(id - 1)].second] = id;
  CHECK(ids.at("<eos>") > 0);
  std::int64_t unknown = 0;
  for (const auto split : {Split::kTrain, Split::kDev, Split::kTest}) {
    const auto expected = words_of(files.texts[static_cast<std::size_t>(split)]);
    const auto found = tokens_of(*task, split);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto known = ids.find(expected[i]);
      REQUIRE(found[i] == (known == ids.end() ? 0 : known->second));
      unknown += known == ids.end() ? 1 : 0;
    }
    CHECK(counted(*task, split, 5) == 0);  // perplexity needs no count if each token is a word
  }
  CHECK(unknown > 0);
  CHECK(task->describe(Split::kTest, 0).starts_with("words from 0 on: "));
}

TEST_CASE("<unk> of a published text, and words below the limits, are the same word") {
  WikiTextFolder files;
  files.texts = {" a a a b b <unk> c \n \n a a \n", " c b <unk> d \n a a a \n", " a \n a <eos> a b \n"};
  files.write();
  const nlohmann::json short_rows = {{"length", 2}};
  const auto load = [&](nlohmann::json limits) {
    limits.update(short_rows);
    return load_lm(files.root(), limits);
  };
  const std::vector<std::int64_t> a_eos_b = {0, 3, 0, 0, 2, 1, 1, 1, 2};  // counts: a 5, <eos> 3, b 2
  CHECK((tokens_of(*load(words(4)), Split::kDev) == a_eos_b));
  CHECK((tokens_of(*load(words(4, 2)), Split::kDev) == a_eos_b));
  CHECK((tokens_of(*load(words(5)), Split::kDev) == std::vector<std::int64_t>{4, 3, 0, 0, 2, 1, 1, 1, 2}));
  CHECK((tokens_of(*load(words(3)), Split::kDev) == std::vector<std::int64_t>{0, 0, 0, 0, 2, 1, 1, 1, 2}));
  CHECK((tokens_of(*load(words(4)), Split::kTest) == std::vector<std::int64_t>{1, 2, 1, 2, 1, 3, 2}));
  CHECK(load(words(4))->describe(Split::kDev, 0) == "words from 0 on: <unk> b");
  check_mentions(message_of([&] { load(words(5, 2)); }),
                 {files.root().string(), "train has 4 words", "least_count = 2", "vocabulary = 5", "4 or less"});
  check_mentions(message_of([&] { load(words(2, 6)); }), {files.root().string(), "least_count = 6 leaves only <unk>",
                                                          "occurs 5 times: set least_count to that or less"});
  CHECK(load(words(4))->digest() != load(words(3))->digest());
  CHECK(load(words(4))->digest() != load(words(4, 2))->digest());
}

TEST_CASE("WikiText is the same unpacked, gzipped, as published and from the cache, for any number of threads") {
  const WikiTextFolder files;
  const auto archive = files.pack();
  const TemporaryFolder zipped;
  for (std::size_t split = 0; split < 3; ++split) {
    const auto& text = files.texts[split];
    write_bytes(zipped.path() / (std::string(files.kNames[split]) + ".gz"), Bytes(text.begin(), text.end()));
  }
  for (const auto& changes : {words(25), nlohmann::json{{"tokens", "bytes"}}}) {
    const auto expected = load_lm(files.root(), changes);
    CHECK(expected->files().size() == 3);
    for (const auto& data : {archive, files.folder.path(), zipped.path()})
      for (const int threads : {1, 3}) {
        INFO(data);
        const auto task = load_lm(data, changes, threads);
        CHECK(task->digest() == expected->digest());
        CHECK((tokens_of(*task, Split::kTrain) == tokens_of(*expected, Split::kTrain)));
        CHECK((tokens_of(*task, Split::kTest) == tokens_of(*expected, Split::kTest)));
      }
  }
  CHECK((make_task("lm", {{"data", archive.string()}}, zipped.path())->files() == std::vector{archive}));
  const TemporaryFolder cache;
  auto changes = words(25);
  changes.update({{"data", archive.string()}, {"length", 8}});
  const auto first = load_task("lm", changes, cache.path());
  CHECK(std::distance(fs::directory_iterator(cache.path()), fs::directory_iterator()) == 1);
  const auto second = load_task("lm", changes, cache.path());
  CHECK((tokens_of(*first, Split::kDev) == tokens_of(*second, Split::kDev)));
  CHECK(second->describe(Split::kDev, 3) == first->describe(Split::kDev, 3));
}

TEST_CASE("enwik8 is read from its published archive, and from a folder with only the archive") {
  const TemporaryFolder folder;
  const auto text = wikitext(400, 4);
  const Bytes bytes(text.begin(), text.end());
  write_bytes(folder.path() / "enwik8.gz", bytes);
  const auto expected = load_lm(folder.path()), first = load_lm(folder.path(), {{"bytes", 1000}});
  fs::remove(folder.path() / "enwik8.gz");
  const auto archive = folder.path() / "enwik8.zip";
  write_zip(archive, {{"enwik8", bytes}});
  for (const auto& data : {archive, folder.path()}) {
    INFO(data);
    const auto task = load_lm(data);
    CHECK(task->digest() == expected->digest());
    CHECK((tokens_of(*task, Split::kTest) == tokens_of(*expected, Split::kTest)));
    CHECK(task->files() == std::vector{archive});
    CHECK(load_lm(data, {{"bytes", 1000}})->digest() == first->digest());
    check_mentions(refusal(data, words(5)), {"tokens = words", archive.string(), "single file"});
    check_mentions(refusal(data, {{"bytes", 1'000'000}}), {archive.string() + ": found ", "bytes = 1000000"});
  }
  write_zip(archive, {{"enwik8", bytes}, {"another", bytes}});
  check_mentions(refusal(folder.path()), {archive.string() + ": found 2 files", "expected one", "WikiText's three"});
  write_zip(archive, {{"enwik8", bytes}});
  fs::resize_file(archive, fs::file_size(archive) / 2);
  check_mentions(refusal(folder.path()), {archive.string(), "whole zip archive"});
}

TEST_CASE("bytes of WikiText are the bytes of its files, and ends of lines count as words") {
  const WikiTextFolder files;
  const auto task = load_lm(files.root());
  CHECK(task->info().unit == "byte");
  for (const auto split : {Split::kTrain, Split::kDev, Split::kTest}) {
    const auto& text = files.texts[static_cast<std::size_t>(split)];
    const auto found = tokens_of(*task, split);
    CHECK(std::string(found.begin(), found.end()) == text);
    CHECK(counted(*task, split, task->size(split)) == static_cast<std::int64_t>(words_of(text).size()));
  }
  // In a part of a text, a word counts if it begins there: " w12 \n" has two words, and its first four bytes have one.
  WikiTextFolder one;
  one.texts = {" w12 \n w1 w2 \n", " w12 \n w1 w2 \n", " w12 \n w1 w2 \n"};
  one.write();
  const auto small = load_lm(one.root(), {{"length", 2}});
  for (const auto& [places, expected] : std::map<std::int64_t, std::int64_t>{{1, 1}, {3, 1}, {5, 2}, {6, 2}, {7, 3}, {13, 5}})
    CHECK(counted(*small, Split::kDev, places) == expected);
}

TEST_CASE("books are ordered by number, each ends with a line end, and words are separated by white space") {
  const BooksFolder books;
  const auto task = load_lm(books.folder.path());
  const auto book = [](const std::string& name) {
    return "book " + name + "\r\nit  ends" + std::string(40, '.') + "  and\nthere\n";
  };
  const auto text = [&](Split split) {
    const auto found = tokens_of(*task, split);
    return std::string(found.begin(), found.end());
  };
  CHECK(text(Split::kTrain) == book("train/9") + book("train/12") + book("train/101"));
  CHECK(text(Split::kDev) == book("validation/7"));
  CHECK(text(Split::kTest) == book("test/8"));
  CHECK(counted(*task, Split::kTrain, task->size(Split::kTrain)) == 3 * 6);
  const auto files = task->files();
  REQUIRE(files.size() == 5);
  CHECK(files.front() == books.file("train/9"));
  auto changes = words(6);
  changes["length"] = 4;
  const auto by_words = load_lm(books.folder.path(), changes);
  CHECK(by_words->size(Split::kTrain) == 3 * 6 - 1);
  // "and", "book", "ends....", "it" and "there" occur three times each, and the names less often.
  CHECK((tokens_of(*by_words, Split::kDev) == std::vector<std::int64_t>{2, 0, 4, 3, 1, 5}));
}

TEST_CASE("faults of published texts are reported with file and line") {
  WikiTextFolder files;
  check_mentions(refusal(files.root(), {{"bytes", 100}}), {"bytes = 100", files.root().string(), "expected 0"});
  check_mentions(refusal(files.file(0), words(5)), {"tokens = words", files.file(0).string(), "single file"});
  check_mentions(refusal(files.root(), {{"length", 2000}}), {files.root().string(), "dev has ", "at least 2001"});
  files.texts[1] =
      " fine \n fine too \n br\xe9"
      "ak \n";
  files.write();
  check_mentions(refusal(files.root()), {files.file(1).string() + ":3: ", "0xe9", "UTF-8"});
  check_mentions(refusal(files.pack()), {"wikitext-103-v1.zip/wikitext-103/wiki.valid.tokens:3: ", "0xe9"});
  for (const std::string wrong : {"\xed\xa0\x80", "\xe0\x80\x80", "\xf4\xbf\xbf\xbf", "\xf0\x80\x80\x80", "\xc0\x80"}) {
    files.texts[1] = " fine \n " + wrong + " \n";  // a surrogate, overlong forms, and a code point beyond the last
    files.write();
    check_mentions(refusal(files.root()), {files.file(1).string() + ":2: ", "UTF-8"});
  }
  for (const std::string fine :
       {"\xed\x9f\xbf", "\xe0\xa0\x80", "\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80", "\xc2\x80", "\xee\x80\x80"}) {
    files.texts[1] = " fine \n " + fine + " \n br\xe9";
    files.write();
    check_mentions(refusal(files.root()), {files.file(1).string() + ":3: "});
  }
  files.texts[1] = " cut \xc3";
  files.write();
  check_mentions(refusal(files.root()), {files.file(1).string() + ":1: ", "0xc3"});
  write_text(files.file(1), "");
  check_mentions(refusal(files.root()), {files.file(1).string(), "is empty"});
  fs::remove(files.file(1));
  fs::remove(files.file(2));
  check_mentions(refusal(files.root()), {files.root().string(), "lacks wiki.valid.tokens, wiki.test.tokens"});
  files.texts[1] = files.texts[2];
  check_mentions(refusal(files.pack(2)), {"wikitext-103-v1.zip", "lacks wiki.test.tokens"});
  const auto archive = files.pack();
  fs::resize_file(archive, fs::file_size(archive) / 2);
  check_mentions(refusal(archive), {archive.string(), "whole zip archive"});

  const BooksFolder books;
  const auto packed = books.file("train/77");
  write_bytes(books.folder.path() / "77.gz", Bytes(500, 'a'));
  fs::rename(books.folder.path() / "77.gz", packed);
  check_mentions(refusal(books.folder.path()), {packed.string() + ": is packed by gzip, expected plain text"});
  fs::remove(packed);
  fs::create_directory(packed);
  check_mentions(refusal(books.folder.path()), {packed.string() + ": found a folder, expected a file"});
  fs::remove(packed);
  write_text(books.file("train/notes"), "no book");
  check_mentions(refusal(books.folder.path()), {"train/notes.txt", "NUMBER.txt"});
  fs::remove(books.file("train/notes"));
  write_text(books.file("test/8"), "");
  check_mentions(refusal(books.folder.path()), {"test/8.txt", "is empty"});
  fs::remove(books.file("test/8"));
  check_mentions(refusal(books.folder.path()), {(books.folder.path() / "test").string(), "holds no book"});
}
