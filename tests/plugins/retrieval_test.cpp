// The retrieval plugin on small files that the tests write.
#include "tests/plugins/retrieval_files.h"
#include "tests/plugins/retrieval_pairs.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

std::unique_ptr<Task> load_pairs(const PairsFolder& files, json changes = {}) {
  changes["data"] = files.path();
  return load_task("retrieval", changes, files.path());
}

std::vector<std::int64_t> ids_of(const std::string& text) {
  std::vector<std::int64_t> ids;
  for (const char c : text) ids.push_back(1 + static_cast<unsigned char>(c));
  return ids;
}

}  // namespace

TEST_CASE("pairs of documents are read as bytes, each document by itself") {
  const PairsFolder files(4);
  files.write("train", "0\tA\tB\tabc\tx\n1\tB\tC\t\xc3\xa4 \"q\"\tabcdefgh\r\n1.0\tA\tC\tabc\tz\n0.0\tC\tD\tz\tabc");
  const auto task = load_pairs(files, {{"length", 5}});
  const auto info = task->info();
  CHECK(info.sequences == 2);
  CHECK(info.length == 5);
  CHECK(info.classes == 2);
  CHECK(info.fields.at(0).vocabulary == 257);
  CHECK((task->files() == std::vector{files.file("train"), files.file("eval"), files.file("test")}));
  REQUIRE(task->size(Split::kTrain) == 4);
  CHECK(task->size(Split::kDev) == 4);
  const std::tuple<std::string, std::string, int> expected[] = {
      {"abc", "x", 0}, {"\xc3\xa4 \"q", "abcde", 1}, {"abc", "z", 1}, {"z", "abc", 0}};
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto& [first, second, label] = expected[i];
    const auto pair = read_pair(*task, info, Split::kTrain, i);
    CHECK(pair.ids[0] == ids_of(first));
    CHECK(pair.ids[1] == ids_of(second));
    CHECK(pair.label == label);
  }
  CHECK(task->describe(Split::kTrain, 2) == "label 1, one cites the other\nA: abc\nC: z\n");
  CHECK_THROWS_AS(task->describe(Split::kTrain, 4), std::out_of_range);
}

TEST_CASE("plain and gzipped files give the same data") {
  const PairsFolder files(4);
  const auto digest = load_pairs(files)->digest();
  const auto packed = fs::path(files.file("train").string() + ".gz");
  write_bytes(packed, read_bytes(files.file("train")));
  fs::remove(files.file("train"));
  const auto task = load_pairs(files);
  CHECK(task->digest() == digest);
  CHECK(task->files().front() == packed);
}

TEST_CASE("the digest depends on texts, their order in a pair, labels and the length") {
  const PairsFolder files(6);
  const auto digest = [&](const std::string& train, int length) {
    files.write("train", train);
    return load_pairs(files, {{"length", length}})->digest();
  };
  const auto base = digest("0\tA\tB\tab\tc\n", 50);
  CHECK(digest("0\tA\tB\tab\tc\n", 50) == base);
  CHECK(digest("0\tA\tB\ta\tbc\n", 50) != base);
  CHECK(digest("0\tA\tB\tc\tab\n", 50) != base);
  CHECK(digest("1\tA\tB\tab\tc\n", 50) != base);
  CHECK(digest("0\tA\tB\tab\tc\n", 1) != base);
}

TEST_CASE("a malformed pair is reported with its line") {
  const PairsFolder files(4);
  const auto refused = [&](const std::string& eval) {
    files.write("eval", eval);
    return message_of([&] { load_pairs(files); });
  };
  const std::string good = "1\tA\tB\tabc\tdef\n";
  const auto line_2 = files.file("eval").string() + ":2: ";
  check_mentions(refused(good + "1\tA\tB\tabc\n"), {line_2 + "found 4 columns", "label, id1, id2, text1, text2 separated"});
  check_mentions(refused(good + "1\tA\tB\tabc\td\te\n"), {line_2 + "found 6 columns"});
  check_mentions(refused(good + "\n"), {line_2 + "found 1 columns"});
  check_mentions(refused(good + "2\tA\tB\tabc\tdef\n"), {line_2 + "found the label \"2\", expected 0 or 1"});
  check_mentions(refused(good + "label\tA\tB\tabc\tdef\n"), {line_2 + "found the label \"label\""});
  check_mentions(refused(good + "0\tA\tB\t\tdef\n"), {line_2 + "text1 is empty"});
  check_mentions(refused(good + "0\tA\tB\tabc\t\n"), {line_2 + "text2 is empty"});
  check_mentions(refused(""), {files.file("eval").string() + ": is empty"});
  fs::remove(files.file("eval"));
  check_mentions(message_of([&] { load_pairs(files); }), {files.path() + " lacks new_aan_pairs.eval.tsv; expected"});
  fs::remove(files.file("train"));
  check_mentions(message_of([&] { load_pairs(files); }),
                 {" lacks new_aan_pairs.train.tsv, new_aan_pairs.eval.tsv;", "long-range-arena/lra_release.gz"});
  files.write("train", good);
  fs::create_directory(files.file("eval"));
  check_mentions(message_of([&] { load_pairs(files); }), {"eval.tsv: found a folder, expected a file"});
  check_mentions(message_of([&] {
                   make_task("retrieval", {{"data", "nowhere"}}, files.path())->info();
                 }),
                 {"\"nowhere\" was not found", "ABLATE_DATA", "tools/make-retrieval-pairs"});
}
