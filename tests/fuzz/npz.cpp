// Pictures in npz files.
#include "plugins/image/npz.h"

#include "ablate/input_file.h"
#include "tests/fuzz/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ablate::fuzz::File file(data, size);
  const std::filesystem::path files[] = {file.path()};
  try {
    ablate::image::read_npz(files, 1);
  } catch (const ablate::FileError&) {
  }
  return 0;
}
