// Checks of a compression, one function each. Each check reports to its Finding, or throws std::runtime_error with the fault.
// docs/checks.md describes the requirement of each check.
#pragma once

#include "core/trial/conformance/compression/subject.h"

namespace ablate::conformance {

using CompressionLook = void(const CompressionSubject& subject, Finding& finding);

CompressionLook rates, slots, fixed_slots, projected, beside, looks;                            // compression/slots.cpp
CompressionLook padding, padding_of_many, poison, empty_items, buffers, query_mask, two_masks;  // compression/padding.cpp
CompressionLook batch, batch_of_many, additive, calls, no_queries, inputs;                      // compression/batch.cpp
CompressionLook seed, save, instances, frozen, step, threads, kept, training;                   // compression/instances.cpp
CompressionLook gradient, trained, reach, auxiliary;                                            // compression/gradients.cpp
CompressionLook scale, type, forms, half;                                                       // compression/types.cpp
CompressionLook constants, constants_of_many, mass, lossless, means;                            // compression/mass.cpp
CompressionLook causal_reads, causal_places, last;                                              // compression/causal.cpp
CompressionLook extends, extends_beyond, batch_of_held, log_scale;                              // compression/extends.cpp

void padding(const CompressionSubject& subject, Finding& finding, const CompressionSetting& setting,
             const std::vector<std::int64_t>& lengths);

}  // namespace ablate::conformance
