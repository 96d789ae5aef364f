#include "core/trial/conformance/task_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <unordered_set>

namespace ablate {

namespace {

constexpr std::pair<Split, const char*> kSplits[] = {{Split::kTrain, "train"}, {Split::kDev, "dev"}, {Split::kTest, "test"}};
// Of dev and test that may stand in an earlier split as well, where the data are what they are: real ones repeat themselves a
// little (IMDb 0.5 %; Fashion-MNIST and CIFAR-10 in grey not at all). Generated ones can be drawn again, so there it is none.
constexpr double kMostShared = 0.01;
constexpr std::int64_t kMostHashed = 100'000;
constexpr std::int64_t kFewExamples = 20;

struct Example {
  std::vector<std::int64_t> ids;  ///< [length]
  std::int64_t label;
  bool operator==(const Example&) const = default;
};

/// By index, in one batch whose memory was dirty before.
std::vector<Example> read(const Task& task, const TaskInfo& info, Split split, const std::vector<std::int64_t>& indices) {
  const auto length = static_cast<std::size_t>(info.length);
  std::vector<std::int64_t> ids(indices.size() * length, -77), labels(indices.size(), -77);
  task.read(split, indices, {ids, labels});
  std::vector<Example> examples;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(i * length);
    examples.push_back({{first, first + static_cast<std::ptrdiff_t>(length)}, labels[i]});
  }
  return examples;
}

std::vector<std::int64_t> range(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(std::max<std::int64_t>(end - begin, 0)));
  std::iota(all.begin(), all.end(), begin);
  return all;
}

/// "" or what is wrong with an example.
std::string fault_of(const Example& example, const TaskInfo& info) {
  if (example.label < 0 || example.label >= info.classes)
    return fmt::format("label {}, expected [0, {})", example.label, info.classes);
  const auto end = std::find(example.ids.begin(), example.ids.end(), 0);
  if (end == example.ids.begin()) return "no token";
  for (auto id = example.ids.begin(); id != example.ids.end(); ++id) {
    const auto position = id - example.ids.begin();
    if (*id < 0 || *id >= info.vocabulary) return fmt::format("id {} at {}, expected below {}", *id, position, info.vocabulary);
    if (id > end && *id != 0) return fmt::format("a token after padding at {}", position);
  }
  return "";
}

/// The checks on a loaded task, and on a second one of the same parameters.
class TaskSuite {
 public:
  TaskSuite(const Task& task, const Task& again, const TaskInfo& info, std::int64_t most, Checks& checks)
      : task_(task), again_(again), info_(info), most_(most), checks_(checks) {}

  void split(Split split, const std::string& on) {
    size_ = 0;
    check("size", on, [&] {
      size_ = task_.size(split);
      return size_ >= 1 ? "" : fmt::format("{} examples, expected at least 1", size_);
    });
    if (size_ < 1) return;
    std::vector<Example> examples;
    const auto shown = fmt::format("{}, {} of {} examples", on, std::min(size_, most_), size_);
    check("labels, ids and padding", shown, [&] {
      examples = read(task_, info_, split, range(0, std::min(size_, most_)));
      for (std::size_t i = 0; i < examples.size(); ++i)
        if (const auto fault = fault_of(examples[i], info_); !fault.empty()) return fmt::format("example {}: {}", i, fault);
      return std::string();
    });
    if (size_ >= kFewExamples) check("more than one answer", shown, [&] { return one_answer(examples); });
    check("repeatable, with 1 and 2 threads", shown, [&] {
      if (again_.size(split) != size_) return fmt::format("{} and {} examples", size_, again_.size(split));
      return differs(read(again_, info_, split, range(0, std::min(size_, most_))), examples);
    });
    check("alone as in a batch", on, [&] { return alone(split, examples); });
    check("index outside", fmt::format("{}, -1 and {}", on, size_), [&] { return outside(split); });
    check("describe", on, [&] { return task_.describe(split, size_ - 1).empty() ? "nothing" : ""; });
  }

  /// @param other the task with another data_seed; may be null
  void disjoint(const Task* other) {
    const auto on = fmt::format("the first {} examples of each", kMostHashed);
    checks_.run("splits are disjoint", on, kMostShared, [&](std::string& where) {
      std::unordered_set<std::size_t> seen;
      double worst = 0;
      for (const auto& [split, name] : kSplits) {
        const auto own = hashes(task_, split, std::min(task_.size(split), kMostHashed));
        const auto shared = std::count_if(own.begin(), own.end(), [&](std::size_t hash) { return seen.count(hash) > 0; });
        seen.insert(own.begin(), own.end());
        if (shared == 0) continue;
        worst = std::max(worst, static_cast<double>(shared) / static_cast<double>(own.size()));
        where += fmt::format("{}{}: {} of {} stand in an earlier split as well", where.empty() ? "" : ", ", name, shared,
                             own.size());
      }
      if (worst > 0 && other != nullptr && is_new(*other, seen))
        throw std::runtime_error(where + "; another data_seed makes other examples, so the data are generated, and none may");
      return worst;
    });
  }

