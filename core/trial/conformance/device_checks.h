// The promise to run on CUDA devices: what a plugin computes there is what it computes on the CPU.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/trial/conformance/attention_subject.h"
#include "core/trial/conformance/check.h"

namespace ablate {

/// A result, on the CPU. The same call on another device gives as many, in the same order.
struct Computed {
  std::string what;  ///< "the output, padded"
  Tensor value;
};

using ComputeOn = std::function<std::vector<Computed>(c10::Device)>;

struct OtherDevice {
  std::optional<c10::Device> device;
  std::string why_not;  ///< why there is none
};

/// "cuda", the first one, or "cuda:N", started. In a process that computes nothing else: it takes over its CUDA.
OtherDevice find_cuda(const std::string& name = "cuda");

/// Outputs, states and gradients in float32 at each stand; padded and cross where promised.
std::vector<Computed> attention_on(const AttentionSubject& subject, c10::Device device);

/// Memories and reads, and their gradients, in float32: with and without padding, in evaluation and, where nothing is drawn, in
/// training (compression_device.cpp).
std::vector<Computed> compression_on(const Candidate& candidate, c10::Device device);

/// The check "cuda": the largest difference between the CPU's results and the other device's, relative to the largest number of
/// each result where that is above 1. Not run where there is no other device.
void check_device(const std::string& on, const ComputeOn& compute, const OtherDevice& other, Checks& checks);

}  // namespace ablate
