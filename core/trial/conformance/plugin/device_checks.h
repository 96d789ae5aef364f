// The promise to run on CUDA devices: a plugin computes the same there as on the CPU.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/trial/conformance/engine/candidate.h"
#include "core/trial/conformance/engine/finding.h"

namespace ablate {

/// Returns the results on a device. All devices return the same number of results, in the same order.
using ComputeOn = std::function<std::vector<Named>(c10::Device)>;

struct OtherDevice {
  std::optional<c10::Device> device;
  std::string why_not;  ///< reason why there is no device
};

/// Opens "cuda", the first device, or "cuda:N". Starts CUDA in this process, which must therefore compute nothing else.
OtherDevice find_cuda(const std::string& name = "cuda");

/// Returns outputs, states and gradients in float32 at each place. Adds padding and cross-attention if they are promised.
std::vector<Named> attention_results(const Candidate& candidate);

/// Returns memories, reads and gradients in float32, padded and unpadded, in evaluation and training. Skips passes that draw.
std::vector<Named> compression_results(const Candidate& candidate);

/// Runs the check "cuda" if the candidate promises CUDA: on the candidate's device, or on the first GPU if that is the CPU.
void check_cuda(const Candidate& candidate, Checks& checks);

/// Checks the largest difference between the results on the CPU and on the other device. This difference is relative to the
/// largest number of each result if that is above 1. Unchecked if there is no other device.
void check_device(const std::string& on, const ComputeOn& compute, const OtherDevice& other, Checks& checks);

}  // namespace ablate
