#include "core/util/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "core/util/error.h"

namespace ablate {
namespace {

class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) throw Error("OpenSSL has no SHA-256");
  }
  void add(const void* data, std::size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < size; ++i) text += {digits[digest[i] >> 4], digits[digest[i] & 15]};
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256(std::string_view data) {
  Hasher hasher;
  hasher.add(data.data(), data.size());
  return hasher.hex();
}

std::string sha256_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot read " + path.string() + ": " + std::strerror(errno));
  Hasher hasher;
  std::vector<char> buffer(1 << 16);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hasher.add(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) throw Error("cannot read " + path.string());
  return hasher.hex();
}

}  // namespace ablate
