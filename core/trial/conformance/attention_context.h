// The checks of what an attention promises about its context: padding, the future, cross-attention.
#pragma once

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

// Each returns an error as Checks::Measure does, or throws std::runtime_error saying what is wrong.

/// No output depends on a later input: by gradients, and by the outputs where later tokens are others (a detached statistic, a
/// sort). Over a few blocks, and with a memory in front where one is carried.
double causal(const AttentionSubject& subject);
/// Some output depends on a later input.
double bidirectional(const AttentionSubject& subject);
/// Padded against cut to its length, item by item, at each stand; cross as well where promised.
double padding(const AttentionSubject& subject);
/// NaN and infinity under the mask against ordinary numbers there: outputs, and gradients in everything.
double poison(const AttentionSubject& subject);
/// Nothing to attend to: 0 before the output projection, so the bias of the layer called "output", where there is one.
double empty(const AttentionSubject& subject);
/// One instance may be used as self- and as cross-attention: a copy of the tokens as the context changes nothing.
double cross(const AttentionSubject& subject);
/// Where queries and context are two sequences, queries under their own mask change no output of the others.
double query_mask(const AttentionSubject& subject);
/// Tokens under a mask anywhere are as good as absent: what stands there changes nothing, and where constants are promised to
/// stay what they are they are not counted.
double holes(const AttentionSubject& subject);
/// What is not promised is refused, or not done: a stand, a state, a length that does not fit.
double refused(const AttentionSubject& subject);

}  // namespace ablate::conformance
