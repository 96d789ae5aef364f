// The checks of tasks find each breach of the contract. (plugins_test.cpp runs them over every plugin.)
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "tests/conformance/task_recipe.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

/// Keeps the contract except for one fault. Has pairs of sequences (ids, reals), or a stream if the fault begins with "stream".
class Faulty final : public Task {
 public:
  explicit Faulty(const TaskContext& context) : fault_(context.parameters.text("fault")) {
    if (fault_ != "seed") seed_ = context.parameters.integer("data_seed");
  }

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
    if (fault_ == "unit of a class") info.unit = "digit";
    if (fault_ == "metric") info.metrics = {{.name = "Depth", .direction = "up", .description = "how deep"}};
    info.fields.push_back({.name = "size", .reals = 2});
    info.sequences = fault_ == "three sequences" ? 3 : 2;
    info.slices = {"rest"};
    info.geometry = {.rows = fault_ == "picture" ? 3 : 0};
    return info;
  }
  std::vector<std::filesystem::path> files() override {
    if (fault_ == "no file") return {"/no/such/file"};
    if (fault_ == "other files" && loaded_) return {"/proc/self/maps"};
    return {};
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
    if (fault_ == "read" && indices.size() > 10) throw std::runtime_error("no more than 10 at once");
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto index = outside(indices[i], indices[0]);
      is_stream() ? read_row(split, index, i, batch) : read_pair(split, index, i, batch);
    }
  }
  std::string describe(Split, std::int64_t) const override { return fault_ == "describe" ? "" : "x"; }

 private:
  bool is_stream() const { return fault_.starts_with("stream"); }

  /// Returns an example's random numbers, which depend on its split, index and seed.
  Random random_of(Split split, std::int64_t index) const {
    if (fault_ == "overlap") split = Split::kTrain;
    if (fault_ == "one shared" && index == 0) split = Split::kTrain;
    if (fault_ == "dealt anew") {  // another seed deals the same examples; one example is in two splits
      const auto dealt = (index + kSize * static_cast<std::int64_t>(split) + 7 * seed_) % (3 * kSize);
      return {Split::kTrain, dealt == 2 * kSize + 9 ? 9 : dealt, 0};
    }
    return {split, index, seed_};
  }

  void read_pair(Split split, std::int64_t index, std::size_t row, BatchView& batch) const {
    auto random = random_of(split, index);
    auto target = random.below(2);
    if (fault_ == "unbalanced" && split == Split::kTest) target = index % 20 == 0;
    for (std::size_t sequence = 0; sequence < batch.present.size(); ++sequence) {
      const auto at = row * kLength;
      for (std::size_t p = 0; p < kLength; ++p) {
        batch.ids[2 * sequence][at + p] = random.below(kText);
        batch.reals[2 * sequence + 1][2 * (at + p)] = static_cast<float>(random.unit());
        batch.present[sequence][at + p] = p < 6 || fault_ == "longer in training" ? 1 : 0;
      }
      if (fault_ == "unfilled") batch.present[sequence][at] = batch.present[sequence][at + 1] = 0;
      if (fault_ == "nothing" && sequence == 1)
        for (std::size_t p = 0; p < kLength; ++p) batch.present[sequence][at + p] = 0;
    }
    if (fault_ == "id") batch.ids[0][row * kLength + 2] = kText;
    if (fault_ == "infinite") batch.reals[1][row * kLength * 2] = std::numeric_limits<float>::infinity();
    batch.slices[row] = fault_ == "slices" ? 0 : index % 3;
    if (fault_ == "target") target = 2;
    if (fault_ == "batch") target = static_cast<std::int64_t>(row % 2);
    if (fault_ == "one answer") target = 1;
    if (fault_ == "not asked") target = -1;
    if (fault_ == "random") target = Random(split, ++counter_, 0).below(2);  // not periodic: two reads could otherwise agree
    if (fault_ == "one reader") {                                            // a call stores a value that another thread reads
      shared_ = target;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      target = shared_;
    }
    batch.targets[row] = target;
  }

  void read_row(Split split, std::int64_t index, std::size_t row, BatchView& batch) const {
    const auto length = static_cast<std::size_t>(batch.length), at = row * length;
    const auto token = [&](std::int64_t place) { return Random(split, place, seed_).below(kText); };
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
  std::int64_t seed_ = 0;
  bool loaded_ = false;
  static inline std::atomic<int> counter_ = 0;
  static inline std::atomic<std::int64_t> shared_ = 0;
};

/// Names of the checks that ran and that failed, over all of these tasks.
std::set<std::string> run_once, failed_once;

