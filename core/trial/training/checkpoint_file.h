// Checkpoint of a training: a file from which another process resumes, even if the process that wrote it was killed.
//
//   "ablate checkpoint 1\n", where 1 is the format's version
//   8 bytes: size of the next part; JSON text for people: the trial, its environment and its progress
//   8 bytes: size of the next part; CBOR: all numbers of the training, types and shapes of its tensors
//   the tensors' bytes, row-major, one tensor after the other
//   32 bytes: SHA-256 of all bytes before
// Numbers are little-endian.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/trial/training/training.h"

namespace ablate {

/// {"settings", "basis": as in core/records/identity.h, "environment", "environments": of all steps, the latest first,
/// "processor", "torch", "step", "spent": {"wall_s", "cpu_s", "peak_resident_bytes"}}. A file may have more keys, and a file of
/// an earlier ablate has no "environments".
using AboutCheckpoint = nlohmann::json;

/// Writes the file whole or not at all, with its folder, and waits for the disk. Throws Error if it cannot be written.
void write_checkpoint(const std::filesystem::path& file, const AboutCheckpoint& about, const TrainingState& state);

struct ReadCheckpoint {
  AboutCheckpoint about;
  TrainingState state;
};

/// Reads the whole file, and checks its SHA-256 before anything is parsed. Throws Error with the file, what was found and what
/// was expected if the file is damaged or has another format version, or if its settings or any part of its basis differ.
/// @param expected "settings" and "basis" that the file must have
ReadCheckpoint read_checkpoint(const std::filesystem::path& file, const AboutCheckpoint& expected);

}  // namespace ablate
