// Pictures with their labels, stored compactly: most pixels are black, and Path-X has 16,384 pixels per picture.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ablate/digest.h"

namespace ablate::pathfinder {

class Pictures {
 public:
  Pictures() = default;
  explicit Pictures(std::int64_t side) : side_(side) {}

  /// @param pixels [side, side]
  void add(std::span<const std::uint8_t> pixels, bool connected);
  void append(const Pictures& other);

  std::int64_t side() const { return side_; }
  std::size_t size() const { return labels_.size(); }
  bool connected(std::size_t i) const { return labels_[i] != 0; }
  /// Calls visit(place, grey) for each pixel of picture i that is not black, in order.
  template <class Visit>
  void for_each_pixel(std::size_t i, const Visit& visit) const {
    std::size_t place = 0;
    for (auto at = i == 0 ? 0 : ends_[i - 1]; at < ends_[i];) {
      place += packed_[at];
      const auto lit = packed_[at + 1];
      at += 2;
      for (int k = 0; k < lit; ++k) visit(place++, packed_[at++]);
    }
  }

  void add_to(Digest& digest) const { digest.add(side_).add_column(labels_).add_column(ends_).add_column(packed_); }
  /// Returns "ablpathf", version, side, pictures, bytes of pixels (u64 each), labels (u8), ends (u64), pixels; little-endian.
  std::vector<std::uint8_t> to_bytes() const;
  /// @param bytes the output of to_bytes(); the cache has checked them
  static Pictures from_bytes(std::span<const std::uint8_t> bytes);

 private:
  std::int64_t side_ = 0;
  std::vector<std::uint8_t> labels_;  ///< 1: connected
  std::vector<std::uint64_t> ends_;   ///< end of each picture in packed_
  /// Each picture is a list of runs. A run has the number of its black pixels, the number of the pixels after them that are
  /// not black, and the greys of these pixels. Each number and grey is one byte, so longer stretches are several runs.
  std::vector<std::uint8_t> packed_;
};

}  // namespace ablate::pathfinder
