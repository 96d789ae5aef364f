// Versions of code that can change the numbers of trials, or the conformance suite's findings, without a change of a plugin.
#pragma once

namespace ablate {

/// Increased if training gives other numbers for the same study (model, optimiser, data order, metrics).
inline constexpr int kRuntimeVersion = 5;

/// Increased if a fused form of core/kernels gives other bits. Part of a trial's key only if the trial may run fused forms
/// (train.kernels = fused).
inline constexpr int kKernelsVersion = 7;

/// Increased if the conformance suite passes or fails other plugins, or an audit finds something else. Earlier verdicts and
/// audits then no longer count.
inline constexpr int kSuiteVersion = 10;

/// Increased if a predictor of core/trial/floors gets another number on the same data, or if a predictor is added. Earlier
/// floors then no longer count.
inline constexpr int kFloorsVersion = 1;

}  // namespace ablate
