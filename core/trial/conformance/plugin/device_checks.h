// The promise to run on CUDA devices: what a plugin computes there is what it computes on the CPU.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/trial/conformance/engine/candidate.h"
#include "core/trial/conformance/engine/finding.h"

namespace ablate {

/// Results on a device. Those of another one are as many, in the same order.
using ComputeOn = std::function<std::vector<Named>(c10::Device)>;

struct OtherDevice {
  std::optional<c10::Device> device;
  std::string why_not;  ///< why there is none
};

/// "cuda", the first one, or "cuda:N", started. In a process that computes nothing else: it takes over its CUDA.
OtherDevice find_cuda(const std::string& name = "cuda");

/// Outputs, states and gradients in float32 at each stand; padded and cross where promised. Computed on the candidate's device.
std::vector<Named> attention_results(const Candidate& candidate);

/// Memories and reads, and their gradients, in float32: with and without padding, in evaluation and, where nothing is drawn, in
/// training.
std::vector<Named> compression_results(const Candidate& candidate);

/// The check "cuda" of a candidate that promises it: on its own device or, where that is the CPU, on the first GPU.
void check_cuda(const Candidate& candidate, Checks& checks);

/// The largest difference between the CPU's results and the other device's, relative to the largest number of each result where
/// that is above 1. Not run where there is no other device.
void check_device(const std::string& on, const ComputeOn& compute, const OtherDevice& other, Checks& checks);

}  // namespace ablate
