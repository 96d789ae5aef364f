#include "generator.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <unordered_set>

#include "ablate/parallel.h"
#include "ablate/random.h"

namespace ablate::listops {
namespace {

// Raise this number with every change that makes other expressions from the same settings, so that no stale cache is read.
constexpr int kGeneratorVersion = 1;
constexpr std::size_t kTriesPerBlock = 1024;
constexpr std::size_t kBlocksPerWindow = 1024;
constexpr std::size_t kFewestNewPerWindow = kTriesPerBlock * kBlocksPerWindow / 1000;
constexpr std::size_t kMostBlocksAtOnce = 64;

/// Makes the tries of one block. Each block has its own random generator, so any thread can make blocks in any order.
class Grower {
 public:
  // The standard does not fix how its distributions draw numbers, so this class draws numbers itself.
  Grower(const GeneratorSettings& settings, std::uint64_t block)
      : settings_(settings), random_(generator(settings.seed, {block, block >> 32})) {
    operators_below_ = static_cast<std::uint64_t>(settings.operator_probability * 4294967296.0);
  }

  /// Makes one try. Returns true if its length is in the range.
  bool grow() {
    symbols_.clear();
    pending_ = 0;
    return node(1) && static_cast<std::int64_t>(symbols_.size()) > settings_.min_length;
  }
  std::span<const Symbol> symbols() const { return symbols_; }

 private:
  /// @return false as soon as the expression is too long
  bool node(std::int64_t depth) {
    if (static_cast<std::int64_t>(symbols_.size()) + pending_ + 1 >= settings_.max_length) return false;
    const std::uint64_t draw = random_(), low = draw & 0xffffffffu;
    if (depth >= settings_.max_depth || (draw >> 32) >= operators_below_) {
      symbols_.push_back(static_cast<Symbol>(kDigit + (low * 10 >> 32)));
      return true;
    }
    const std::uint64_t choice = low * static_cast<std::uint64_t>(4 * (settings_.max_arguments - 1)) >> 32;
    symbols_.push_back(static_cast<Symbol>(kMin + choice % 4));
    ++pending_;
    for (std::uint64_t i = 0; i < 2 + choice / 4; ++i)
      if (!node(depth + 1)) return false;
    --pending_;
    symbols_.push_back(kEnd);
    return true;
  }

  const GeneratorSettings& settings_;
  std::mt19937_64 random_;
  std::uint64_t operators_below_;
  std::vector<Symbol> symbols_;
  std::int64_t pending_ = 0;  ///< operators that are not closed yet
};

struct Block {
  Examples examples;
  std::vector<std::size_t> hashes;
};

Block make_block(const GeneratorSettings& settings, std::uint64_t index) {
  Block block;
  Grower grower(settings, index);
  Evaluator evaluate;
  for (std::size_t i = 0; i < kTriesPerBlock; ++i) {
    if (!grower.grow()) continue;
    const auto symbols = grower.symbols();
    block.examples.add(symbols, evaluate(symbols));
    block.hashes.push_back(std::hash<std::string_view>()({reinterpret_cast<const char*>(symbols.data()), symbols.size()}));
  }
  return block;
}

[[noreturn]] void give_up(const GeneratorSettings& settings, std::size_t wanted, std::size_t found, std::size_t blocks) {
  throw std::runtime_error("listops: found only " + std::to_string(found) + " of " + std::to_string(wanted) +
                           " distinct expressions in " + std::to_string(blocks * kTriesPerBlock) + " tries with " +
                           to_text(settings) +
                           "; lower min_length, raise max_length, max_depth or max_arguments, or set fewer examples");
}

}  // namespace

Examples generate(const GeneratorSettings& settings, std::size_t count, int threads) {
  Examples result;
  std::unordered_set<std::size_t> seen;
  seen.reserve(count);
  std::size_t next_block = 0, before_window = 0;
  std::vector<Block> blocks(static_cast<std::size_t>(std::max(threads, 1)));
  while (result.size() < count) {
    parallel(blocks.size(), threads, [&](std::size_t i) { blocks[i] = make_block(settings, next_block + i); });
    for (const auto& block : blocks) {
      for (std::size_t i = 0; i < block.hashes.size() && result.size() < count; ++i)
        // Two expressions with the same hash count as equal. At worst a good example is dropped.
        if (seen.insert(block.hashes[i]).second) result.append(block.examples, i, i + 1);
      if (result.size() == count) break;
      if (++next_block % kBlocksPerWindow == 0) {
        if (result.size() - before_window < kFewestNewPerWindow) give_up(settings, count, result.size(), next_block);
        before_window = result.size();
      }
    }
    blocks.resize(std::clamp(blocks.size() * 2, std::size_t{1}, kMostBlocksAtOnce));
  }
  return result;
}

std::string to_text(const GeneratorSettings& settings) {
  char probability[32];
  std::snprintf(probability, sizeof probability, "%.17g", settings.operator_probability);
  return "min_length = " + std::to_string(settings.min_length) + ", max_length = " + std::to_string(settings.max_length) +
         ", max_depth = " + std::to_string(settings.max_depth) + ", max_arguments = " + std::to_string(settings.max_arguments) +
         ", operator_probability = " + probability + ", data_seed = " + std::to_string(settings.seed) + " (generator " +
         std::to_string(kGeneratorVersion) + ")";
}

}  // namespace ablate::listops
