#include "pictures.h"

#include <cstring>

namespace ablate::pathfinder {
namespace {

struct Header {
  char magic[8];
  std::uint64_t version, side, count, packed;
};

constexpr char kMagic[9] = "ablpathf";
// Version of the layout, part of the digest. For a new layout, also raise kGeneratorVersion, which is part of the cache key.
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kMostInARow = 255;

template <class T>
std::vector<T> take(std::span<const std::uint8_t>& bytes, std::uint64_t count) {
  std::vector<T> column(count);
  if (count > 0) std::memcpy(column.data(), bytes.data(), count * sizeof(T));
  bytes = bytes.subspan(count * sizeof(T));
  return column;
}

}  // namespace

void Pictures::add(std::span<const std::uint8_t> pixels, bool connected) {
  for (std::size_t at = 0; at < pixels.size();) {
    std::size_t black = 0, lit = 0;
    while (at + black < pixels.size() && pixels[at + black] == 0 && black < kMostInARow) ++black;
    at += black;
    while (at + lit < pixels.size() && pixels[at + lit] != 0 && lit < kMostInARow) ++lit;
    packed_.push_back(static_cast<std::uint8_t>(black));
    packed_.push_back(static_cast<std::uint8_t>(lit));
    packed_.insert(packed_.end(), pixels.begin() + static_cast<std::ptrdiff_t>(at),
                   pixels.begin() + static_cast<std::ptrdiff_t>(at + lit));
    at += lit;
  }
  labels_.push_back(connected ? 1 : 0);
  ends_.push_back(packed_.size());
}

void Pictures::append(const Pictures& other) {
  for (const auto end : other.ends_) ends_.push_back(packed_.size() + end);
  labels_.insert(labels_.end(), other.labels_.begin(), other.labels_.end());
  packed_.insert(packed_.end(), other.packed_.begin(), other.packed_.end());
}

std::vector<std::uint8_t> Pictures::to_bytes() const {
  Header header{{}, kVersion, static_cast<std::uint64_t>(side_), size(), packed_.size()};
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  std::vector<std::uint8_t> bytes;
  const auto put = [&](const void* piece, std::size_t size) {
    bytes.resize(bytes.size() + size);
    if (size > 0) std::memcpy(bytes.data() + bytes.size() - size, piece, size);
  };
  put(&header, sizeof header);
  put(labels_.data(), labels_.size());
  put(ends_.data(), ends_.size() * sizeof ends_[0]);
  put(packed_.data(), packed_.size());
  return bytes;
}

Pictures Pictures::from_bytes(std::span<const std::uint8_t> bytes) {
  const auto header = take<Header>(bytes, 1)[0];
  Pictures pictures(static_cast<std::int64_t>(header.side));
  pictures.labels_ = take<std::uint8_t>(bytes, header.count);
  pictures.ends_ = take<std::uint64_t>(bytes, header.count);
  pictures.packed_ = take<std::uint8_t>(bytes, header.packed);
  return pictures;
}

}  // namespace ablate::pathfinder
