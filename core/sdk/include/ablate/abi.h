// What a plugin library and the host must agree on before one line of the plugin runs. Torch-free, C-compatible layout.
//
// The stamp stands twice in a plugin: in the ELF section ".ablate.abi", which the host reads without loading the file, and as
// the first field of the descriptor. A field that differs is a refusal that names it, what was found and what was expected.
#pragma once

#include <cstddef>
#include <cstdint>

// Increased whenever a header of this SDK changes what compiled plugins and host exchange.
#define ABLATE_SDK_VERSION 10

// Plugins and host exchange torch tensors, so both sides must use one torch. ablate_add_plugin defines it, "2.11.0" for
// example.
#ifndef ABLATE_TORCH_VERSION
#define ABLATE_TORCH_VERSION "unknown"
#endif

#if defined(_GLIBCXX_USE_CXX11_ABI)
#define ABLATE_CXX11_ABI _GLIBCXX_USE_CXX11_ABI
#else
#define ABLATE_CXX11_ABI 1
#endif

namespace ablate {

struct AbiStamp {
  char magic[8];                  ///< "ABLATE" and two zero bytes
  std::uint32_t sdk_version;      ///< ABLATE_SDK_VERSION
  std::uint32_t stamp_size;       ///< sizeof(AbiStamp)
  std::uint32_t descriptor_size;  ///< sizeof(Descriptor)
  std::uint32_t parameter_size;   ///< sizeof(Parameter)
  std::uint32_t cxx11_abi;        ///< 1: std::string and std::list as of C++11
  std::uint32_t gxx_abi;          ///< __GXX_ABI_VERSION; told, not compared: GCC and Clang keep it compatible
  char torch_version[32];         ///< compared whole
  char compiler[64];              ///< told, not compared
};

/// What ablate-identity writes into a library after it is linked, so that no source is compiled again for it: an ELF section of
/// its own, ".ablate.code". Texts with a zero after them.
struct CodeStamp {
  char identity[65];   ///< what a trial's key says of the code: 64 hex digits. Empty: the library file's own hash serves.
  char headers[4031];  ///< the SDK's headers that were read, each with a digest of its code: "ablate/plugin.h=HEX16 ..."
};

namespace detail {

template <std::size_t N>
constexpr void copy_text(char (&to)[N], const char* from) {
  for (std::size_t i = 0; i + 1 < N && from[i] != '\0'; ++i) to[i] = from[i];
}

}  // namespace detail

/// The stamp of the code being compiled. @param descriptor_size, parameter_size: sizeof of the types of plugin.h.
constexpr AbiStamp make_abi_stamp(std::uint32_t descriptor_size, std::uint32_t parameter_size) {
  AbiStamp stamp{};
  detail::copy_text(stamp.magic, "ABLATE");
  stamp.sdk_version = ABLATE_SDK_VERSION;
  stamp.stamp_size = sizeof(AbiStamp);
  stamp.descriptor_size = descriptor_size;
  stamp.parameter_size = parameter_size;
  stamp.cxx11_abi = ABLATE_CXX11_ABI;
  stamp.gxx_abi = __GXX_ABI_VERSION;
  detail::copy_text(stamp.torch_version, ABLATE_TORCH_VERSION);
  detail::copy_text(stamp.compiler, __VERSION__);
  return stamp;
}

}  // namespace ablate
