// The checks of tasks do find what breaks the contract. (plugins_test.cpp runs them over every plugin.)
#include <atomic>
#include <chrono>
#include <limits>
#include <set>
#include <thread>

#include "core/trial/conformance/task_checks.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

/// Keeps the contract, but for one fault: pairs of sequences with ids and reals, or a stream where its name begins so.
class Faulty final : public Task {
 public:
  Faulty(std::string fault, bool other_seed) : fault_(std::move(fault)), seed_(other_seed && fault_ != "seed" ? 1 : 0) {}

  TaskInfo info() override {
    const auto classes = fault_ == "one class" || (fault_ == "info" && loaded_) ? 1 : is_stream() ? kText : 2;
    TaskInfo info{.fields = {{.name = "digit", .vocabulary = fault_ == "no vocabulary" ? 0 : kText}},
                  .length = kLength,
                  .train_length = fault_ == "longer in training" ? kLength - 2 : 0,
                  .classes = classes};
    if (is_stream()) {
      info.objective = Objective::kPositions;
      info.sampling = Sampling::kStream;
      info.causal = true;
      info.unit = "digit";
      return info;
    }
    info.fields.push_back({.name = "size", .reals = 2});
    info.sequences = fault_ == "three sequences" ? 3 : 2;
    info.slices = {"rest"};
    info.geometry = {.rows = fault_ == "picture" ? 3 : 0};
    return info;
  }
  std::vector<std::filesystem::path> files() override {
    if (fault_ == "no file") return {"/no/such/file"};
    if (fault_ == "other files" && loaded_) return {"/proc/self/maps"};
    return {"/proc/self/exe"};
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
      is_stream() ? read_row(split, index, i, batch) : read_pair(split, index, i, batch);
    }
  }
  std::string describe(Split, std::int64_t) const override { return fault_ == "describe" ? "" : "x"; }

 private:
  bool is_stream() const { return fault_.starts_with("stream"); }

  /// A number of its own for every example of every split and seed, in base 10.
  std::int64_t number_of(Split split, std::int64_t index) const {
    const auto number = index + kSize * (static_cast<std::int64_t>(split) + 3 * seed_);
    if (fault_ == "overlap") return index;
    if (fault_ == "one shared" && index == 0) return 3 * kSize * seed_;
    if (fault_ == "dealt anew") return number % (3 * kSize) + (number / kSize % 3 == 2 && index == 0 ? -kSize : 0);
    return number;
  }

  void read_pair(Split split, std::int64_t index, std::size_t row, BatchView& batch) const {
    auto number = number_of(split, index);
    const auto rest = fault_ == "label by length" && index % 2 == 1 ? 4 : 0;
    for (std::size_t sequence = 0; sequence < batch.present.size(); ++sequence) {
      const auto at = row * kLength;
      for (std::size_t p = 0; p < kLength; ++p, number /= 10) {
        batch.ids[2 * sequence][at + p] = sequence == 0 && p < 4 ? number % 10 : 0;
        batch.reals[2 * sequence + 1][2 * (at + p)] = static_cast<float>(p < 4 ? number % 10 : 0);
        batch.present[sequence][at + p] = p < static_cast<std::size_t>(4 + rest) ? 1 : 0;
      }
      if (fault_ == "unfilled") batch.present[sequence][at] = batch.present[sequence][at + 1] = 0;
      if (fault_ == "nothing" && sequence == 1)
        for (std::size_t p = 0; p < kLength; ++p) batch.present[sequence][at + p] = 0;
      if (fault_ == "longer in training")
        for (std::size_t p = 0; p < kLength; ++p) batch.present[sequence][at + p] = 1;
    }
    if (fault_ == "id") batch.ids[0][row * kLength + 2] = kText;
    if (fault_ == "infinite") batch.reals[1][row * kLength * 2] = std::numeric_limits<float>::infinity();
    batch.slices[row] = fault_ == "slices" ? 0 : index % 3;
    auto& target = batch.targets[row];
    target = fault_ == "target" ? 2 : fault_ == "batch" ? static_cast<std::int64_t>(row % 2) : index % 2;
    if (fault_ == "one answer") target = 1;
    if (fault_ == "not asked") target = -1;
    if (fault_ == "unbalanced" && split == Split::kTest) target = index % 20 == 0;
    if (fault_ == "random") target = ++counter_ / 7 % 2;
    if (fault_ == "one reader") {  // what one call leaves for the next is another thread's as well
      shared_ = index;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      target = shared_ % 2;
    }
  }

  void read_row(Split split, std::int64_t index, std::size_t row, BatchView& batch) const {
    const auto length = static_cast<std::size_t>(batch.length), at = row * length;
    const auto token = [&](std::int64_t place) {
      const auto number = static_cast<std::uint64_t>(place + kSize * (static_cast<std::int64_t>(split) + 3 * seed_));
      return static_cast<std::int64_t>((number * 0x9E3779B97F4A7C15U >> 40) % kText);
    };
    if (index == 0 && fault_ != "stream without a start") batch.starts[row] = 1;
    for (std::size_t p = 0; p < length; ++p) {
      const auto place = index + static_cast<std::int64_t>(p) + (fault_ == "stream that skips" && p >= 5 ? 1 : 0);
      const bool there = place < kSize;
      batch.present[0][at + p] = there || fault_ == "stream past its end" ? 1 : 0;
      if (!there) continue;
      batch.ids[0][at + p] = token(place);
      batch.targets[at + p] = token(place + 1);
    }
    if (fault_ == "stream with a target nowhere") batch.present[0][at + length - 1] = 0;
  }

  std::int64_t outside(std::int64_t index, std::int64_t first) const {
    if (index >= 0 && index < kSize) return index;
    if (fault_ == "wraps around") return (index + kSize) % kSize;
    if (fault_ == "first index alone" && first != index) return 0;
    if (fault_ == "another exception") throw std::invalid_argument("no such index");
    throw std::out_of_range("index");
  }

  static constexpr std::int64_t kSize = 120, kLength = 8, kText = 10;
  std::string fault_;
  std::int64_t seed_;
  bool loaded_ = false;
  static inline std::atomic<int> counter_ = 0;
  static inline std::atomic<std::int64_t> shared_ = 0;
};

