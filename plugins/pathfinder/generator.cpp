#include "generator.h"

#include <algorithm>

#include "ablate/parallel.h"
#include "ablate/random.h"
#include "drawing.h"
#include "pixels.h"

namespace ablate::pathfinder {
namespace {

// A change that makes other pictures from the same settings increases it, so that no stale cache is read.
constexpr int kGeneratorVersion = 1;
constexpr std::int64_t kBlock = 512;

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
    for (auto place = blocks[i].first; place < blocks[i].last; ++place) {
      auto random = generator(settings.seed, {blocks[i].split, static_cast<std::uint64_t>(place)});
      const bool connected = place % 2 == 1;
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
