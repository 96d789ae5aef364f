#include "core/util/sha256.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "ablate/digest.h"
#include "core/util/error.h"

namespace ablate {

std::string sha256(std::string_view data) { return Digest().add(data.data(), data.size()).hex(); }

std::string sha256_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot read " + path.string() + ": " + std::strerror(errno));
  Digest digest;
  std::vector<char> buffer(1 << 16);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    digest.add(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) throw Error("cannot read " + path.string());
  return digest.hex();
}

}  // namespace ablate
