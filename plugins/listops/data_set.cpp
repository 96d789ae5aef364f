#include "data_set.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>

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

class Hash {
 public:
  Hash() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) { check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }
  void add(const void* data, std::size_t bytes) { check(EVP_DigestUpdate(context_.get(), data, bytes)); }
  Checksum end() {
    Checksum sum;
    check(EVP_DigestFinal_ex(context_.get(), sum.data(), nullptr));
    return sum;
  }

 private:
  static void check(int done) {
    if (done != 1) throw std::runtime_error("listops: libcrypto failed to compute a SHA-256");
  }
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

/// Calls visit(pointer, bytes) for each piece of the file before its checksum.
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
std::vector<T> read_column(std::ifstream& file, std::uint64_t count) {
  std::vector<T> column(count);
  file.read(reinterpret_cast<char*>(column.data()), static_cast<std::streamsize>(count * sizeof(T)));
  return column;
}

}  // namespace

Checksum checksum(const DataSet& data) {
  Hash hash;
  for_each_piece(data, [&](const void* piece, std::size_t bytes) { hash.add(piece, bytes); });
  return hash.end();
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const auto byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string sha256(std::string_view text) {
  Hash hash;
  hash.add(text.data(), text.size());
  return to_hex(hash.end());
}

void write_cache(const std::filesystem::path& path, const DataSet& data, const Checksum& sum) {
  auto temporary = path;
  temporary += "." + std::to_string(getpid()) + ".tmp";
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  for_each_piece(data, [&](const void* piece, std::size_t bytes) {
    file.write(static_cast<const char*>(piece), static_cast<std::streamsize>(bytes));
  });
  file.write(reinterpret_cast<const char*>(sum.data()), sum.size());
  file.close();
  if (!file) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw std::runtime_error("cannot write " + temporary.string() + ": " + std::strerror(errno));
  }
  std::filesystem::rename(temporary, path);
}

Cached read_cache(const std::filesystem::path& path) {
  Cached result{};
  if (!std::filesystem::is_regular_file(path)) {  // another may have no end
    result.fault = "it is not a regular file";
    return result;
  }
  std::ifstream file(path, std::ios::binary);
  Header header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || std::memcmp(header.magic, kMagic, sizeof header.magic) != 0 || header.version != kVersion) {
    result.fault = "it is no cache file of this version";
    return result;
  }
  const auto bytes = std::filesystem::file_size(path);
  // Each number alone is compared first, so that a sum of damaged ones cannot wrap around; then nothing is allocated that
  // the file does not hold.
  std::uint64_t count = 0;
  bool fits = header.packed <= bytes;
  for (const auto size : header.sizes) {
    fits = fits && size <= bytes;
    count += fits ? size : 0;
  }
  const auto expected = sizeof header + count * 5 + header.packed + sizeof(Checksum);
  if (!fits || bytes != expected) {
    result.fault = "its size, " + std::to_string(bytes) + " bytes, is not what its header says";
    return result;
  }
  auto lengths = read_column<std::uint32_t>(file, count);
  auto labels = read_column<std::uint8_t>(file, count);
  auto packed = read_column<std::uint8_t>(file, header.packed);
  Checksum stored{};
  file.read(reinterpret_cast<char*>(stored.data()), stored.size());
  try {
    result.data = {Examples(std::move(lengths), std::move(labels), std::move(packed)),
                   {header.sizes[0], header.sizes[1], header.sizes[2]}};
    result.sum = checksum(result.data);
    if (!file || result.sum != stored) result.fault = "its content does not agree with its checksum";
  } catch (const std::invalid_argument& error) {
    result.fault = error.what();
  }
  return result;
}

}  // namespace ablate::listops
