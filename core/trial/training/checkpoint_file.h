// A training on disk: a file from which another process goes on, whatever ended this one.
//
//   "ablate checkpoint 1\n", where 1 is the format's version
//   8 bytes: the size of what follows; JSON text for whoever looks: what it is of, when, where, how far
//   8 bytes: the size of what follows; CBOR: all numbers of the training, types and shapes of its tensors
//   the tensors' bytes, row-major, one behind the other
//   32 bytes: SHA-256 of all before them
// Numbers are little-endian.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/trial/training/training.h"

namespace ablate {

/// {"settings", "basis": as core/records/identity.h has them, "environment", "environments": those of all its steps, the latest
/// first, "processor", "torch", "step", "spent": {"wall_s", "cpu_s", "peak_resident_bytes"}}. What is read may have more, and
/// of an earlier version no environments.
using AboutCheckpoint = nlohmann::json;

/// Writes it whole or not at all, with its folder, and waits for the disk. Throws Error: it cannot be written.
void write_checkpoint(const std::filesystem::path& file, const AboutCheckpoint& about, const TrainingState& state);

struct ReadCheckpoint {
  AboutCheckpoint about;
  TrainingState state;
};

/// Reads it whole, and believes nothing of it before its sum is right. Throws Error, which says which file, what was found and
/// what was expected: damaged, of another version of the format, of another trial, code, data, or versions.
/// @param expected its "settings" and "basis" have to be these
ReadCheckpoint read_checkpoint(const std::filesystem::path& file, const AboutCheckpoint& expected);

}  // namespace ablate
