// Small tasks for tests. A recipe has a task's info and a function that fills a row, so that a test needs one line for a fault.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>

#include "core/trial/audit/audit.h"
#include "core/trial/conformance/task/checks.h"
#include "core/trial/conformance/task/symbols.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

namespace ablate::tests {

/// Row of a batch that a recipe fills.
class Row {
 public:
  Row(const TaskInfo& info, BatchView& batch, std::size_t row) : info_(info), batch_(batch), row_(row) {}

  std::int64_t& id(std::size_t at, std::size_t part = 0) { return batch_.ids[part][row_ * length() + at]; }
  /// @param at position * Field::reals + number
  float& real(std::size_t at, std::size_t part = 0) {
    const auto reals = static_cast<std::size_t>(info_.fields[part % info_.fields.size()].reals);
    return batch_.reals[part][row_ * length() * reals + at];
  }
  std::uint8_t& present(std::size_t at, std::size_t sequence = 0) { return batch_.present[sequence][row_ * length() + at]; }
  /// Makes all positions from `at` on absent.
  void end(std::size_t at, std::size_t sequence = 0) {
    for (; at < length(); ++at) present(at, sequence) = 0;
  }
  std::int64_t& target(std::size_t at = 0) {
    return batch_.targets[row_ * (info_.objective == Objective::kClass ? 1 : length()) + at];
  }
  std::int64_t& slice() { return batch_.slices[row_]; }
  void start() { batch_.starts[row_] = 1; }
  std::size_t length() const { return static_cast<std::size_t>(batch_.length); }

 private:
  const TaskInfo& info_;
  BatchView& batch_;
  std::size_t row_;
};

/// Generator of numbers that look random. The numbers depend only on split, index and seed.
class Random {
 public:
  Random(Split split, std::int64_t index, std::int64_t seed)
      : start_(seed),
        state_(mixed(mixed(static_cast<std::uint64_t>(split) + 7, static_cast<std::uint64_t>(index)),
                     static_cast<std::uint64_t>(seed))) {}
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>((state_ = mixed(state_, 1)) % static_cast<std::uint64_t>(end));
  }
  std::int64_t start() const { return start_; }  ///< the data_seed
  double unit() { return static_cast<double>(below(1 << 20)) / (1 << 20); }

 private:
  std::int64_t start_;
  std::uint64_t state_;
};

struct Recipe {
  TaskInfo info = {.fields = {{.name = "digit", .vocabulary = 10}}, .length = 12, .classes = 2};
  std::int64_t size = 400;
  /// Fills an example. The generator depends on the example's split and index and on the seed.
  std::function<void(Row& row, Split split, std::int64_t index, Random random)> fill = {};
  bool has_seed = true;  ///< true if data_seed is a parameter
  std::vector<Exemption> exemptions = {};
};

/// Task that a recipe makes.
class Cooked final : public Task {
 public:
  Cooked(const Recipe& recipe, const TaskContext& context)
      : recipe_(recipe), seed_(recipe.has_seed ? context.parameters.integer("data_seed") : 0) {}

  TaskInfo info() override { return recipe_.info; }
  void load() override {}
  std::string digest() const override { return "digest " + std::to_string(seed_); }
  std::int64_t size(Split) const override { return recipe_.size; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= recipe_.size) throw std::out_of_range("no such example");
      Row row(recipe_.info, batch, i);
      recipe_.fill(row, split, indices[i], {split, indices[i], seed_});
    }
  }
  std::string describe(Split, std::int64_t index) const override { return "example " + std::to_string(index); }

 private:
  const Recipe& recipe_;
  std::int64_t seed_;
};

inline const Recipe* cooked = nullptr;
inline constexpr Parameter kSeedParameter[] = {integer("data_seed", "0", {0, 1e9}, "seed of the data set")};

/// Returns the findings of `ablate audit` in a new instance, or none if the task is broken. If it is broken, a check in
/// `suite` must have failed.
inline std::vector<Check> audit_of(const Descriptor& plugin, const nlohmann::json& parameters,
                                   const std::vector<Check>& suite) {
  const ::TemporaryFolder scratch;
  const auto candidate = make_candidate(plugin, parameters, find_among({&plugin}));
  const SampledTask maker(candidate, scratch.path(), false);
  const bool is_broken = std::ranges::any_of(suite, &Check::failed);
  Checks checks;
  try {
    auto loaded = maker.make(2, maker.folder("cache"));
    loaded->info();
    loaded->load();
    audit_task(candidate, std::move(loaded), scratch.path(), checks);
  } catch (const std::exception&) {
    CHECK(is_broken);
    return {};
  }
  if (!checks.all().front().failed()) return {checks.all().begin() + 1, checks.all().end()};
  CHECK(is_broken);
  return {};
}

/// Returns the checks of the suite and the findings of an audit.
/// @param quick true: only the suite, shortened as with `--quick`
inline std::vector<Check> checks_of(const Descriptor& plugin, const nlohmann::json& parameters = nlohmann::json::object(),
                                    bool quick = false) {
  const ::TemporaryFolder scratch;
  const auto elsewhere = audit_names();
  Checks checks;
  check_task(make_candidate(plugin, parameters, find_among({&plugin})), scratch.path(), quick, checks, elsewhere);
  auto all = checks.all();
  if (!quick)
    for (auto& found : audit_of(plugin, parameters, all)) all.push_back(std::move(found));
  return all;
}

inline std::vector<Check> checks_of(const Recipe& recipe) {
  cooked = &recipe;
  About about{.id = "cooked", .version = "1.0.0", .summary = "of a test", .exemptions = recipe.exemptions};
  if (recipe.has_seed) about.parameters = kSeedParameter;
  auto plugin = detail::describe(Kind::kTask, about);
  plugin.make_task = [](const TaskContext& context) -> std::unique_ptr<Task> {
    return std::make_unique<Cooked>(*cooked, context);
  };
  return checks_of(plugin);
}

/// Returns the failed checks with place and text, one line each.
inline std::string failed(const std::vector<Check>& checks) {
  std::string text;
  for (const auto& check : checks)
    if (check.failed()) text += check.name + " [" + check.on + "]: " + check.found + "\n";
  return text;
}
inline std::string failed(const Recipe& recipe) { return failed(checks_of(recipe)); }

/// Returns the names of the failed checks, each once.
inline std::set<std::string> failing_of(const std::vector<Check>& checks) {
  std::set<std::string> names;
  for (const auto& check : checks)
    if (check.failed()) {
      UNSCOPED_INFO(check.name << " [" << check.on << "]: " << check.found);
      names.insert(check.name);
    }
  return names;
}
inline std::set<std::string> failing(const Recipe& recipe) { return failing_of(checks_of(recipe)); }

/// Returns the text of a check on a split ("dev") or on the task (""), passed or not.
inline std::string said(const std::vector<Check>& checks, const std::string& name, const std::string& on = "") {
  for (const auto& check : checks)
    if (check.name == name && check.on.starts_with(on)) return check.found;
  return "no check " + name;
}

inline void check_mentions(const std::string& message, const std::string& expected) {
  INFO("message: " << message << "\nexpected to mention: " << expected);
  CHECK(message.find(expected) != std::string::npos);
}

}  // namespace ablate::tests
