// The check before loading: reads a library's ABI stamp from its ELF section, without running a line of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "ablate/plugin.h"

namespace ablate {

inline constexpr std::uintmax_t kMostLibraryBytes = std::uintmax_t{4} << 30;  ///< what is larger is no plugin, and long to hash

/// Why a library cannot be loaded by this host ("SDK version 2, expected 1: rebuild it with this host's SDK"), or "" where
/// nothing speaks against it. Never throws: what cannot be read is a reason too.
/// @param torch_version the host's torch, "2.11.0"
std::string abi_refusal(const std::filesystem::path& library, const std::string& torch_version);

/// The identity of a library's code as its ELF section has it (CodeStamp); "" where it has none, or cannot be read.
std::string code_identity_in(const std::filesystem::path& library);

/// This host's own headers that it shares with plugins, as a library's CodeStamp::headers lists those that it was built with.
extern const char* const kContract;

/// Compares two such lists: a header that stands in both has to be the same code, comments aside; "" where it is. The stamp's
/// SDK version says what is meant to change; this sees what was forgotten: a virtual function more, and a plugin would call the
/// wrong one.
std::string contract_difference(std::string_view found, std::string_view expected);

/// Compares two stamps; "" where they agree.
std::string abi_difference(const AbiStamp& found, const AbiStamp& expected);

/// What a stamp has to be. @param torch_version the host's torch, "2.11.0"
AbiStamp host_stamp(const std::string& torch_version);

}  // namespace ablate
