// Built with another version of the SDK.
#include "ablate/abi.h"
#undef ABLATE_SDK_VERSION
#define ABLATE_SDK_VERSION 999
#include "trivial_task.h"

namespace {
constexpr ablate::AbiStamp other() {
  auto stamp = ablate::abi_stamp();
  stamp.sdk_version = ABLATE_SDK_VERSION;
  return stamp;
}
}  // namespace

extern "C" __attribute__((section(".ablate.abi"), used, visibility("default"))) const ablate::AbiStamp ablate_abi = other();
extern "C" __attribute__((visibility("default"))) const ablate::Descriptor* ablate_plugin() { __builtin_trap(); }
