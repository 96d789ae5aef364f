#include "generator.h"

#include <algorithm>

#include "ablate/parallel.h"
#include "ablate/random.h"
#include "drawing.h"
#include "pixels.h"

namespace ablate::pathfinder {
namespace {

// Raise this number with every change that makes other pictures from the same settings, so that no stale cache is read.
constexpr int kGeneratorVersion = 2;
constexpr std::int64_t kBlock = 512;

/// True for exactly one of pictures 2i and 2i + 1, chosen at random. So splits are balanced, and no index shows a label.
bool is_connected(std::uint64_t seed, std::uint64_t split, std::uint64_t place) {
  auto random = generator(seed, {split, place / 2, 0});  // seeded by three words; a picture's generator is seeded by two
  return below(2, random) == place % 2;
}

struct Block {
  std::uint64_t split;
  std::int64_t first, last;
};

}  // namespace

Pictures generate(const GeneratorSettings& settings, const std::array<std::int64_t, 3>& sizes, int threads) {
  const auto form = form_of(settings.side, settings.contour);
  std::vector<Block> blocks;
  for (std::uint64_t split = 0; split < sizes.size(); ++split)
    for (std::int64_t first = 0; first < sizes[split]; first += kBlock)
      blocks.push_back({split, first, std::min(first + kBlock, sizes[split])});
  std::vector<Pictures> parts(blocks.size(), Pictures(settings.side));
  parallel(blocks.size(), threads, [&](std::size_t i) {
    for (auto at = blocks[i].first; at < blocks[i].last; ++at) {
      const auto place = static_cast<std::uint64_t>(at);
      auto random = generator(settings.seed, {blocks[i].split, place});
      const bool connected = is_connected(settings.seed, blocks[i].split, place);
      parts[i].add(to_pixels(draw(form, connected, random), form), connected);
    }
  });
  Pictures pictures(settings.side);
  for (const auto& part : parts) pictures.append(part);
  return pictures;
}

std::string to_text(const GeneratorSettings& settings) {
  return "size = " + std::to_string(settings.side) + ", contour = " + std::to_string(settings.contour) +
         ", data_seed = " + std::to_string(settings.seed) + " (generator " + std::to_string(kGeneratorVersion) + ")";
}

}  // namespace ablate::pathfinder
