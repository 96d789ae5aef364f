// Where data come from: digests of contents, files that are named, reads from several threads.
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "tests/conformance/task_recipe.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

namespace fs = std::filesystem;

/// Lines of letters, "abcabd 1": three files of a folder. A fault is one of those named below.
class Lines : public Task {
 public:
  explicit Lines(const TaskContext& context)
      : folder_(context.parameters.text("data")), fault_(context.parameters.text("fault")) {}

  TaskInfo info() override { return {.fields = {{.name = "letter", .vocabulary = 26}}, .length = 16, .classes = 2}; }
  std::vector<fs::path> files() override {
    std::vector<fs::path> files = {path(0), path(1), path(2)};
    if (fault_ == "two named") files.pop_back();
    if (fault_ == "folder named") files = {folder_};
    return files;
  }
  void load() override {
    for (std::size_t split = 0; split < 3; ++split) {
      std::ifstream file(path(split));
      for (Line line; file >> line.letters >> line.label;) lines_[split].push_back(line);
    }
    if (fault_ == "a word list") std::thread([this] { std::ifstream(folder_ / "words").get(); }).join();
    if (fault_ == "another program" && std::system(("cat " + (folder_ / "words").string() + " > /dev/null 2>&1").c_str()) != 0)
      throw std::runtime_error("cat");
  }
  std::string digest() const override {
    std::string all;
    for (std::size_t split = 0; split < 3; ++split) {
      if (fault_ == "digest of train" && split > 0) break;
      if (fault_ == "digest of sizes") {
        all += std::to_string(fs::file_size(path(split))) + " " + std::to_string(lines_[split].size());
        continue;
      }
      if (fault_ == "digest of times")
        all +=
            std::to_string(fs::last_write_time(path(split)).time_since_epoch().count()) + std::to_string(lines_[split].size());
      if (fault_ == "digest of times") continue;
      if (fault_ == "digest of the path") all += path(split).string();
      for (const auto& line : lines_[split])
        all += line.letters + (fault_ == "digest without labels" ? "" : std::to_string(line.label));
    }
    return fault_ == "one digest" ? "lines" : std::to_string(std::hash<std::string>()(all));
  }
  std::int64_t size(Split split) const override {
    return static_cast<std::int64_t>(lines_[static_cast<std::size_t>(split)].size());
  }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= size(split)) throw std::out_of_range("no such line");
      const auto& line = lines_[static_cast<std::size_t>(split)][static_cast<std::size_t>(indices[i])];
      for (std::size_t at = 0; at < line.letters.size(); ++at) batch.ids[0][i * 16 + at] = line.letters[at] - 'a';
      batch.targets[i] = line.label;
    }
  }
  std::string describe(Split, std::int64_t) const override { return "a line"; }

 private:
  struct Line {
    std::string letters;
    int label = 0;
  };
  fs::path path(std::size_t split) const { return folder_ / (std::string("part") + std::to_string(split)); }

  fs::path folder_;
  std::string fault_;
  std::array<std::vector<Line>, 3> lines_;
};

constexpr Parameter kLineParameters[] = {text("data", "\"\"", "", "a folder"), text("fault", "\"\"", "", "what is wrong")};

std::vector<Check> lines_checked(const std::string& fault) {
  const ::TemporaryFolder folder;
  for (int split = 0; split < 3; ++split) {
    std::ofstream file(folder.path() / ("part" + std::to_string(split)));
    Random random(static_cast<Split>(split), 0, 0);
    for (int i = 0; i < 300; ++i) {
      for (int at = 0; at < 16; ++at) file << static_cast<char>('a' + random.below(26));
      file << ' ' << random.below(2) << '\n';
    }
  }
  folder.write("words", "some words");
  auto plugin = detail::describe(
      Kind::kTask, About{.id = "lines", .version = "1.0.0", .summary = "lines of files", .parameters = kLineParameters});
  plugin.make_task = [](const TaskContext& context) -> std::unique_ptr<Task> { return std::make_unique<Lines>(context); };
  return checks_of(plugin, {{"data", folder.path().string()}, {"fault", fault}});
}

std::set<std::string> failing_of(const std::vector<Check>& checks) {
  std::set<std::string> names;
  for (const auto& check : checks)
    if (check.failed()) names.insert(check.name);
  return names;
}

}  // namespace

