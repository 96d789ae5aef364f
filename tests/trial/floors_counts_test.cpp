// Counts of symbol sequences, on a source whose entropy is known.
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "core/trial/floors/data.h"
#include "core/trial/floors/floors.h"
#include "core/trial/training/order.h"
#include "tests/support/catch.h"
#include "tests/trial/drawn.h"

using namespace ablate;

namespace {

/// A text in which each symbol depends on the `order` - 1 symbols before it.
class Source : public Task {
 public:
  static constexpr std::int64_t kSymbols = 4, kSize = 60'000, kLength = 50;

  explicit Source(int order) {
    for (std::size_t split = 0; split < 3; ++split) {
      Draw draw(split + 100);
      auto& text = texts_[split];
      for (std::int64_t i = 0; i <= kSize; ++i) {
        const auto at = text.size();
        const auto likely = order == 1 || at < 2 ? 0 : order == 2 ? text[at - 1] + 1 : text[at - 1] + text[at - 2];
        const auto drawn = draw.below(10);
        text.push_back((likely + (drawn < 7 ? 0 : drawn - 6)) % kSymbols);
      }
    }
  }
  TaskInfo info() override {
    return {.fields = {{"token", kSymbols}},
            .length = kLength,
            .classes = kSymbols,
            .objective = Objective::kPositions,
            .sampling = Sampling::kStream,
            .causal = true,
            .unit = "byte"};
  }
  void load() override {}
  std::string digest() const override { return "source"; }
  std::int64_t size(Split) const override { return kSize; }
  std::string describe(Split, std::int64_t) const override { return ""; }
  const std::vector<std::int64_t>& text(Split split) const { return texts_[static_cast<std::size_t>(split)]; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    if (split == Split::kTrain)
      for (const auto index : indices) windows_.push_back(index);
    for (std::size_t i = 0; i < indices.size(); ++i)
      for (std::int64_t j = 0; j < batch.length; ++j) {
        const auto place = indices[i] + j;
        const auto at = i * static_cast<std::size_t>(batch.length) + static_cast<std::size_t>(j);
        batch.present[0][at] = place < kSize ? 1 : 0;
        if (place >= kSize) continue;
        batch.ids[0][at] = text(split)[static_cast<std::size_t>(place)];
        batch.targets[at] = text(split)[static_cast<std::size_t>(place) + 1];
      }
  }

  const std::vector<std::int64_t>& windows() const { return windows_; }

 private:
  std::array<std::vector<std::int64_t>, 3> texts_;
  mutable std::vector<std::int64_t> windows_;  ///< windows of the training split that were read
};

/// Returns the bits per symbol that the true distribution needs for the first `places` positions. A predictor needs fewer
/// bits only by chance.
double bits_of(const Source& source, int order, std::int64_t places) {
  const auto& text = source.text(Split::kTest);
  double bits = 0;
  for (std::size_t at = 1; at <= static_cast<std::size_t>(places); ++at) {
    const auto likely = order == 1 || at < 2 ? 0 : order == 2 ? text[at - 1] + 1 : text[at - 1] + text[at - 2];
    bits -= std::log2(text[at] == likely % Source::kSymbols ? 0.7 : 0.1);
  }
  return bits / static_cast<double>(places);
}

}  // namespace

TEST_CASE("at the order of a Markov source, counts need as many bits as its distribution, on a trial's test positions") {
  for (const int order : {1, 2, 3}) {
    INFO("order " << order);
    Source source(order);
    for (const std::int64_t rows : {std::int64_t{0}, std::int64_t{100}}) {
      const auto found = find_floors(source, source.info(), {.test = rows}, kEnough_s);
      const auto places = rows == 0 ? Source::kSize : rows * Source::kLength;
      REQUIRE(found.floors.size() == 1);
      CHECK(found.examples == places);
      CHECK(found.metric == "test/bits_per_byte");
      CHECK(found.floors[0].how == "order " + std::to_string(order));
      CHECK(found.floors[0].value == Approx(bits_of(source, order, places)).margin(0.004));
      CHECK(found.floors[0].trained == Source::kSize);
    }
  }
  // The entropy is 1.357 bits a symbol. Symbol frequencies predict nothing in the source of order 2.
  Source source(2);
  CHECK(bits_of(source, 2, Source::kSize) == Approx(1.357).margin(0.02));
}

TEST_CASE("orders that dev did not choose are reported, too, on the same test examples") {
  Source source(2);
  const auto found = find_floors(source, source.info(), {.test = 100}, kEnough_s);
  double first = 0, third = 0, fourth = 0;
  REQUIRE(std::sscanf(found.floors.at(0).others.c_str(), "order 1: %lf, order 3: %lf, order 4: %lf", &first, &third, &fourth) ==
          3);
  CHECK(first == Approx(2).margin(0.01));  // four equally frequent symbols
  const auto own = found.floors[0].value;
  CHECK((own < third && third < fourth && fourth < own + 0.1));  // longer contexts have fewer counts
}

TEST_CASE("on a stream, predictors train on the positions that a trial's lanes have read, for any seed") {
  Source source(2);
  const auto info = source.info();
  for (const std::int64_t lanes : {1, 7, 32})
    for (const std::int64_t steps : {1, 3, 30}) {
      INFO(lanes << " lanes, " << steps << " steps");
      std::set<std::int64_t> read, targets;
      const auto order = training_order(info, Source::kSize, lanes, 12345);
      for (std::int64_t step = 0; step < steps; ++step)
        for (const auto index : order->next().indices)
          for (std::int64_t at = 0; at < Source::kLength; ++at) read.insert(index + at);
      const FloorData data(source, info, {.train = lanes * steps, .lanes = lanes});
      const auto before = source.windows().size();
      std::int64_t asked = 0;
      const auto places = data.train(
          1 << 24, [&](const Example& example) { each_target_of(example, [&](std::size_t, std::int64_t) { ++asked; }); });
      CHECK(data.seen() == std::ssize(read));
      CHECK(places == data.seen());
      CHECK(asked == data.seen());
      for (auto i = before; i < source.windows().size(); ++i) CHECK(read.contains(source.windows()[i]));
    }
  // 172 steps read all windows, and 171 steps do not.
  CHECK(FloorData(source, info, {.train = 7 * 171, .lanes = 7}).seen() < Source::kSize);
  CHECK(FloorData(source, info, {.train = 7 * 172, .lanes = 7}).seen() == Source::kSize);
  // Counts from 100 of the 60,000 positions are worse, and report the number of positions.
  const auto few = find_floors(source, info, {.train = 2, .lanes = 2}, kEnough_s),
             all = find_floors(source, info, {}, kEnough_s);
  CHECK(few.seen == 100);
  CHECK(few.floors[0].trained == 100);
  CHECK(few.floors[0].value > all.floors[0].value + 0.01);
}
