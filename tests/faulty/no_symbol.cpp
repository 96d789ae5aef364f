// A library with the ABI section, but without a descriptor.
#include "ablate/plugin.h"

extern "C" __attribute__((section(".ablate.abi"), used, visibility("default"))) const ablate::AbiStamp ablate_abi =
    ablate::abi_stamp();
