// Counts of what follows what, on a source whose bits are known.
#include <array>
#include <cmath>

#include "core/trial/floors/floors.h"
#include "tests/support/catch.h"
#include "tests/trial/drawn.h"

using namespace ablate;

namespace {

/// A text in which a symbol depends on the `order` - 1 before it.
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

 private:
  std::array<std::vector<std::int64_t>, 3> texts_;
};

/// The bits of the source itself over its first test places, which nothing that only reads it beats by more than chance.
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

TEST_CASE("counts come to the bits of a Markov source, by its own order, over the places that a trial is asked") {
  for (const int order : {1, 2, 3}) {
    INFO("order " << order);
    Source source(order);
    for (const std::int64_t rows : {std::int64_t{0}, std::int64_t{100}}) {
      const auto found = find_floors(source, source.info(), rows, kEnough_s);
      const auto places = rows == 0 ? Source::kSize : rows * Source::kLength;
      REQUIRE(found.all.size() == 1);
      CHECK(found.examples == places);
      CHECK(found.metric.name == "test/bits_per_byte");
      CHECK(found.all[0].how == "order " + std::to_string(order));
      CHECK(found.all[0].value == Approx(bits_of(source, order, places)).margin(0.004));
      CHECK(found.all[0].trained == Source::kSize);
    }
  }
  // Entropies: 1.357 bits a symbol; of its symbols alone the second-order source tells nothing.
  Source source(2);
  CHECK(bits_of(source, 2, Source::kSize) == Approx(1.357).margin(0.02));
}
