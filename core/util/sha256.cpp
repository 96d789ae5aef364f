#include "core/util/sha256.h"

#include <vector>

#include "ablate/digest.h"
#include "core/util/bytes_text.h"
#include "core/util/error.h"
#include "core/util/regular_file.h"

namespace ablate {

std::string sha256(std::string_view data) { return Digest().add(data.data(), data.size()).hex(); }

std::string sha256_file(const std::filesystem::path& path, std::uintmax_t most, void (*between)()) {
  RegularFile file(path);
  if (file.size() > most)
    throw Error("cannot read " + path.string() + ": it has " + bytes_text(file.size()) + ", expected at most " +
                bytes_text(most));
  Digest digest;
  std::vector<char> buffer(1 << 16);
  while (const auto n = file.read(buffer.data(), buffer.size())) {
    if (between != nullptr) between();
    digest.add(buffer.data(), n);
  }
  return digest.hex();
}

}  // namespace ablate
