// Tasks whose reads share state between threads by mistake.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/conformance/task_recipe.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

/// Task of random letters with state that threads share. The state is atomic, so that a fault gives wrong letters and no crash.
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
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // as long as it takes to read a small file
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

constexpr Parameter kSharedParameters[] = {text("fault", "\"\"", "", "the fault"), kSeedParameter[0]};

}  // namespace

TEST_CASE("reads that are not safe in several threads") {
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
