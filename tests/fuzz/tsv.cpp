// Pairs of documents separated by tabs, plain and gzipped.
#include "ablate/input_file.h"
#include "plugins/retrieval/pairs.h"
#include "tests/fuzz/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ablate::fuzz::File file(data, size);
  ablate::retrieval::Texts texts;
  try {
    ablate::retrieval::read_pairs(file.path(), 100, texts);
  } catch (const ablate::FileError&) {
  }
  return 0;
}
