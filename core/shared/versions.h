// What changes the numbers of trials, or what the conformance suite finds, without a plugin's code changing.
#pragma once

namespace ablate {

/// Increased when training would give other numbers for the same study (model, optimiser, data order, metrics).
inline constexpr int kRuntimeVersion = 5;

/// Increased when a fused form of core/kernels would give other bits. Part of the keys of trials that may run them
/// (train.kernels = fused), and of no others.
inline constexpr int kKernelsVersion = 7;

/// Increased when the conformance suite would pass or fail other plugins, or an audit other data: what an earlier one has said
/// counts no longer.
inline constexpr int kSuiteVersion = 10;

/// Increased when a predictor of core/trial/floors would get another number on the same data, or there is another predictor:
/// floors of before count no longer.
inline constexpr int kFloorsVersion = 1;

}  // namespace ablate
