// ELF sections of plugin libraries, as read before loading.
#include "core/registry/abi_check.h"
#include "tests/fuzz/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ablate::fuzz::File file(data, size);
  ablate::abi_refusal(file.path(), "2.11.0");
  ablate::code_identity_in(file.path());
  const auto middle = size / 2;
  const auto* const text = reinterpret_cast<const char*>(data);
  ablate::contract_difference({text, middle}, {text + middle, size - middle});
  return 0;
}
