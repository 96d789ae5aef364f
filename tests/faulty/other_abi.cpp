// A library with the ABI stamp of another host: CHANGE is one statement that changes `stamp`. None of the library's
// code may run.
#include "ablate/plugin.h"

namespace {
constexpr ablate::AbiStamp other() {
  auto stamp = ablate::abi_stamp();
  CHANGE;
  return stamp;
}
}  // namespace

extern "C" __attribute__((section(".ablate.abi"), used, visibility("default"))) const ablate::AbiStamp ablate_abi = other();
extern "C" __attribute__((visibility("default"))) const ablate::Descriptor* ablate_plugin() { __builtin_trap(); }
