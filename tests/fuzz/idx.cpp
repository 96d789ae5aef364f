// Pictures and labels in the idx format. The first two bytes choose where the pictures end and the labels begin.
#include "plugins/image/idx.h"

#include "ablate/input_file.h"
#include "tests/fuzz/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto cut = 2 + (std::size_t{data[0]} * 256 + data[1]) % (size - 1);
  const ablate::fuzz::File images(data + 2, cut - 2), labels(data + cut, size - cut);
  try {
    ablate::image::read_idx(images.path(), labels.path());
  } catch (const ablate::FileError&) {
  }
  return 0;
}
