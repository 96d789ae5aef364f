// What a trial's key is made of. Torch-free.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/host/study/study.h"
#include "core/records/identity.h"

namespace ablate {

/// @param files SHA-256 of the files that values name, by path: in a key a file is its content
/// @param data_digest Task::digest
Identity identity_of(const TrialSpec& trial, const std::map<std::string, std::string>& files, const Catalog& catalog,
                     const std::string& data_digest, const std::string& torch_version);

/// "kernels" of its basis: kKernelsVersion where a trial of its settings may run fused forms, else none.
void set_kernels(Identity& identity);

/// Paths of values that are the default in both, where the two defaults differ. Paths that one of them lacks, or of which
/// nothing is known (Identity::values), are left out.
std::vector<std::string> changed_defaults(const Identity& now, const Identity& before);

/// What tells two of them apart, each in words: "the code of attention adamra", "train.steps (10, was 20)", "the data".
std::vector<std::string> differences(const Identity& now, const Identity& before);
/// Of these the ones that the bases tell: of code, data and versions.
std::vector<std::string> basis_differences(const Identity& now, const Identity& before);

}  // namespace ablate
