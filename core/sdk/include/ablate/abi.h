// ABI stamp of a plugin, which the host compares with its own before the plugin's code runs. Torch-free, C-compatible layout.
//
// A plugin holds the stamp twice: in the ELF section ".ablate.abi", which can be read without loading the file, and as the
// descriptor's first field. The host refuses a plugin if a compared field differs, and reports the field and both values.
#pragma once

#include <cstddef>
#include <cstdint>

// This number is increased whenever a header of this SDK changes the data that compiled plugins and the host exchange.
#define ABLATE_SDK_VERSION 10

// Torch's version, "2.11.0", from ablate_add_plugin. Plugins and the host exchange tensors, so both must use one version.
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
  std::uint32_t gxx_abi;          ///< __GXX_ABI_VERSION; reported, not compared, because GCC and Clang keep it compatible
  char torch_version[32];         ///< compared as a whole
  char compiler[64];              ///< reported, not compared
};

/// Code identity, in an ELF section of its own, ".ablate.code". ablate-identity writes it into the library after linking, so
/// that no source is compiled again. Both texts end with a zero byte.
struct CodeStamp {
  char identity[65];   ///< code part of a trial's key: 64 hex digits; empty: the hash of the library file is used
  char headers[4031];  ///< SDK headers that the sources include, each with a digest of its code: "ablate/plugin.h=HEX16 ..."
};

namespace detail {

template <std::size_t N>
constexpr void copy_text(char (&to)[N], const char* from) {
  for (std::size_t i = 0; i + 1 < N && from[i] != '\0'; ++i) to[i] = from[i];
}

}  // namespace detail

/// Returns the stamp of the code being compiled.
/// @param descriptor_size, parameter_size sizeof of the types of plugin.h
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
