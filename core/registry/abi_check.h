// Check before loading: reads a library's ABI stamp from its ELF section and runs none of the library's code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "ablate/plugin.h"

namespace ablate {

inline constexpr std::uintmax_t kMostLibraryBytes = std::uintmax_t{4} << 30;  ///< a larger file is no plugin

/// Returns why this host cannot load a library ("SDK version 2, expected 1: rebuild it with this host's SDK"), or "" if it can.
/// Never throws: a file that cannot be read is refused, too.
/// @param torch_version the host's torch, "2.11.0"
std::string abi_refusal(const std::filesystem::path& library, const std::string& torch_version);

/// Returns the identity of a library's code from its ELF section (CodeStamp); "" if the library has none or cannot be read.
std::string code_identity_in(const std::filesystem::path& library);

/// Headers that this host shares with plugins, in the form of CodeStamp::headers, which lists the headers of a library.
extern const char* const kContract;

/// Compares two lists of headers. A header in both must have the same code, comments aside. Returns the difference, or "".
/// The stamp's SDK version covers intended changes. This check finds changes without a new version: after a new virtual
/// function, an old plugin would call the wrong function.
std::string contract_difference(std::string_view found, std::string_view expected);

/// Compares two stamps; returns "" if they agree.
std::string abi_difference(const AbiStamp& found, const AbiStamp& expected);

/// Returns the stamp that this host expects, with its torch's version, "2.11.0".
AbiStamp host_stamp(const std::string& torch_version);

}  // namespace ablate
