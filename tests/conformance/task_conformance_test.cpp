// The checks of tasks do find what breaks the contract. (tests/conformance runs them over every plugin.)
#include <set>

#include "core/trial/conformance/task_checks.h"
#include "tests/plugins/task.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

/// Keeps the contract, but for one fault.
class Faulty final : public Task {
 public:
  Faulty(std::string fault, bool other_seed) : fault_(std::move(fault)), seed_(other_seed && fault_ != "seed" ? 1 : 0) {}
  TaskInfo info() override {
    return {.vocabulary = 10, .length = kLength, .classes = fault_ == "one class" || (fault_ == "info" && loaded_) ? 1 : 2};
  }
  void load() override {
    if (fault_ == "load") throw std::runtime_error("cannot be loaded");
    loaded_ = true;
  }
  std::string digest() const override {
    return fault_ == "digest"                ? std::to_string(++counter_)
           : fault_ == "no digest"           ? ""
           : fault_ == "digest without seed" ? "d"
                                             : "d" + std::to_string(seed_);
  }
  std::int64_t size(Split split) const override { return fault_ == "size" && split == Split::kDev ? 0 : kSize; }

  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto index = outside(indices[i], indices[0]);
      // A number of its own for every example of every split and seed, in base 9.
      auto number = index + kSize * (static_cast<std::int64_t>(split) + 3 * seed_);
      if (fault_ == "overlap") number = index;
      if (fault_ == "one shared" && index == 0) number = 3 * kSize * seed_;
      if (fault_ == "dealt anew") number = number % (3 * kSize) + (number / kSize % 3 == 2 && index == 0 ? -kSize : 0);
      const auto rest = fault_ == "label by length" && index % 2 == 1 ? 4 : 0;
      const std::int64_t row[kLength] = {1 + number % 9,
                                         fault_ == "hole" ? 0 : 1 + number / 9 % 9,
                                         fault_ == "id" ? 10 : 1 + number / 81,
                                         rest,
                                         rest,
                                         rest,
                                         rest,
                                         0};
      std::copy(std::begin(row), std::end(row) - (fault_ == "unfilled" ? 1 : 0),
                batch.ids.begin() + static_cast<std::ptrdiff_t>(i) * kLength);
      batch.labels[i] = fault_ == "label" ? 2 : fault_ == "batch" ? static_cast<std::int64_t>(i % 2) : index % 2;
      if (fault_ == "one answer") batch.labels[i] = 1;
      if (fault_ == "unbalanced" && split == Split::kTest) batch.labels[i] = index % 20 == 0;
      if (fault_ == "random") batch.labels[i] = ++counter_ / 7 % 2;
    }
  }
  std::string describe(Split, std::int64_t) const override { return fault_ == "describe" ? "" : "x"; }

 private:
  std::int64_t outside(std::int64_t index, std::int64_t first) const {
    if (index >= 0 && index < kSize) return index;
    if (fault_ == "wraps around") return (index + kSize) % kSize;
    if (fault_ == "first index alone" && first != index) return 0;
    if (fault_ == "another exception") throw std::invalid_argument("no such index");
    throw std::out_of_range("index");
  }

  static constexpr std::int64_t kSize = 120, kLength = 8;
  std::string fault_;
  std::int64_t seed_;
  bool loaded_ = false;
  static inline int counter_ = 0;
};

std::set<std::string> run_once, failed_once;

std::string failed(const std::vector<Check>& checks) {
  std::string names;
  for (const auto& check : checks) {
    run_once.insert(check.name);
    if (check.passed) continue;
    failed_once.insert(check.name);
    names += check.name + " [" + check.on + "]: " + check.found + "\n";
  }
  return names;
}

}  // namespace

TEST_CASE("the checks find each fault") {
  const auto run = [](const std::string& fault, SeedPromise seed = SeedPromise::kOther) {
    Checks checks;
    check_task([&](int, bool other_seed) { return std::make_unique<Faulty>(fault, other_seed); }, seed, 2000, checks);
    return failed(checks.all());
  };
  CHECK(run("") == "");
  CHECK(run("dealt anew") == "");  // data that are what they are may repeat themselves a little
  const std::pair<const char*, const char*> faults[] = {
      {"load", "load [twice, with 2 threads and with 1]: cannot be loaded"},
      {"one class", "info []: vocabulary 10, length 8, classes 1"},
      {"info", "info is the same after load []: it differs"},
      {"digest", "digest is stable"},
      {"no digest", "digest is stable []: it is empty"},
      {"seed", "another seed, another digest []: the digest is the same"},
      {"size", "size [dev]"},
      {"hole", "token after padding"},
      {"id", "id 10 at 2"},
      {"unfilled", "id -77 at 7"},
      {"label", "label 2"},
      {"batch", "alone as in a batch"},
      {"random", "repeatable"},
      {"wraps around", "index outside [train, -1 and 120]: index -1: expected std::out_of_range, found an example"},
      {"first index alone", "index outside [dev, -1 and 120]: index -1: expected std::out_of_range, found an example"},
      {"another exception", "index outside [test, -1 and 120]: index -1: expected std::out_of_range, found no such index"},
      {"overlap", "120 of 120 stand in an earlier split as well"},
      {"one shared",
       "dev: 1 of 120 stand in an earlier split as well, test: 1 of 120 stand in an earlier split as well; another "
       "data_seed makes other examples"},
      {"one answer", "every example has the label 1"},
      {"unbalanced", "chance [test"},
      {"label by length", "chance [dev"},
      {"describe", "describe"}};
  for (const auto& [fault, found] : faults) check_mentions(run(fault), {found});
  // Where the data need not be others, they are the same by digest and by example, or by neither.
  CHECK(run("seed", SeedPromise::kMaybeOther) == "");
  check_mentions(run("digest without seed", SeedPromise::kMaybeOther),
                 {"another seed, another digest []: the digest is the same, and the examples are not"});
  CHECK(failed_once == run_once);  // every check can fail
}
