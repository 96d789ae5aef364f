// Data that a task stores in its cache folder, beside data of other parameters and other files.
#include <fstream>
#include <sstream>

#include "tests/conformance/task_digits.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

namespace fs = std::filesystem;

/// Stores digits in a cache file. The file's name contains what `key` lists. The digits are random, or from a file in the
/// folder `data`.
class Keeping final : public Task {
 public:
  explicit Keeping(const TaskContext& context)
      : cache_(context.cache),
        data_(context.parameters.text("data")),
        key_(context.parameters.text("key")),
        digits_(context.parameters.integer("digits")),
        seed_(context.parameters.integer("data_seed")) {}

  TaskInfo info() override { return {.fields = {{.name = "digit", .vocabulary = 10}}, .length = kLength, .classes = 2}; }
  std::vector<fs::path> files() override { return data_.empty() ? std::vector<fs::path>{} : std::vector{data_ / "digits"}; }
  void load() override {
    std::string name = "kept";
    if (key_.find("digits") != std::string::npos) name += "-" + std::to_string(digits_);
    if (key_.find("seed") != std::string::npos) name += "-" + std::to_string(seed_);
    const auto made = make();
    if (!data_.empty())
      name += "-" + std::to_string(std::hash<std::string>()(key_.find("path") != std::string::npos ? data_.string() : made));
    const auto path = cache_ / name;
    if (key_ == "the first one's" ? !fs::is_empty(cache_) : fs::exists(path)) {
      std::ifstream file(key_ == "the first one's" ? fs::directory_iterator(cache_)->path() : path);
      file >> kept_;
      return;
    }
    std::ofstream(path) << (kept_ = made);
  }
  std::string digest() const override { return std::to_string(std::hash<std::string>()(kept_)); }
  std::int64_t size(Split) const override { return kSize; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= kSize) throw std::out_of_range("no such example");
      const auto first = static_cast<std::size_t>((static_cast<std::int64_t>(split) * kSize + indices[i]) * kLength);
      for (std::size_t at = 0; at < kLength; ++at) batch.ids[0][i * kLength + at] = kept_.at(first + at) - '0';
      batch.targets[i] = Random(split, indices[i], 7).below(2);
    }
  }
  std::string describe(Split, std::int64_t) const override { return "digits"; }

  static constexpr std::int64_t kSize = 60, kLength = 16;

 private:
  std::string make() const {
    std::string all;
    if (!data_.empty()) {
      std::ifstream(data_ / "digits") >> all;
      return all;
    }
    Random random(Split::kTrain, 0, seed_);
    for (std::int64_t i = 0; i < 3 * kSize * kLength; ++i) all += static_cast<char>('0' + random.below(digits_));
    return all;
  }

  fs::path cache_, data_;
  std::string key_;
  std::int64_t digits_, seed_;
  std::string kept_;
};

constexpr Parameter kKeepingParameters[] = {text("data", "\"\"", "", "a folder"),
                                            integer("digits", "10", {2, 10}, "different ones"), kSeedParameter[0],
                                            text("key", "\"digits, seed\"", "", "what its file is named by")};

std::vector<Check> keeping(const std::string& key, const std::string& data = "") {
  auto plugin = detail::describe(
      Kind::kTask, About{.id = "keeping", .version = "1.0.0", .summary = "kept digits", .parameters = kKeepingParameters});
  plugin.make_task = [](const TaskContext& context) -> std::unique_ptr<Task> { return std::make_unique<Keeping>(context); };
  return checks_of(plugin, {{"key", key}, {"data", data}});
}

}  // namespace

TEST_CASE("a cache file belongs to one seed, one value of each parameter and one content of a file") {
  const auto right = keeping("digits, seed");
  CHECK(failed(right) == "");
  check_mentions(said(right, "cache"), "4 loads in one folder");
  for (const auto& [key, said_of] :
       {std::pair{"digits", "data_seed = 1 in a folder with data of other parameters: the examples of train, dev, test"},
        {"seed", "digits = 9 in a folder with data of other parameters"},
        {"the first one's", "digits = 9 in a folder with data of other parameters"}}) {
    INFO(key);
    const auto checks = keeping(key);
    CHECK(failing_of(checks) == Names{"cache"});
    check_mentions(said(checks, "cache"), said_of);
  }
  const ::TemporaryFolder folder;
  std::string digits;
  Random random(Split::kTrain, 0, 0);
  for (std::int64_t i = 0; i < 3 * Keeping::kSize * Keeping::kLength; ++i) digits += static_cast<char>('0' + random.below(10));
  folder.write("digits", digits);
  CHECK(failed(keeping("digits, seed", folder.path().string())) == "");
  const auto by_path = keeping("path", folder.path().string());
  CHECK(failing_of(by_path) == Names{"cache"});
  check_mentions(said(by_path, "cache"), "a file that was edited");
}
