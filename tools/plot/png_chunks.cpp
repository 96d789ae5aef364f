#include "tools/plot/png_chunks.h"

#include <zlib.h>

#include <cmath>
#include <cstdint>

namespace ablate {
namespace {

/// Signature, and the chunk IHDR, which comes first: length, name, 13 bytes, checksum.
constexpr std::size_t kHead = 8 + 4 + 4 + 13 + 4;

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 255);
  return bytes;
}

std::string chunk(const std::string& name, const std::string& content) {
  const auto checked = name + content;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return big_endian(static_cast<std::uint32_t>(content.size())) + checked + big_endian(static_cast<std::uint32_t>(sum));
}

}  // namespace

std::string with_chunks(const std::string& png, double dots_per_inch, const std::string& software, const std::string& title) {
  const auto per_metre = big_endian(static_cast<std::uint32_t>(std::lround(dots_per_inch / 0.0254)));
  const std::string nothing(1, '\0'), metres(1, '\1');
  // After the keyword of iTXt: not compressed, no method, no language, no translated keyword; then UTF-8.
  const auto more = chunk("pHYs", per_metre + per_metre + metres) + chunk("tEXt", "Software" + nothing + software) +
                    chunk("iTXt", "Title" + nothing + nothing + nothing + nothing + nothing + title);
  return png.substr(0, kHead) + more + png.substr(kHead);
}

}  // namespace ablate
