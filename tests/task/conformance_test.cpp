// The checks of tasks do find what breaks the contract. (tests/conformance runs them over every plugin.)
#include "core/conformance/task_checks.h"
#include "tests/task/support.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

/// Keeps the contract, but for one fault.
class Faulty final : public Task {
 public:
  explicit Faulty(std::string fault) : fault_(std::move(fault)) {}
  TaskInfo info() override { return {.vocabulary = 10, .length = 4, .classes = 2}; }
  void load() override {}
  std::string digest() const override { return fault_ == "digest" ? std::to_string(++counter_) : "d"; }
  std::int64_t size(Split split) const override { return fault_ == "size" && split == Split::kDev ? 0 : kSize; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= kSize) throw std::out_of_range("index");
      // A number of its own for every example of every split, in base 9.
      const auto number = indices[i] + (fault_ == "overlap" ? 0 : kSize * static_cast<std::int64_t>(split));
      const std::int64_t row[] = {1 + number % 9, fault_ == "hole" ? 0 : 1 + number / 9, fault_ == "id" ? 10 : 3, 0};
      std::copy(std::begin(row), std::end(row) - (fault_ == "unfilled" ? 1 : 0),
                batch.ids.begin() + static_cast<std::ptrdiff_t>(4 * i));
      batch.labels[i] = fault_ == "label" ? 2 : fault_ == "batch" ? static_cast<std::int64_t>(i % 2) : indices[i] % 2;
      if (fault_ == "one answer") batch.labels[i] = 1;
      if (fault_ == "random") batch.labels[i] = ++counter_ / 7 % 2;
    }
  }
  std::string describe(Split, std::int64_t) const override { return fault_ == "describe" ? "" : "x"; }

 private:
  static constexpr std::int64_t kSize = 25;
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

TEST_CASE("the checks find each fault") {
  const auto run = [](const std::string& fault) {
    Checks checks;
    check_task([&](int, bool) { return std::make_unique<Faulty>(fault); }, false, 2000, checks);
    return failed(checks.all());
  };
  CHECK(run("") == "");
  const std::pair<const char*, const char*> faults[] = {{"digest", "digest is stable"},
                                                        {"size", "size [dev]"},
                                                        {"hole", "token after padding"},
                                                        {"id", "id 10 at 2"},
                                                        {"unfilled", "id -77 at 3"},
                                                        {"label", "label 2"},
                                                        {"batch", "alone as in a batch"},
                                                        {"random", "repeatable"},
                                                        {"overlap", "25 of 25 stand in an earlier split as well"},
                                                        {"one answer", "every example has the label 1"},
                                                        {"describe", "describe"}};
  for (const auto& [fault, found] : faults) check_mentions(run(fault), {found});
}
