// Every task plugin of the plugin folder keeps the contract; and the checks do find what breaks it.
#include "tests/task/task_checks.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

/// Small data for the tasks of the project; any other task runs with its defaults.
json small(const std::string& id, const fs::path& pictures) {
  if (id == "listops") return {{"train", 3000}, {"dev", 300}, {"test", 300}};
  if (id == "image") return {{"data", pictures.string()}, {"dev", 10}};
  return json::object();
}

/// Keeps the contract, but for one fault.
class Faulty final : public Task {
 public:
  explicit Faulty(std::string fault) : fault_(std::move(fault)) {}
  TaskInfo info() override { return {.vocabulary = 10, .length = 4, .classes = 2}; }
  void load() override {}
  std::string digest() const override { return fault_ == "digest" ? std::to_string(++counter_) : "d"; }
  std::int64_t size(Split split) const override { return fault_ == "size" && split == Split::kDev ? 0 : 5; }
  void read(Split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || (indices[i] >= 5 && fault_ != "index")) throw std::out_of_range("index");
      const std::int64_t row[] = {1 + indices[i] % 9, fault_ == "hole" ? 0 : 2, fault_ == "id" ? 10 : 3, 0};
      std::copy(std::begin(row), std::end(row) - (fault_ == "unfilled" ? 1 : 0),
                batch.ids.begin() + static_cast<std::ptrdiff_t>(4 * i));
      batch.labels[i] = fault_ == "label" ? 2 : fault_ == "batch" ? static_cast<std::int64_t>(i % 2) : indices[i] % 2;
      if (fault_ == "random") batch.labels[i] = ++counter_ / 5 % 2;
    }
  }
  std::string describe(Split, std::int64_t) const override { return fault_ == "describe" ? "" : "x"; }

 private:
  std::string fault_;
  static inline int counter_ = 0;
};

std::string failed(const std::vector<Check>& checks) {
  std::string names;
  for (const auto& check : checks)
    if (!check.passed) names += check.name + " [" + check.on + "]: " + check.found + "\n";
  return names;
}

}  // namespace

TEST_CASE("every task plugin keeps the contract") {
  const IdxFolder pictures;
  std::vector<std::string> tasks;
  for (const auto& entry : fs::directory_iterator(plugin_folder())) {
    if (entry.path().extension() != ".so") continue;
    const auto& descriptor = load_library(entry.path());
    if (descriptor.kind != Kind::kTask) continue;
    const auto plugin = describe(descriptor);
    tasks.push_back(plugin.id);
    TemporaryFolder cache;
    const auto has_seed = plugin.find("data_seed") != nullptr;
    const auto checks = check_task(
        [&](int threads, bool other_seed) {
          auto changes = small(plugin.id, pictures.path());
          if (other_seed) changes["data_seed"] = 12345;
          // A cache of its own for each, or the second would only read what the first has made.
          const auto folder = cache.path() / (std::to_string(threads) + (other_seed ? "s" : ""));
          return make_task(descriptor, changes, folder, threads);
        },
        has_seed);
    INFO(plugin.id << "\n" << failed(checks));
    CHECK(failed(checks).empty());
    CHECK(checks.size() >= 20);
  }
  for (const char* id : {"image", "listops"}) CHECK(std::count(tasks.begin(), tasks.end(), id) == 1);
}

TEST_CASE("the checks find each fault") {
  const auto run = [](const std::string& fault) {
    return failed(check_task([&](int, bool) { return std::make_unique<Faulty>(fault); }, false));
  };
  CHECK(run("") == "");
  const std::pair<const char*, const char*> faults[] = {{"digest", "digest is stable"},
                                                        {"size", "size [dev]"},
                                                        {"index", "an index out of range throws [train 5]"},
                                                        {"hole", "token after padding"},
                                                        {"id", "id 10 at 2"},
                                                        {"unfilled", "id -77 at 3"},
                                                        {"label", "label 2"},
                                                        {"batch", "alone as in a batch"},
                                                        {"random", "repeatable"},
                                                        {"describe", "describe"}};
  for (const auto& [fault, found] : faults) check_mentions(run(fault), {found});
}
