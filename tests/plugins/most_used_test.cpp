// Selection of the most used tokens, in order, by given use or by attention. The number selected depends on the item.
#include <numeric>

#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Rate;
using ablate::Tensor;

namespace {

/// Returns the `count` most used positions, in ascending order. Among positions of equal use, the first are selected.
std::vector<std::int64_t> most(const std::vector<double>& use, std::int64_t count) {
  std::vector<std::int64_t> places(use.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) { return use[a] > use[b]; });
  places.resize(count);
  std::sort(places.begin(), places.end());
  return places;
}

void check_kept(const ablate::Memory& memory, const Tensor& keys, const Tensor& values, const Tensor& use, const Rate& rate,
                const std::vector<std::int64_t>& lengths) {
  for (std::int64_t i = 0; i < keys.size(0); ++i)
    for (std::int64_t h = 0; h < keys.size(1); ++h) {
      std::vector<double> own;
      for (std::int64_t p = 0; p < lengths[i]; ++p) own.push_back(use[i][h][p].item<double>());
      const auto places = most(own, rate.slots(lengths[i]));
      INFO("item " << i << ", head " << h);
      for (std::size_t j = 0; j < places.size(); ++j) {
        const auto slot = static_cast<std::int64_t>(j);
        CHECK(memory.keys[i][h][slot].equal(keys[i][h][places[j]]));
        CHECK(memory.values[i][h][slot].equal(values[i][h][places[j]]));
      }
      CHECK(memory.mass[i][h].sum().item<std::int64_t>() == std::ssize(places));
    }
}

}  // namespace

TEST_CASE("most-used selects tokens by their given use, the first among equals; their number depends on the item") {
  const auto compression = make(section("most-used"), {{1, 3}}, 2, 3, 64);
  const auto keys = normal({2, 2, 11, 3}, 1), values = normal({2, 2, 11, 3}, 2);
  const std::vector<std::int64_t> lengths = {11, 5};
  for (const auto& use :
       {normal({2, 2, 11}, 3).abs(), normal({2, 1, 11}, 4).abs(), ablate::ones({2, 1, 11}, ablate::kDouble)}) {
    // Masked tokens have the largest use.
    const auto mask = mask_of(11, lengths);
    const auto masked_use = use.masked_fill(mask.logical_not().unsqueeze(1), 100);
    const auto memory = compression->write({.keys = keys, .values = values, .mask = mask, .usage = masked_use});
    check_kept(memory, keys, values, use.expand({2, 2, 11}), {1, 3}, lengths);
  }
}

TEST_CASE("most-used by queries sums attention weights of unmasked queries; without queries, tokens attend to each other") {
  const auto compression = make(section("most-used"), {{1, 4}}, 2, 3, 512);
  const auto keys = normal({2, 2, 300, 3}, 1), values = normal({2, 2, 300, 3}, 2), queries = normal({2, 2, 270, 3}, 3);
  const auto mask = mask_of(300, {300, 40}), asking = mask_of(270, {270, 9});
  const auto gone = mask.logical_not().unsqueeze(1).unsqueeze(1);
  const auto use_of = [&](const Tensor& q, const Tensor& there) {
    const auto weights = (q.matmul(keys.transpose(-1, -2)) / std::sqrt(3.0)).masked_fill(gone, -INFINITY).softmax(-1);
    return (weights * there.unsqueeze(1).unsqueeze(-1)).sum(2);
  };
  const auto asked =
      compression->write({.keys = keys, .values = values, .mask = mask, .queries = queries, .query_mask = asking});
  check_kept(asked, keys, values, use_of(queries, asking), {1, 4}, {300, 40});
  const auto alone = compression->write({.keys = keys, .values = values, .mask = mask});
  check_kept(alone, keys, values, use_of(keys, mask), {1, 4}, {300, 40});
  CHECK_FALSE(alone.keys.equal(asked.keys));
}