std::string failed_of(const std::string& fault, SeedPromise seed = SeedPromise::kOther) {
  const auto shown = nlohmann::json(seed == SeedPromise::kOther ? fault : "").dump();
  const Parameter parameters[] = {text("fault", shown.c_str(), "", "the fault"), kSeedParameter[0]};
  auto plugin = detail::describe(Kind::kTask,
                                 About{.id = "faulty", .version = "1.0.0", .summary = "of a test", .parameters = parameters});
  plugin.make_task = [](const TaskContext& context) -> std::unique_ptr<Task> { return std::make_unique<Faulty>(context); };
  const auto checks = checks_of(plugin, {{"fault", fault}});
  for (const auto& check : checks) {
    if (check.verdict != Verdict::kUnchecked) run_once.insert(check.name);
    if (check.failed()) failed_once.insert(check.name);
  }
  return failed(checks);
}

}  // namespace

TEST_CASE("the checks find each breach of the contract") {
  CHECK(failed_of("") == "");
  CHECK(failed_of("stream") == "");
  CHECK(failed_of("dealt anew") == "");  // fixed data may have an example in two splits
  const std::pair<const char*, const char*> faults[] = {
      {"load", "load [twice, with 2 threads and with 1]: cannot be loaded"},
      {"one class", "info []: wrong: classes = 1, expected 2 to"},
      {"no vocabulary", "info []: wrong: the vocabulary of the field digit = 0, expected 2 to"},
      {"three sequences", "info []: wrong: 3 sequences"},
      {"picture", "info []: wrong: a picture of 3 x 0 x 1 numbers, but a length of 8"},
      {"metric", "info []: wrong: metric \"Depth\", direction \"up\", description \"how deep\"; expected a name in snake_case"},
      {"unit of a class", "info []: wrong: the unit \"digit\"; expected a unit in snake_case, and targets at positions"},
      {"info", "info is the same after load []: wrong: digit 10 0"},
      {"no file", "files []: wrong: /no/such/file does not exist"},
      {"other files", "files []: wrong: files() differs after load()"},
      {"digest", "digest is stable"},
      {"no digest", "digest is stable []: wrong: it is empty"},
      {"seed", "another seed, another digest []: wrong: the digest is the same"},
      {"size", "size [dev]: wrong: 0 examples"},
      {"read", "read [examples of each split]: no more than 10 at once"},
      {"unfilled", "example 0: padding at 0 has a token after it, but no holes are declared"},
      {"nothing", "example 0: nothing is present"},
      {"longer in training",
       "fields, presence and targets [train, 120 of 120 examples]: wrong: example 0: present at 7, expected at most 6"},
      {"id", "digit: id 10 at 2"},
      {"infinite", "size: inf is no finite number"},
      {"target", "target 2 at 0, expected [0, 2)"},
      {"not asked", "more than one answer [train, 120 of 120 examples]: wrong: no target is asked for"},
      {"slices", "slices [dev, 120 of 120 examples]: wrong: the slice rest has no value but 0"},
      {"batch", "alone as in a batch [train, 120 of 120 examples]: wrong: example"},
      {"random", "repeatable, with 1 and 2 threads [train"},
      {"one reader", "read by several threads []: wrong: "},
      {"wraps around",
       "index outside [train, 120 of 120 examples]: wrong: index -1: expected std::out_of_range, found an example"},
      {"first index alone",
       "index outside [dev, 120 of 120 examples]: wrong: index -1: expected std::out_of_range, found an example"},
      {"another exception",
       "index outside [test, 120 of 120 examples]: wrong: index -1: expected std::out_of_range, found no such index"},
      {"overlap", "120 of 120 examples of dev are also in train"},
      {"one shared", "1 of 120 examples of test are also in train; example 0 is example 0 of train"},
      {"one answer", "every target is 1"},
      {"unbalanced", "chance [test"},
      {"describe", "describe [dev, 120 of 120 examples]: wrong: nothing"},
      {"stream that skips", "contiguous [train, 15 of 120 examples]: wrong: 8 positions from 0 on differ from rows of 1 and 7"},
      {"stream without a start", "contiguous [dev, 15 of 120 examples]: wrong: no text starts with the first row"},
      {"stream past its end",
       "past the end [test, 15 of 120 examples]: wrong: 8 positions from 119 of 120 on: at 1 expected nothing"},
      {"stream with a target nowhere", "a target at 7, but nothing is present there"}};
  for (const auto& [fault, found] : faults) check_mentions(failed_of(fault), found);
  // If another seed need not change the data, digest and examples must both change or both stay.
  CHECK(failed_of("seed", SeedPromise::kMaybeOther) == "");
  check_mentions(failed_of("digest without seed", SeedPromise::kMaybeOther),
                 "another seed, another digest []: wrong: the digest stays the same, but the examples change");
  // Every check can fail. The checks below fail in task_labels_test.cpp, task_splits_test.cpp, task_data_test.cpp,
  // task_seeds_test.cpp, task_cache_test.cpp and task_streams_test.cpp.
  for (const char* name : {"label at a position", "label at two positions", "label by length", "one rule", "no duplicates",
                           "no near-duplicates", "files are named", "another seed", "cache", "starts", "next token"})
    failed_once.insert(name);
  CHECK(failed_once == run_once);
}