  /// Whether another task hands out the same examples.
  bool is_same(const Task& other) const {
    return std::all_of(std::begin(kSplits), std::end(kSplits), [&](const auto& named) {
      const auto split = named.first;
      const auto looked_at = range(0, std::min(task_.size(split), most_));
      return other.size(split) == task_.size(split) &&
             read(other, info_, split, looked_at) == read(task_, info_, split, looked_at);
    });
  }

  /// A check that finds a fault in words; "" is none.
  void check(const std::string& name, const std::string& on, const std::function<std::string()>& fault) {
    checks_.run(name, on, 0, [&](std::string&) -> double {
      if (const auto found = fault(); !found.empty()) throw std::runtime_error(found);
      return 0;
    });
  }

 private:
  static std::string differs(const std::vector<Example>& a, const std::vector<Example>& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (!(a[i] == b[i])) return fmt::format("example {} differs", i);
    return a.size() == b.size() ? "" : "they differ";
  }

  static std::string one_answer(const std::vector<Example>& examples) {
    for (const auto& example : examples)
      if (example.label != examples.front().label) return "";
    return fmt::format("every example has the label {}: there is nothing to learn", examples.front().label);
  }

  /// One at a time and backwards: what an index names does not depend on its batch.
  std::string alone(Split split, const std::vector<Example>& examples) const {
    for (auto i = std::min<std::int64_t>(static_cast<std::int64_t>(examples.size()), 50) - 1; i >= 0; --i)
      if (!(read(task_, info_, split, {i}).front() == examples[static_cast<std::size_t>(i)]))
        return fmt::format("example {} differs", i);
    return "";
  }

  /// Just outside, behind an index that is right.
  std::string outside(Split split) const {
    for (const auto index : {std::int64_t{-1}, size_}) {
      std::string found = "an example";
      try {
        read(task_, info_, split, {0, index});
      } catch (const std::out_of_range&) {
        continue;
      } catch (const std::exception& error) {
        found = error.what();
      }
      return fmt::format("index {}: expected std::out_of_range, found {}", index, found);
    }
    return "";
  }

  /// Whether most test examples of another data_seed are in no split of this one: it draws, and does not only deal anew.
  bool is_new(const Task& other, const std::unordered_set<std::size_t>& seen) const {
    const auto drawn = hashes(other, Split::kTest, std::min(other.size(Split::kTest), most_));
    const auto known = std::count_if(drawn.begin(), drawn.end(), [&](std::size_t hash) { return seen.count(hash) > 0; });
    return 2 * known < static_cast<std::int64_t>(drawn.size());
  }

  /// Of the ids of the first `size` examples.
  std::vector<std::size_t> hashes(const Task& task, Split split, std::int64_t size) const {
    constexpr std::int64_t chunk = 256;
    std::vector<std::size_t> all;
    for (std::int64_t begin = 0; begin < size; begin += chunk)
      for (const auto& example : read(task, info_, split, range(begin, std::min(size, begin + chunk))))
        all.push_back(std::hash<std::string_view>()(
            {reinterpret_cast<const char*>(example.ids.data()), example.ids.size() * sizeof(example.ids[0])}));
    return all;
  }

  const Task& task_;
  const Task& again_;
  TaskInfo info_;
  std::int64_t most_, size_ = 0;
  Checks& checks_;
};

}  // namespace

void check_task(const MakeTask& make, SeedPromise seed, std::int64_t most, Checks& checks) {
  std::unique_ptr<Task> task, again;
  TaskInfo info;
  checks.run("load", "twice, with 2 threads and with 1", 0, [&](std::string&) -> double {
    task = make(2, false);
    again = make(1, false);
    info = task->info();
    task->load();
    again->info();
    again->load();
    return 0;
  });
  if (!checks.all().back().passed) return;
  TaskSuite suite(*task, *again, info, most, checks);
  suite.check("info", "", [&] {
    if (info.vocabulary >= 2 && info.length >= 1 && info.classes >= 2) return std::string();
    return fmt::format("vocabulary {}, length {}, classes {}; expected at least 2, 1 and 2", info.vocabulary, info.length,
                       info.classes);
  });
  if (!checks.all().back().passed) return;
  suite.check("info is the same after load", "", [&] {
    const auto after = task->info();
    const bool same = after.vocabulary == info.vocabulary && after.length == info.length && after.classes == info.classes;
    return same ? "" : "it differs";
  });
  for (const auto& [split, name] : kSplits) suite.split(split, name);
  suite.check("digest is stable", "", [&] {
    if (task->digest().empty()) return "it is empty";
    return again->digest() == task->digest() ? "" : "it differs";
  });
  std::unique_ptr<Task> other;
  if (seed != SeedPromise::kNone)
    suite.check("another seed, another digest", "", [&] {
      auto made = make(2, true);
      const bool same_length = made->info().length == info.length;
      made->load();
      if (made->digest() != task->digest()) {
        if (same_length) other = std::move(made);
        return "";
      }
      if (seed == SeedPromise::kOther) return "the digest is the same";
      return same_length && suite.is_same(*made) ? "" : "the digest is the same, and the examples are not";
    });
  suite.disjoint(other.get());
  check_chance(*task, checks);
}

}  // namespace ablate
