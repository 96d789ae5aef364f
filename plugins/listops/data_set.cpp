#include "data_set.h"

#include <algorithm>

#include "ablate/digest.h"

namespace ablate::listops {
namespace {

constexpr char kMagic[9] = "ablistop";
// Version of the layout, part of the digest. For a new layout, also raise kGeneratorVersion, which is part of the cache key.
constexpr std::uint64_t kVersion = 1;

}  // namespace

std::vector<std::uint8_t> to_bytes(const DataSet& data) {
  std::vector<std::uint8_t> bytes;
  const auto put = [&](const auto* column, std::size_t count) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(column);
    bytes.insert(bytes.end(), first, first + count * sizeof *column);
  };
  const auto& examples = data.examples;
  const std::uint64_t header[] = {kVersion, data.sizes[0], data.sizes[1], data.sizes[2], examples.packed().size()};
  put(kMagic, sizeof kMagic - 1);
  put(header, std::size(header));
  put(examples.lengths().data(), examples.lengths().size());
  put(examples.labels().data(), examples.labels().size());
  put(examples.packed().data(), examples.packed().size());
  return bytes;
}

DataSet from_bytes(std::span<const std::uint8_t> bytes) {
  const auto take = [&]<class T>(std::vector<T> column) {
    const auto own = bytes.first(column.size() * sizeof(T));
    std::ranges::copy(own, reinterpret_cast<std::uint8_t*>(column.data()));
    bytes = bytes.subspan(own.size());
    return column;
  };
  bytes = bytes.subspan(sizeof kMagic - 1);
  const auto header = take(std::vector<std::uint64_t>(5));
  const auto count = header[1] + header[2] + header[3];
  auto lengths = take(std::vector<std::uint32_t>(count));
  auto labels = take(std::vector<std::uint8_t>(count));
  return {Examples(std::move(lengths), std::move(labels), take(std::vector<std::uint8_t>(header[4]))),
          {header[1], header[2], header[3]}};
}

std::string digest(const DataSet& data) {
  const auto bytes = to_bytes(data);
  return Digest().add(bytes.data(), bytes.size()).hex();
}

}  // namespace ablate::listops
