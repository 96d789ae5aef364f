// Archives of data: zip, and tar, plain or compressed. The first byte selects the format and whether entries are archives.
#include "ablate/archive.h"

#include "tests/fuzz/file.h"

namespace {

void read(ablate::Archive& archive, bool inner) {
  std::uint8_t bytes[4096];
  while (archive.next()) {
    if (inner) {
      ablate::Archive within(archive);
      read(within, false);
    }
    while (archive.read(bytes) == sizeof(bytes)) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const ablate::fuzz::File file(data + 1, size - 1);
  try {
    ablate::Archive archive(file.path(), (data[0] & 1) != 0 ? ablate::Packing::kTar : ablate::Packing::kZip);
    read(archive, (data[0] & 2) != 0);
  } catch (const ablate::FileError&) {
  }
  return 0;
}
