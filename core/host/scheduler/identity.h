// Computes a trial's key from its parts. Torch-free.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/host/study/study.h"
#include "core/records/identity.h"

namespace ablate {

/// @param files SHA-256 of each file, by the path of the setting that names it; in a key, the hash replaces the file's name
/// @param data_digest Task::digest
Identity identity_of(const TrialSpec& trial, const std::map<std::string, std::string>& files, const Catalog& catalog,
                     const std::string& data_digest, const std::string& torch_version);

/// Sets "kernels" of the basis to kKernelsVersion if a trial with these settings may run fused forms. Else removes "kernels".
void set_kernels(Identity& identity);

/// Returns paths of values that are the default in both identities, if the two defaults differ. Leaves out paths that are
/// missing in one identity, or whose value is unknown (Identity::values).
std::vector<std::string> changed_defaults(const Identity& now, const Identity& before);

/// Returns the differences of two identities in words: "the code of attention adamra", "train.steps (10, was 20)", "the data".
std::vector<std::string> differences(const Identity& now, const Identity& before);
/// Returns only the differences of the bases: code, data and versions.
std::vector<std::string> basis_differences(const Identity& now, const Identity& before);

}  // namespace ablate
