// Studies in TOML: each text is resolved, or refused with the position of the error.
#include "core/host/study/study.h"

#include "tests/fuzz/file.h"
#include "tests/host/studies.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto catalog = studies::catalog();
  const ablate::fuzz::File file(data, size);
  try {
    ablate::load_study(file.path(), {}, catalog);
  } catch (const ablate::ConfigError& error) {
    if (error.diagnostics().empty()) std::abort();  // an error without a reason
  }
  return 0;
}