std::set<std::string> run_once, failed_once;

std::string failed(const std::vector<Check>& checks) {
  std::string names;
  for (const auto& check : checks) {
    run_once.insert(check.name);
    if (check.passed()) continue;
    failed_once.insert(check.name);
    names += check.name + " [" + check.on + "]: " + check.found + "\n";
  }
  return names;
}

void check_mentions(const std::string& message, const std::string& expected) {
  INFO("message: " << message << "\nexpected to mention: " << expected);
  CHECK(message.find(expected) != std::string::npos);
}

}  // namespace

TEST_CASE("the checks find each fault") {
  const auto run = [](const std::string& fault, SeedPromise seed = SeedPromise::kOther) {
    Checks checks;
    check_task([&](int, bool other_seed) { return std::make_unique<Faulty>(fault, other_seed); }, seed, 2000, checks);
    return failed(checks.all());
  };
  CHECK(run("") == "");
  CHECK(run("stream") == "");
  CHECK(run("dealt anew") == "");  // data that are what they are may repeat themselves a little
  const std::pair<const char*, const char*> faults[] = {
      {"load", "load [twice, with 2 threads and with 1]: cannot be loaded"},
      {"one class", "info []: 2 fields, length 8, classes 1"},
      {"no vocabulary", "info []: the field digit has vocabulary 0 and reals 0"},
      {"three sequences", "info []: 3 sequences"},
      {"picture", "info []: a picture of 3 x 0 x 1, and a length of 8"},
      {"info", "info is the same after load []: digit 10 0"},
      {"no file", "files []: /no/such/file does not exist"},
      {"other files", "files []: after load they are others"},
      {"digest", "digest is stable"},
      {"no digest", "digest is stable []: it is empty"},
      {"seed", "another seed, another digest []: the digest is the same"},
      {"size", "size [dev]"},
      {"unfilled", "example 0: a token after padding at 0, and no holes are told"},
      {"nothing", "example 0: nothing is present"},
      {"longer in training",
       "fields, presence and targets [train, 120 of 120 examples]: example 0: present at 7, expected at most 6"},
      {"id", "digit: id 10 at 2"},
      {"infinite", "size: inf is no finite number"},
      {"target", "target 2 at 0, expected [0, 2)"},
      {"not asked", "more than one answer [train, 120 of 120 examples]: no target is asked for"},
      {"slices", "slices [dev, 120 of 120 examples]: the slice rest has no value but 0"},
      {"batch", "alone as in a batch"},
      {"random", "repeatable"},
      {"one reader", "read by several threads"},
      {"wraps around", "index outside [train, -1 and 120]: index -1: expected std::out_of_range, found an example"},
      {"first index alone", "index outside [dev, -1 and 120]: index -1: expected std::out_of_range, found an example"},
      {"another exception", "index outside [test, -1 and 120]: index -1: expected std::out_of_range, found no such index"},
      {"overlap", "120 of 120 stand in an earlier split as well"},
      {"one shared",
       "dev: 1 of 120 stand in an earlier split as well, test: 1 of 120 stand in an earlier split as well; another "
       "data_seed makes other examples"},
      {"one answer", "every target is 1"},
      {"unbalanced", "chance [test"},
      {"label by length", "chance ["},
      {"describe", "describe"},
      {"stream that skips", "contiguous [train]: 8 positions from 0 on are not 1 and 7"},
      {"stream without a start", "contiguous [dev]: no text starts with the first row"},
      {"stream past its end", "past the end [test]: 8 positions from 119 of 120 on: at 1 expected nothing"},
      {"stream with a target nowhere", "a target at 7, where nothing is present"}};
  for (const auto& [fault, found] : faults) check_mentions(run(fault), found);
  // Where the data need not be others, they are the same by digest and by example, or by neither.
  CHECK(run("seed", SeedPromise::kMaybeOther) == "");
  check_mentions(run("digest without seed", SeedPromise::kMaybeOther),
                 "another seed, another digest []: the digest is the same, and the examples are not");
  CHECK(failed_once == run_once);  // every check can fail
}
