// tools/make-retrieval-pairs on the ACL papers, if they are present, and the plugin on the result.
#include <map>
#include <set>

#include "tests/plugins/retrieval_pairs.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

constexpr const char* kSplits[] = {"train", "eval", "test"};

fs::path file_of(const TemporaryFolder& folder, const std::string& split) {
  return folder.path() / ("new_aan_pairs." + split + ".tsv");
}

void make(const fs::path& data, const TemporaryFolder& folder, int seed) {
  const auto command = std::string("'" ABLATE_SOURCE_DIR "/tools/make-retrieval-pairs' --bytes 3000 --seed ") +
                       std::to_string(seed) + " '" + data.string() + "' '" + folder.path().string() + "' > /dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
}

}  // namespace

TEST_CASE("pairs of ACL papers: split by paper, as many random pairs as citations, equal for equal seeds") {
  const auto data = real_data("acl");
  if (data.empty()) return;
  const TemporaryFolder one, two, other;
  make(data, one, 0);
  make(data, two, 0);
  make(data, other, 1);
  std::set<std::pair<std::string, std::string>> citations;
  std::ifstream list(data / "citations.tsv");
  for (std::string citing, cited; list >> citing >> cited;) citations.emplace(citing, cited);

  std::map<std::string, std::string> split_of;
  for (const std::string split : kSplits) {
    INFO(split);
    CHECK(read_bytes(file_of(one, split)) == read_bytes(file_of(two, split)));
    CHECK(read_bytes(file_of(one, split)) != read_bytes(file_of(other, split)));
    std::ifstream file(file_of(one, split));
    std::set<std::pair<std::string, std::string>> seen;
    int positive = 0, negative = 0;
    for (std::string line; std::getline(file, line);) {
      std::istringstream cells(line);
      std::string label, first, second;
      std::getline(cells, label, '\t');
      std::getline(cells, first, '\t');
      std::getline(cells, second, '\t');
      REQUIRE(seen.emplace(first, second).second);
      ++(label == "1" ? positive : negative);
      REQUIRE(citations.contains({first, second}) == (label == "1"));
      if (label == "0") REQUIRE_FALSE(citations.contains({second, first}));
      for (const auto& paper : {first, second}) REQUIRE(split_of.emplace(paper, split).first->second == split);
    }
    CHECK(positive == negative);
    CHECK(positive > 80);
  }

  const auto task = load_task("retrieval", {{"data", one.path().string()}, {"length", 3000}}, one.path());
  CHECK(task->size(Split::kTrain) > 1500);
  const auto pair = read_pair(*task, task->info(), Split::kTest, 0);
  for (const auto& ids : pair.ids) {
    CHECK(ids.size() > 1000);
    const auto tags = std::ranges::count(ids, std::int64_t{1 + '<'});
    CHECK(tags < static_cast<std::ptrdiff_t>(ids.size()) / 100);
  }
}