TEST_CASE("a digest says what the files hold") {
  using Names = std::set<std::string>;
  const auto right = lines_checked("");
  CHECK(failed(right) == "");
  check_mentions(said(right, "other files, another digest"), "4 edits of 3 files seen");
  check_mentions(said(right, "files are named"), "3 read, 3 named");
  for (const char* fault :
       {"one digest", "digest of sizes", "digest of times", "digest of train", "digest without labels", "digest of the path"}) {
    INFO(fault);
    CHECK(failing_of(lines_checked(fault)) == Names{"other files, another digest"});
  }
  check_mentions(said(lines_checked("digest of train"), "other files, another digest"),
                 "part2 is another, so are the examples, and the digest is the same");
  check_mentions(said(lines_checked("digest of the path"), "other files, another digest"),
                 "the same files in another folder have another digest");
}

TEST_CASE("what is read is named") {
  for (const auto& [fault, file] :
       {std::pair{"two named", "part2"}, {"a word list", "words"}, {"another program", "words"}, {"folder named", "part0"}}) {
    INFO(fault);
    const auto found = said(lines_checked(fault), "files are named");
    check_mentions(found, "load() reads");
    check_mentions(found, std::string(file) + ", which files() does not name");
  }
}

namespace {

/// Random letters by index, with something that threads share. Atomic, so that what is wrong is wrong and no crash.
class Shared final : public Task {
 public:
  explicit Shared(const TaskContext& context)
      : fault_(context.parameters.text("fault")), seed_(context.parameters.integer("data_seed")) {}

  TaskInfo info() override { return {.fields = {{.name = "letter", .vocabulary = 26}}, .length = kLength, .classes = 2}; }
  void load() override {}
  std::string digest() const override { return std::to_string(seed_); }
  std::int64_t size(Split) const override { return kSize; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    if (fault_ == "filled at the first read" && !filled_.exchange(true)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // as long as a small file takes
      for (std::size_t i = 0; i < cache_.size(); ++i)
        cache_[i] =
            letter(static_cast<Split>(i / (kSize * kLength)), static_cast<std::int64_t>(i / kLength) % kSize, i % kLength);
    }
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto index = indices[i];
      if (index < 0 || index >= kSize) throw std::out_of_range("no such example");
      state_ =
          mixed(static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(split) + 3 * static_cast<std::uint64_t>(seed_));
      for (std::size_t at = 0; at < kLength; ++at) row_[at] = letter(split, index, at);
      for (std::size_t at = 0; at < kLength; ++at) {
        auto& id = batch.ids[0][i * kLength + at];
        if (fault_ == "filled at the first read")
          id = cache_[(static_cast<std::size_t>(split) * kSize + static_cast<std::size_t>(index)) * kLength + at];
        else if (fault_ == "a generator")
          id = static_cast<std::int64_t>((state_ = mixed(state_, 1)) % 26);
        else
          id = fault_ == "a buffer" ? row_[at].load() : letter(split, index, at);
      }
      batch.targets[i] = letter(split, index, kLength) % 2;
    }
  }
  std::string describe(Split, std::int64_t) const override { return "letters"; }

 private:
  std::int64_t letter(Split split, std::int64_t index, std::size_t at) const {
    return static_cast<std::int64_t>(mixed(mixed(static_cast<std::uint64_t>(index), at),
                                           static_cast<std::uint64_t>(split) + 3 * static_cast<std::uint64_t>(seed_)) %
                                     26);
  }

  static constexpr std::int64_t kSize = 300, kLength = 64;
  std::string fault_;
  std::int64_t seed_;
  mutable std::atomic<bool> filled_ = false;
  mutable std::vector<std::atomic<std::int64_t>> cache_ = std::vector<std::atomic<std::int64_t>>(3 * kSize * kLength);
  mutable std::array<std::atomic<std::int64_t>, kLength> row_{};
  mutable std::atomic<std::uint64_t> state_ = 0;
};

constexpr Parameter kSharedParameters[] = {text("fault", "\"\"", "", "what is wrong"), kSeedParameter[0]};

}  // namespace

TEST_CASE("reads that are not for several threads") {
  auto plugin = detail::describe(
      Kind::kTask, About{.id = "shared", .version = "1.0.0", .summary = "letters", .parameters = kSharedParameters});
  plugin.make_task = [](const TaskContext& context) -> std::unique_ptr<Task> { return std::make_unique<Shared>(context); };
  CHECK(failed(checks_of(plugin)) == "");
  for (const char* fault : {"a buffer", "a generator", "filled at the first read"}) {
    INFO(fault);
    const auto checks = checks_of(plugin, {{"fault", fault}});
    CHECK(failing_of(checks) == std::set<std::string>{"read by several threads"});
  }
}
