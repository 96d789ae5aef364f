// Streams in training: lanes, and states that are reset at the beginning of a lane.
#include <set>

#include "core/trial/training/order.h"
#include "core/trial/training/training.h"
#include "core/util/error.h"
#include "tests/trial/stream.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

/// The state is the number of tokens that an item has read. Each call records each item's state and the position from the host.
class Count final : public Attention {
 public:
  explicit Count(const AttentionContext& context) { scale_ = register_parameter("scale", ones({context.d_model})); }
  static inline std::vector<std::pair<std::int64_t, std::int64_t>> noted;

 private:
  AttentionState do_initial_state(std::int64_t batch) const override { return {zeros({batch}, kLong)}; }
  AttentionOutput do_forward(const AttentionInput& input) override {
    const auto& read = input.state.at(0);
    for (std::int64_t i = 0; i < read.size(0); ++i)
      noted.emplace_back(read[i].item<std::int64_t>(), input.position[i].item<std::int64_t>());
    return {.output = input.queries * scale_, .state = {read + input.queries.size(1)}};
  }

  Tensor scale_;
};

const Descriptor& count(Kind, const std::string&) {
  static const Descriptor made = [] {
    auto plugin = ablate::detail::describe(Kind::kAttention,
                                           About{.id = "count",
                                                 .version = "1.0.0",
                                                 .summary = "counts",
                                                 .capabilities = {.causal = true, .key_padding = true, .stateful = true}});
    plugin.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
      return std::make_shared<Count>(context);
    };
    return plugin;
  }();
  return made;
}

}  // namespace

TEST_CASE("lanes are contiguous parts of a text, and restart at shifted positions") {
  for (const auto& [size, lanes, segment] : {std::tuple{100, 4, 7}, {100, 4, 25}, {101, 3, 1}, {64, 1, 8}}) {
    INFO(size << " positions, " << lanes << " lanes, segments of " << segment);
    Lanes order(size, lanes, segment, 3), same(size, lanes, segment, 3);
    const std::int64_t part = size / lanes;
    std::vector<std::int64_t> next(static_cast<std::size_t>(lanes), 0), position(next), rounds(next);
    std::set<std::int64_t> begins, read;
    for (int step = 0; step < 400; ++step) {
      const auto rows = order.next();
      CHECK(rows.indices == same.next().indices);
      REQUIRE(rows.indices.size() == static_cast<std::size_t>(lanes));
      for (std::size_t lane = 0; lane < rows.indices.size(); ++lane) {
        const auto first = static_cast<std::int64_t>(lane) * part, at = rows.indices[lane];
        REQUIRE(at >= first);
        REQUIRE(at + segment <= first + part);
        if (next[lane] + segment > part) {  // no whole segment is left
          ++rounds[lane];
          CHECK(at - first < std::min<std::int64_t>(segment, part - segment + 1));
          begins.insert(at - first);
          position[lane] = 0;
        } else {
          CHECK(at == first + next[lane]);
        }
        CHECK(rows.position[lane] == position[lane]);
        next[lane] = at - first + segment;
        position[lane] += segment;
        for (std::int64_t j = 0; j < segment; ++j) read.insert(at + j);
      }
    }
    CHECK(rounds.front() > 0);
    CHECK(static_cast<std::int64_t>(begins.size()) == std::min<std::int64_t>(segment, part - segment + 1));
    CHECK(static_cast<std::int64_t>(read.size()) == part * lanes);
  }
}

TEST_CASE("saved lanes continue in the same way, and a text that is too short is refused") {
  Lanes order(90, 2, 7, 3), other(90, 2, 7, 4);
  for (int step = 0; step < 20; ++step) order.next();
  other.load(order.save());
  for (int step = 0; step < 40; ++step) {
    const auto a = order.next(), b = other.next();
    CHECK(a.indices == b.indices);
    CHECK(a.position == b.position);
  }
  CHECK_NOTHROW(Lanes(28, 4, 7, 1));
  CHECK_THROWS_WITH(Lanes(27, 4, 7, 1), Catch::Contains("27 positions") && Catch::Contains("4 lanes") && Catch::Contains("7"));
}

TEST_CASE("in training each lane has its own state, reset when the lane restarts; evaluation has separate states") {
  Text task(100, 8);
  auto resolved = resolved_trial({{"batch", 3}}, json{{"plugin", "count"}});
  resolved["model"]["positions"] = "none";
  const TrialParts parts{trial_from_json(resolved), task, count};
  Training training(parts, at::kCPU);
  const auto check = [](std::size_t expected_new) {
    std::size_t begun = 0;
    for (const auto& [read, position] : Count::noted) {
      CHECK(read == position);
      begun += position == 0 ? 1 : 0;
    }
    CHECK(begun == expected_new);
    Count::noted.clear();
  };
  const auto layers = resolved.at("model").at("layers").get<std::size_t>();
  for (int step = 0; step < 3; ++step) training.step();
  CHECK(Count::noted.size() == 3 * 3 * layers);
  check(3 * layers);
  training.evaluate(Split::kDev);
  check(3 * layers);
  // Lanes of 33 positions have 4 segments, or 3 after a shift. So 4 more steps restart each lane once.
  for (int step = 0; step < 4; ++step) training.step();
  CHECK(Count::noted.front().second == 24);
  check(3 * layers);
  const auto observed = training.observed();
  const auto state =
      std::find_if(observed.begin(), observed.end(), [](const auto& one) { return one.info.name == "memory/state"; });
  REQUIRE(state != observed.end());
  CHECK(state->value * kMiB == static_cast<double>(sizeof(std::int64_t) * layers));  // size for one lane, not for all three
}

TEST_CASE("rows that begin a text get the initial state; other rows do not change") {
  const auto of = [](double value) { return ModelState{{full({3, 2}, value), full({3, 1, 2}, value)}, {}}; };
  auto state = of(7);
  reset_rows(state, of(0), {0, 0, 0});
  CHECK(state[0][0].eq(7).all().item().toBool());
  reset_rows(state, of(0), {0, 1, 0});
  for (const auto& tensor : state[0])
    for (const std::int64_t row : {0, 1, 2}) CHECK(tensor[row].eq(row == 1 ? 0 : 7).all().item().toBool());
}
