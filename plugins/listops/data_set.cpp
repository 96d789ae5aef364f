#include "data_set.h"

#include <cstring>
#include <stdexcept>

#include "ablate/digest.h"

namespace ablate::listops {
namespace {

struct Header {
  char magic[8];
  std::uint64_t version;
  std::uint64_t sizes[3];
  std::uint64_t packed;
};

constexpr char kMagic[9] = "ablistop";
constexpr std::uint64_t kVersion = 1;

Header header_of(const DataSet& data) {
  Header header{{}, kVersion, {data.sizes[0], data.sizes[1], data.sizes[2]}, data.examples.packed().size()};
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  return header;
}

/// Calls visit(pointer, bytes) for each piece.
template <class Visit>
void for_each_piece(const DataSet& data, const Visit& visit) {
  const auto header = header_of(data);
  const auto& examples = data.examples;
  visit(&header, sizeof header);
  visit(examples.lengths().data(), examples.lengths().size() * sizeof examples.lengths()[0]);
  visit(examples.labels().data(), examples.labels().size());
  visit(examples.packed().data(), examples.packed().size());
}

template <class T>
std::vector<T> take(std::span<const std::uint8_t>& bytes, std::uint64_t count) {
  if (count > bytes.size() / sizeof(T)) throw std::runtime_error("listops: the kept data end before their header says");
  std::vector<T> column(count);
  if (count > 0) std::memcpy(column.data(), bytes.data(), count * sizeof(T));
  bytes = bytes.subspan(count * sizeof(T));
  return column;
}

}  // namespace

std::vector<std::uint8_t> to_bytes(const DataSet& data) {
  std::vector<std::uint8_t> bytes;
  for_each_piece(data, [&](const void* piece, std::size_t size) {
    bytes.resize(bytes.size() + size);
    if (size > 0) std::memcpy(bytes.data() + bytes.size() - size, piece, size);
  });
  return bytes;
}

DataSet from_bytes(std::span<const std::uint8_t> bytes) {
  const auto header = take<Header>(bytes, 1)[0];
  if (std::memcmp(header.magic, kMagic, sizeof header.magic) != 0 || header.version != kVersion)
    throw std::runtime_error("listops: the kept data are of another version");
  const auto count = header.sizes[0] + header.sizes[1] + header.sizes[2];
  auto lengths = take<std::uint32_t>(bytes, count);
  auto labels = take<std::uint8_t>(bytes, count);
  return {Examples(std::move(lengths), std::move(labels), take<std::uint8_t>(bytes, header.packed)),
          {header.sizes[0], header.sizes[1], header.sizes[2]}};
}

std::string digest(const DataSet& data) {
  Digest digest;
  for_each_piece(data, [&](const void* piece, std::size_t size) { digest.add(piece, size); });
  return digest.hex();
}

}  // namespace ablate::listops
