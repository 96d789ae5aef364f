// Streams: shared passages that begin between rows, starts of texts, and targets.
#include "tests/conformance/task_digits.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

/// Task of one text for each split, in rows of any length. The parameter `fault` names the fault.
class Rows final : public Task {
 public:
  explicit Rows(const TaskContext& context)
      : length_(context.parameters.integer("length")),
        seed_(context.parameters.integer("data_seed")),
        fault_(context.parameters.text("fault")) {}
  TaskInfo info() override {
    auto info = tests::text_of(random_symbol).info;
    info.length = length_;
    return info;
  }
  void load() override {}
  std::string digest() const override { return std::to_string(seed_); }
  std::int64_t size(Split) const override { return kSize; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto index = indices[i];
      if (index < 0 || index >= kSize) throw std::out_of_range("no such place");
      Row row(info_, batch, i);
      for (std::size_t at = 0; at < row.length(); ++at) {
        const auto place = index + static_cast<std::int64_t>(at);
        if (place >= kSize) break;
        // In the second half, a row that begins 3 or more places after a multiple of 16 skips a place.
        const bool skips = fault_ == "skips" && index > kSize / 2 && index < kSize - 100 && index % 16 > 2;
        row.id(at) = random_symbol(split, place + (skips ? 1 : 0), seed_);
        row.target(at) = random_symbol(split, place + (skips ? 2 : 1), seed_);
      }
      if (index + batch.length > kSize) row.end(static_cast<std::size_t>(kSize - index));
      if (index == 0 || fault_ == "everywhere" || (fault_ == "rows" && index % length_ == 0) ||
          (fault_ == "second rows" && index % (2 * length_) == 0) || (fault_ == "texts" && index % 50 == 0) ||
          (fault_ == "texts of 16" && index % 16 == 0) || (fault_ == "texts of 32" && index % 32 == 0))
        row.start();
    }
  }
  std::string describe(Split, std::int64_t) const override { return "symbols"; }

 private:
  static constexpr std::int64_t kSize = 4000;
  TaskInfo info_ = tests::text_of(random_symbol).info;
  std::int64_t length_, seed_;
  std::string fault_;
};

constexpr Parameter kRowsParameters[] = {integer("length", "16", {1, 64}, "of a row"), kSeedParameter[0],
                                         text("fault", "\"\"", "", "the fault")};

std::vector<Check> rows(const std::string& fault) {
  auto plugin = detail::describe(Kind::kTask,
                                 About{.id = "rows", .version = "1.0.0", .summary = "a text", .parameters = kRowsParameters});
  plugin.make_task = [](const TaskContext& context) -> std::unique_ptr<Task> { return std::make_unique<Rows>(context); };
  return checks_of(plugin, {{"fault", fault}});
}

}  // namespace

TEST_CASE("a text starts at declared places, but not at each row or at each position") {
  for (const char* right : {"", "texts", "texts of 16", "texts of 32"}) CHECK(failed(rows(right)) == "");
  const auto by_row = rows("rows"), everywhere = rows("everywhere");
  CHECK(failing_of(by_row) == Names{"starts"});
  check_mentions(said(by_row, "starts", "dev"), "texts start with rows of 16 positions, and elsewhere with rows of 15");
  CHECK(failing_of(rows("second rows")) == Names{"starts"});
  CHECK(failing_of(everywhere) == Names{"starts"});
  check_mentions(said(everywhere, "starts", "train"), "a text starts at 256 of 256 places that follow each other");
}

TEST_CASE("rows that begin off the grid, far after the first rows") {
  const auto checks = rows("skips");
  CHECK(failing_of(checks) == Names{"contiguous"});
  check_mentions(said(checks, "contiguous", "train"), "differ from the rows that begin half a row later");
}

TEST_CASE("a split that repeats another split's text off the grid of rows") {
  CHECK(failing(text_of([](Split split, std::int64_t place, std::int64_t seed) {
          return split == Split::kDev ? random_symbol(Split::kTrain, place + 1007, seed) : random_symbol(split, place, seed);
        })) == Names{"splits are disjoint"});
  const auto checks = checks_of(text_of([](Split split, std::int64_t place, std::int64_t seed) {  // only a passage is equal
    return split == Split::kTest && place > 2000 && place < 2400 ? random_symbol(Split::kDev, place - 1203, seed)
                                                                 : random_symbol(split, place, seed);
  }));
  CHECK(failing_of(checks) == Names{"splits are disjoint"});
  check_mentions(failed(checks), "of test is also in dev, by windows of");
}

TEST_CASE("targets two places ahead, or the symbol before") {
  const auto ahead = [](const std::function<bool(std::int64_t)>& where, std::int64_t by) {
    auto recipe = text_of(random_symbol);
    recipe.fill = [where, by, usual = recipe.fill](Row& row, Split split, std::int64_t index, Random random) {
      usual(row, split, index, random);
      for (std::size_t at = 0; at < row.length() && row.present(at) != 0; ++at)
        if (const auto place = index + static_cast<std::int64_t>(at); where(place))
          row.target(at) = random_symbol(split, place + by, random.start());
    };
    return recipe;
  };
  const auto everywhere = checks_of(ahead([](std::int64_t) { return true; }, 2));
  CHECK(failing_of(everywhere) == Names{"next token"});
  check_mentions(said(everywhere, "next token", "train"), "the symbol 2 places on predicts 1.00 of the targets, the next one ");
  CHECK(failing(ahead([](std::int64_t place) { return place % 5 < 2; }, 3)) == Names{"next token"});
  const auto before = failing(ahead([](std::int64_t place) { return place > 0; }, -1));
  CHECK(before == Names{"label at a position"});
}

TEST_CASE("in examples, a target that equals the symbol before or is computed from it") {
  auto recipe = digits_with_targets();
  for (const std::int64_t factor : {1, 3}) {
    recipe.fill = [factor](Row& row, Split, std::int64_t, Random random) {
      for (std::size_t at = 0; at < row.length(); ++at) row.id(at) = random.below(10);
      for (std::size_t at = 1; at < row.length(); ++at) row.target(at) = row.id(at - 1) * factor % 10;
    };
    check_fails(recipe, {"label at a position"});
  }
}

TEST_CASE("texts with long runs of blanks, with few symbols, or with a repeated passage pass") {
  // 300 to 349 blanks, then 11 to 60 symbols.
  CHECK(failed(text_of([](Split split, std::int64_t place, std::int64_t seed) {
          Random run(split, -1 - place / 360, seed);
          return place % 360 < 300 + run.below(50) ? 0 : random_symbol(split, place, seed);
        })) == "");
  CHECK(failed(text_of([](Split split, std::int64_t place, std::int64_t seed) { return Random(split, place, seed).below(2); },
                       2)) == "");
  // The same 37 symbols repeated, with one symbol in ten replaced.
  CHECK(failed(text_of([](Split split, std::int64_t place, std::int64_t seed) {
          Random random(split, place, seed);
          return random.below(10) == 0 ? random.below(12) : place % 37 % 12;
        })) == "");
}
